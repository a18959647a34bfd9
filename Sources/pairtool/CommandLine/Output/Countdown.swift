import FoundationEssentials

/// Shows on a terminal what a slow command is doing, and how long a code remains valid.
struct Countdown: Sendable {
    let context: CommandContext
    /// When the code expires, or nil if that is not known.
    let expiresAt: Date?

    func run<R: Sendable>(_ what: String, _ body: @escaping @Sendable () async throws -> R) async throws -> R {
        guard context.stderrIsTerminal else { return try await body() }
        return try await withThrowingTaskGroup(of: R?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                while true {
                    context.stderr.write("\r\u{1B}[K\(line(what))")
                    try await ContinuousClock().sleep(for: .seconds(1))
                }
            }
            defer {
                group.cancelAll()
                context.stderr.write("\r\u{1B}[K")
            }
            while let result = try await group.next() {
                if let result { return result }
            }
            throw CancellationError()
        }
    }

    private func line(_ what: String) -> String {
        guard let expiresAt else { return "\(what)…" }
        let left = expiresAt.timeIntervalSince(context.now())
        return left > 0 ? "\(what)… the code is valid for \(TimeText.countdown(left))" : "\(what)… the code has expired"
    }
}
