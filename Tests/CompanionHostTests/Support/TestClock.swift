import CompanionHost
import FoundationEssentials
import NIOConcurrencyHelpers

/// A time of day that moves when it is told to.
final class TestClock: Sendable {
    private struct Sleeper {
        var deadline: Date
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Date(timeIntervalSince1970: 1_800_000_000.123)
        var sleepers: [UUID: Sleeper] = [:]
    }

    private let state = NIOLockedValueBox(State())

    var now: Date { state.withLockedValue { $0.now } }

    var hostClock: HostClock {
        HostClock(now: { self.now }, sleepUntil: { try await self.wait(until: $0) })
    }

    func advance(by seconds: TimeInterval) {
        let due = state.withLockedValue { state in
            state.now += seconds
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }

    private func wait(until deadline: Date) async throws {
        let id = UUID()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isOver = state.withLockedValue { state in
                    guard state.now < deadline, !Task.isCancelled else { return true }
                    state.sleepers[id] = Sleeper(deadline: deadline, continuation: continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let sleeper = state.withLockedValue { $0.sleepers.removeValue(forKey: id) }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }
}
