package import CompanionWire
import NIOConcurrencyHelpers
import NIOCore

/// The events of a turn, produced by a body that starts when the first event is read. Supports one reader.
///
/// If the reader is cancelled, the body is cancelled too, and the reader waits until the body has finished its writes.
/// The sequence ends when the body ends, and throws the body's error.
package struct TurnEvents: AsyncSequence, Sendable {
    package typealias Element = TurnEvent
    package typealias Failure = any Error

    private let source: Source

    /// - Parameter body: Gets a function that takes the events; they are buffered until they are read. Where a
    ///   reader is far behind, texts in a row become one, so that it costs little memory.
    init(_ body: @escaping @Sendable (_ emit: @escaping @Sendable (TurnEvent) -> Void) async throws -> Void) {
        source = Source(body)
    }

    package func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(source: source)
    }

    package struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let source: Source

        package func next() async throws -> TurnEvent? {
            try await source.next()
        }
    }
}

extension TurnEvents {
    fileprivate actor Source {
        typealias Body = @Sendable (_ emit: @escaping @Sendable (TurnEvent) -> Void) async throws -> Void

        private let body: Body
        private let buffer = OutputBuffer()
        private var wakes: AsyncStream<Void>?
        private var task: Task<Void, Never>?

        init(_ body: @escaping Body) {
            self.body = body
        }

        func next() async throws -> TurnEvent? {
            let wakes = wakes ?? begin()
            self.wakes = wakes
            // A stream's iterator has no state of its own, so a new one is fine.
            var iterator = wakes.makeAsyncIterator()
            while true {
                if let output = buffer.take() { return output }
                guard await iterator.next(isolation: self) != nil else { break }
            }
            // A cancelled reader reaches the end at once, so wait here until the body has finished its writes.
            await task?.value
            if Task.isCancelled { return nil }
            if let output = buffer.take() { return output }
            if let failure = buffer.takeFailure() { throw failure }
            return nil
        }

        private func begin() -> AsyncStream<Void> {
            let (body, buffer) = (body, buffer)
            let (wakes, wake) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
            let task = Task {
                do {
                    try await body { output in
                        buffer.add(output)
                        wake.yield()
                    }
                } catch {
                    buffer.fail(error)
                }
                wake.finish()
            }
            wake.onTermination = { _ in task.cancel() }
            self.task = task
            return wakes
        }
    }
}

/// Events that were not read yet.
private final class OutputBuffer: Sendable {
    /// From so many on, texts in a row become one.
    private static let most = 1000
    /// Bytes of such a text.
    private static let textSize = 64 << 10

    private struct State {
        var outputs = CircularBuffer<TurnEvent>()
        var failure: (any Error)?
    }

    private let state = NIOLockedValueBox(State())

    func add(_ output: TurnEvent) {
        state.withLockedValue { state in
            guard state.outputs.count >= Self.most, case .text(let text) = output,
                case .text(var before)? = state.outputs.last, before.utf8.count < Self.textSize
            else { return state.outputs.append(output) }
            // Taken out first: a text that is held once is appended to in place.
            state.outputs.removeLast()
            before += text
            state.outputs.append(.text(before))
        }
    }

    func take() -> TurnEvent? { state.withLockedValue { $0.outputs.popFirst() } }

    func fail(_ error: any Error) { state.withLockedValue { $0.failure = error } }

    /// The body's error, once.
    func takeFailure() -> (any Error)? {
        state.withLockedValue { state in
            defer { state.failure = nil }
            return state.failure
        }
    }
}

/// Something that may be used once.
struct OneShot: Sendable {
    private let isUsed = NIOLockedValueBox(false)

    /// - Returns: Whether this is the first use.
    func use() -> Bool {
        isUsed.withLockedValue { isUsed in
            defer { isUsed = true }
            return !isUsed
        }
    }
}
