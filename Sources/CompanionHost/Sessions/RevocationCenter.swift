import FoundationEssentials
import NIOConcurrencyHelpers

/// Tells whoever serves a device that it is to stop: the device was revoked, disconnected, or its time is over.
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

    /// Returns as soon as a device's access has ended (at once when it ended since it was authenticated), or when the
    /// task is cancelled.
    package func wait(for device: AuthenticatedDevice) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.waitForEnd(of: device) }
            if let end = device.expiresAt {
                group.addTask { [clock] in try? await clock.sleepUntil(end) }
            }
            await group.next()
            group.cancelAll()
        }
    }

    private func waitForEnd(of device: AuthenticatedDevice) async {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let number = state.withLockedValue { state -> UInt64? in
            guard (state.epochs[device.id] ?? 0) == device.epoch else { return nil }
            state.nextWatcher += 1
            state.watchers[state.nextWatcher] = Watcher(device: device.id) { end.finish() }
            return state.nextWatcher
        }
        guard let number else { return }
        for await _ in ends {}
        state.withLockedValue { _ = $0.watchers.removeValue(forKey: number) }
    }
}
