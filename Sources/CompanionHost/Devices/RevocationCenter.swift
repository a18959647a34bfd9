package import FoundationEssentials
import NIOConcurrencyHelpers

/// The reason for which a device's streams and turns are not served any more.
package enum AccessEnd: Sendable, Hashable {
    /// The device was revoked or disconnected, or has paired again.
    case ended
    /// The time that the device was let in for is over.
    case deviceExpired
    /// The session is over. The device may have another, and its turns go on.
    case sessionOver
}

/// Notifies everything that serves a device when it has to stop: the device was revoked or disconnected, or its time
/// is over.
package final class RevocationCenter: Sendable {
    private struct Watcher: Sendable {
        var device: String
        var end: @Sendable () -> Void
    }

    private struct State {
        /// How often the accesses of a device were ended.
        var epochs: [String: UInt64] = [:]
        var watchers: [UInt64: Watcher] = [:]
        var nextWatcher: UInt64 = 0
        /// How many streams to devices are open.
        var streams = 0
    }

    private let clock: HostClock
    private let state = NIOLockedValueBox(State())

    package init(clock: HostClock) {
        self.clock = clock
    }

    /// The device's present access, for ``AuthenticatedDevice/epoch``.
    package func epoch(of deviceID: String) -> UInt64 {
        state.withLockedValue { $0.epochs[deviceID] ?? 0 }
    }

    /// Ends every access that a device has at this moment.
    package func end(_ deviceID: String) {
        let ended = state.withLockedValue { state in
            state.epochs[deviceID, default: 0] += 1
            let ended = state.watchers.filter { $0.value.device == deviceID }
            for number in ended.keys { state.watchers[number] = nil }
            return ended.values.map(\.end)
        }
        for end in ended { end() }
    }

    /// Whether a device follows events or a turn at this moment.
    var hasStreams: Bool { state.withLockedValue { $0.streams > 0 } }

    /// Returns as soon as an access has ended (at once when it ended since it was authenticated), or when the task is
    /// cancelled.
    ///
    /// - Returns: Why it has ended; nil when the task was cancelled.
    package func wait(for device: AuthenticatedDevice) async -> AccessEnd? {
        state.withLockedValue { $0.streams += 1 }
        defer { state.withLockedValue { $0.streams -= 1 } }
        let ends = [(device.expiresAt, AccessEnd.deviceExpired), (device.sessionEnd, .sessionOver)]
        let first = ends.compactMap { time, end in time.map { (time: $0, end: end) } }.min { $0.time < $1.time }
        let isEnded = await waitForEnd(of: device.id, since: device.epoch, until: first?.time)
        guard !Task.isCancelled else { return nil }
        return isEnded ? .ended : first?.end
    }

    /// Returns when a device's accesses have been ended since an epoch, when a time has come, or when the task is
    /// cancelled.
    ///
    /// - Parameter time: nil waits for the first alone.
    /// - Returns: Whether they have been ended.
    @discardableResult
    package func waitForEnd(of deviceID: String, since epoch: UInt64, until time: Date?) async -> Bool {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.waitForEnd(of: deviceID, since: epoch) }
            if let time {
                group.addTask { [clock] in try? await clock.sleepUntil(time) }
            }
            await group.next()
            group.cancelAll()
        }
        return self.epoch(of: deviceID) != epoch
    }

    private func waitForEnd(of deviceID: String, since epoch: UInt64) async {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let number = state.withLockedValue { state -> UInt64? in
            guard (state.epochs[deviceID] ?? 0) == epoch else { return nil }
            state.nextWatcher += 1
            state.watchers[state.nextWatcher] = Watcher(device: deviceID) { end.finish() }
            return state.nextWatcher
        }
        guard let number else { return }
        for await _ in ends {}
        state.withLockedValue { _ = $0.watchers.removeValue(forKey: number) }
    }
}
