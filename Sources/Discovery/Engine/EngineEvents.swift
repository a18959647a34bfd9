import DequeModule
import NIOConcurrencyHelpers

/// The events of one connection. Resolved instances overtake other waiting events: a new resolver costs the engine a
/// round trip, and a caller that wants one host should not wait for the resolvers of others.
///
/// It has one reader.
struct EngineEvents: AsyncSequence, Sendable {
    typealias Element = EngineEvent
    typealias Failure = Never

    private struct Queue {
        /// Where so many others wait, an answer has its place behind them: in a crowd, resolvers that begin late cost more
        /// than answers that are seen late.
        private static let crowd = 32

        private var answers: Deque<EngineEvent> = []
        private var others: Deque<EngineEvent> = []
        /// The answers among the others. No later one may overtake them.
        private var answersAmongOthers = 0

        mutating func append(_ event: EngineEvent) {
            if event.isAnswer, answersAmongOthers == 0, others.count < Self.crowd { return answers.append(event) }
            if event.isAnswer { answersAmongOthers += 1 }
            others.append(event)
        }

        mutating func popFirst() -> EngineEvent? {
            if let answer = answers.popFirst() { return answer }
            guard let event = others.popFirst() else { return nil }
            if event.isAnswer { answersAmongOthers -= 1 }
            return event
        }
    }

    private let queue = NIOLockedValueBox(Queue())
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    init() {
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Never calls the reader.
    func send(_ event: EngineEvent) {
        queue.withLockedValue { $0.append(event) }
        wake.yield()
    }

    /// Ends them, after those that wait.
    func finish() {
        wake.finish()
    }

    private func popFirst() -> EngineEvent? {
        queue.withLockedValue { $0.popFirst() }
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
            // After the end, the events that still wait follow, except for a cancelled task.
            return Task.isCancelled ? nil : events.popFirst()
        }
    }
}

extension EngineEvent {
    /// Whether it says what became of resolving an instance.
    fileprivate var isAnswer: Bool {
        switch self {
        case .resolved, .answered, .resolveFailed: true
        default: false
        }
    }
}
