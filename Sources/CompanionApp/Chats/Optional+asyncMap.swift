extension Optional {
    /// `map` with a body that waits.
    package func asyncMap<Result>(_ body: (Wrapped) async throws -> Result) async rethrows -> Result? {
        if let self { try await body(self) } else { nil }
    }
}
