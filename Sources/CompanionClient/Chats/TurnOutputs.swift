/// The outputs of a turn, made by a body that begins when the first one is asked for. For one reader.
///
/// A reader that is cancelled cancels the body, and waits for what that still has to write down. The end or error of
/// the body is that of the outputs.
package struct TurnOutputs: AsyncSequence, Sendable {
    package typealias Element = TurnOutput
    package typealias Failure = any Error

    private let source: Source

    /// - Parameter body: Gets what takes the outputs; they wait for their reader.
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
            // An iterator of such a stream has no state of its own.
            var iterator = outputs.makeAsyncIterator()
            do {
                if let output = try await iterator.next(isolation: self) { return output }
            } catch {
                await task?.value
                throw error
            }
            // A reader that was cancelled sees the end at once: what the body still has to write down is waited for.
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
