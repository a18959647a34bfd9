import CommandCore
import CompanionClient
import CompanionWire
import Glibc
import PairingAgent

extension JarvisSession {
    /// Decides a request while no other process of this user decides one at the same daemon: its look at the request and
    /// its decision belong together.
    ///
    /// - Throws: As `JarvisClient.decide` does; ``CommandError`` where the lock cannot be had.
    func decide(_ id: JarvisApprovalID, _ decision: JarvisDecision) async throws -> JarvisReceipt {
        let directory = output.context.paths.runtime
        try PrivateFile.makeDirectory(directory)
        // By the request, not by the host: a daemon may be recorded under two addresses.
        let path = "\(directory)/approval-\(DeviceIdentity.shortHash(id.uppercased.description).prefix(2)).lock"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw CommandError(.failed, "file", "\(path): \(PrivateFile.systemMessage())") }
        // Closing the descriptor, also by the end of the process, releases the lock.
        defer { close(descriptor) }
        var hasSaid = false
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else {
                throw CommandError(.failed, "file", "\(path): \(PrivateFile.systemMessage())")
            }
            if !hasSaid { output.say("Another pairtool is deciding; waiting for it.") }
            hasSaid = true
            try await ContinuousClock().sleep(for: .milliseconds(20))
        }
        return try await client.decide(id, decision)
    }
}
