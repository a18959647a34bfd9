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
                // As real clocks do: whoever is cancelled already is told so, or would wait again and again.
                let outcome: Result<Void, any Error>? = state.withLockedValue { state in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    guard state.now < deadline else { return .success(()) }
                    state.sleepers[id] = Sleeper(deadline: deadline, continuation: continuation)
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let sleeper = state.withLockedValue { $0.sleepers.removeValue(forKey: id) }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }
}
