import NIOConcurrencyHelpers

/// Named doors: one side waits at a door until the other opens it. Open doors stay open.
package struct Gates: Sendable {
    private struct State {
        var open: Set<String> = []
        var waiting: [String: [AsyncStream<Never>.Continuation]] = [:]
    }

    private let state = NIOLockedValueBox(State())

    package init() {}

    /// Opens a door for all who wait there and all who come.
    package func open(_ name: String) {
        let waiting = state.withLockedValue { state in
            state.open.insert(name)
            return state.waiting.removeValue(forKey: name) ?? []
        }
        for continuation in waiting { continuation.finish() }
    }

    /// Waits until a door is open.
    ///
    /// - Throws: `CancellationError`.
    package func pass(_ name: String) async throws {
        let (stream, continuation) = AsyncStream<Never>.makeStream()
        let isOpen = state.withLockedValue { state in
            if !state.open.contains(name) { state.waiting[name, default: []].append(continuation) }
            return state.open.contains(name)
        }
        if isOpen { continuation.finish() }
        for await _ in stream {}
        try Task.checkCancellation()
    }
}
