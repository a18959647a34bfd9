/// A host of which it can be told what happens there.
package protocol EventReporting: Sendable {
    /// Gives what happens until the task is cancelled, or the host counts as gone from its address.
    ///
    /// - Parameters:
    ///   - interval: Between two requests to a host that tells nothing by itself.
    ///   - progress: How far an earlier watch came: what changed since then is read first where the host can tell.
    ///   - patience: How often in a row a connection may fail before the host counts as gone. Nil: for ever.
    /// - Throws: ``CompanionClientError``; what `take` throws.
    func run(
        every interval: Duration,
        progress: LiveProgress,
        patience: Int?,
        _ take: (LiveEventStream.Output) async throws -> Void
    ) async throws
}
