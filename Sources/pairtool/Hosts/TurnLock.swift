import Glibc
import PairingAgent

/// Keeps two pairtool processes from talking in one chat at a time: hosts mix the answers of two turns.
enum TurnLock {
    /// Runs a body while no other process has the chat.
    static func with<R>(chatID: String, host: PairedHost, output: Output, _ body: () async throws -> R) async throws
        -> R
    {
        let directory = output.context.paths.runtime
        try PrivateFile.makeDirectory(directory)
        let path = "\(directory)/turn-\(DeviceIdentity.shortHash("\(host.id) \(chatID)")).lock"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CommandError(.failed, "file", "\(path): \(PrivateFile.systemMessage())") }
        // Closing the descriptor, also by the end of the process, releases the lock.
        defer { close(descriptor) }
        var hasSaid = false
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else {
                throw CommandError(.failed, "file", "\(path): \(PrivateFile.systemMessage())")
            }
            if !hasSaid { output.say("Another pairtool is talking in this chat; waiting for its answer to end.") }
            hasSaid = true
            try await ContinuousClock().sleep(for: .milliseconds(100))
        }
        return try await body()
    }
}
