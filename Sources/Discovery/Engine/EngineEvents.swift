import DequeModule
import NIOConcurrencyHelpers

/// The events of one connection. What an instance resolves to goes ahead of all else that waits: a new resolver costs
/// the engine a round trip, and whoever wants one host shall not wait for those of others.
///
/// It has one reader.
struct EngineEvents: AsyncSequence, Sendable {
    typealias Element = EngineEvent
    typealias Failure = Never

    private struct Queue {
        var answers: Deque<EngineEvent> = []
        var others: Deque<EngineEvent> = []
    }

    private let queue = NIOLockedValueBox(Queue())
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    init() {
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Never calls the reader.
    func send(_ event: EngineEvent) {
        queue.withLockedValue { queue in
            switch event {
            case .resolved, .answered, .resolveFailed: queue.answers.append(event)
            default: queue.others.append(event)
            }
        }
        wake.yield()
    }

    /// Ends them, after those that wait.
    func finish() {
        wake.finish()
    }

    private func popFirst() -> EngineEvent? {
        queue.withLockedValue { $0.answers.popFirst() ?? $0.others.popFirst() }
    }

    func makeAsyncIterator() -> Iterator {
        Iterator(events: self, wakes: wakes.makeAsyncIterator())
    }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let events: EngineEvents
        fileprivate var wakes: AsyncStream<Void>.Iterator

        mutating func next() async -> EngineEvent? {
            await next(isolation: nil)
        }

        mutating func next(isolation actor: isolated (any Actor)?) async -> EngineEvent? {
            while !Task.isCancelled {
                if let event = events.popFirst() { return event }
                guard await wakes.next(isolation: actor) != nil else { break }
            }
            // After the end comes what waits; whoever is cancelled wants no more.
            return Task.isCancelled ? nil : events.popFirst()
        }
    }
}
