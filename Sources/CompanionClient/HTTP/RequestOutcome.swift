/// How a request to a host went.
package struct RequestOutcome: Sendable, Hashable {
    package enum Kind: String, Sendable {
        /// An answer came, if only a refusal.
        case answered
        /// The host could not be reached, or did not answer in time.
        case lost
    }

    /// Up to the last byte of the answer.
    package var duration: Duration
    package var kind: Kind

    /// What takes outcomes. With a function itself as the task-local value, programs that Swift 6.3 has optimised crash.
    package struct Report: Sendable {
        let take: @Sendable (RequestOutcome) -> Void

        package init(_ take: @escaping @Sendable (RequestOutcome) -> Void) {
            self.take = take
        }
    }

    /// Takes the outcomes of a task's requests, also those of its child tasks; nil drops them. Streams are not
    /// requests.
    @TaskLocal package static var report: Report?

    /// Runs a request.
    static func reporting<R>(
        isolation: isolated (any Actor)? = #isolation,
        _ request: () async throws -> R
    ) async throws -> R {
        guard let report else { return try await request() }
        let start = ContinuousClock.now
        do {
            let result = try await request()
            report.take(RequestOutcome(duration: .now - start, kind: .answered))
            return result
        } catch let error as CompanionClientError {
            let isLost = [.unreachable, .timedOut, .streamInterrupted].contains(error.code)
            report.take(RequestOutcome(duration: .now - start, kind: isLost ? .lost : .answered))
            throw error
        }
    }
}
