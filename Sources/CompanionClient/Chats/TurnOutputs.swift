import NIOConcurrencyHelpers

/// The outputs of a turn, produced by a body that starts when the first output is read. Supports one reader.
///
/// If the reader is cancelled, the body is cancelled too, and the reader waits until the body has finished its writes.
/// The sequence ends when the body ends, and throws the body's error.
package struct TurnOutputs: AsyncSequence, Sendable {
    package typealias Element = TurnOutput
    package typealias Failure = any Error

    private let source: Source

    /// - Parameter body: Gets a function that takes the outputs; they are buffered until they are read.
    init(_ body: @escaping @Sendable (_ emit: @escaping @Sendable (TurnOutput) -> Void) async throws -> Void) {
        source = Source(body)
    }

    package func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(source: source)
    }

    package struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let source: Source

        package func next() async throws -> TurnOutput? {
            try await source.next()
        }
    }
}

extension TurnOutputs {
    fileprivate actor Source {
        typealias Body = @Sendable (_ emit: @escaping @Sendable (TurnOutput) -> Void) async throws -> Void

        private let body: Body
        private var outputs: AsyncThrowingStream<TurnOutput, any Error>?
        private var task: Task<Void, Never>?

        init(_ body: @escaping Body) {
            self.body = body
        }

        func next() async throws -> TurnOutput? {
            let outputs = outputs ?? begin()
            self.outputs = outputs
            // A stream's iterator has no state of its own, so a new one is fine.
            var iterator = outputs.makeAsyncIterator()
            do {
                if let output = try await iterator.next(isolation: self) { return output }
            } catch {
                await task?.value
                throw error
            }
            // A cancelled reader reaches the end at once, so wait here until the body has finished its writes.
            await task?.value
            return nil
        }

        private func begin() -> AsyncThrowingStream<TurnOutput, any Error> {
            let body = body
            let (outputs, continuation) = AsyncThrowingStream<TurnOutput, any Error>.makeStream()
            let task = Task {
                do {
                    try await body { continuation.yield($0) }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
            self.task = task
            return outputs
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
