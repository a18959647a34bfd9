import CompanionClient
import CompanionWire
import PairingAgent

extension JarvisSession {
    /// Decides a request while no other process of this user decides one at the same daemon: its look at the request and
    /// its decision belong together.
    ///
    /// - Throws: As `JarvisClient.decide` does; ``CommandError`` if the lock is not available.
    func decide(_ id: JarvisApprovalID, _ decision: JarvisDecision) async throws -> JarvisReceipt {
        // By the request, not by the host: a daemon may be recorded under two addresses.
        let name = "approval-\(DeviceIdentity.shortHash(id.uppercased.description).prefix(2)).lock"
        let path = "\(output.context.paths.runtime)/\(name)"
        return try await FileLock.with(path, output, notice: "Another pairtool is deciding; waiting for it.") { _ in
            try await client.decide(id, decision)
        }
    }
}
