extension AsyncThrowingStream where Element: Sendable, Failure == any Error {
    /// A stream whose elements a body makes. The body begins when the first element is asked for, is cancelled when nobody
    /// reads any more, and its end or error is that of the stream.
    ///
    /// - Parameter body: Gets what takes the elements; they wait for their reader.
    static func onDemand(
        _ body: @escaping @Sendable (_ emit: @escaping @Sendable (Element) -> Void) async throws -> Void
    ) -> AsyncThrowingStream<Element, any Error> {
        let source = OnDemandSource(body)
        return AsyncThrowingStream(unfolding: { try await source.next() })
    }
}

/// Begins with the first question for an element. For one reader.
private actor OnDemandSource<Element: Sendable> {
    typealias Body = @Sendable (_ emit: @escaping @Sendable (Element) -> Void) async throws -> Void

    private let body: Body
    private var elements: AsyncThrowingStream<Element, any Error>?
    private var task: Task<Void, Never>?

    init(_ body: @escaping Body) {
        self.body = body
    }

    func next() async throws -> Element? {
        let elements = elements ?? begin()
        self.elements = elements
        // An iterator of such a stream has no state of its own.
        var iterator = elements.makeAsyncIterator()
        do {
            if let element = try await iterator.next(isolation: self) { return element }
        } catch {
            await task?.value
            throw error
        }
        // A reader that was cancelled sees the end at once: what the body still has to write down is waited for.
        await task?.value
        return nil
    }

    private func begin() -> AsyncThrowingStream<Element, any Error> {
        let body = body
        let (elements, continuation) = AsyncThrowingStream<Element, any Error>.makeStream()
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
        return elements
    }
}
