import DequeModule
import NIOConcurrencyHelpers

/// The events of one connection, in order. A reader that finds events waiting gets the next one without a change of
/// thread.
///
/// It has one reader.
struct EngineEvents: AsyncSequence, Sendable {
    typealias Element = EngineEvent
    typealias Failure = Never

    private let queue = NIOLockedValueBox(Deque<EngineEvent>())
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
