/// A host whose events can be watched.
package protocol EventReporting: Sendable {
    /// Reports events until the task is cancelled or the host no longer answers at its address.
    ///
    /// - Parameters:
    ///   - interval: The pause between two requests to a host that sends no events.
    ///   - progress: The progress of an earlier watch. Changes since then are reported first if the host can tell them.
    ///   - patience: How many connections in a row may fail before the watch gives up; nil for no limit.
    /// - Throws: ``CompanionClientError``; any error of `take`.
    func run(
        every interval: Duration,
        progress: LiveProgress,
        patience: Int?,
        _ take: (LiveEventStream.Output) async throws -> Void
    ) async throws
}
