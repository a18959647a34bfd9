import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Glibc
import Subprocess
import SystemPackage
import Testing

/// A real server of ssh on loopback, and a user whose `ssh` knows it and may log in.
struct SSHServer: Sendable {
    let port: Int
    /// Has the keys and the configurations.
    let directory: String

    /// For commands of the user: their `ssh` has a configuration of its own.
    var environment: [String: String] {
        ["PATH": "\(directory)/bin:/usr/bin:/bin"].merging(Sandbox.elsewhere) { $1 }
    }

    /// Lets the user's `ssh` know no server.
    func forgetServer() throws {
        try Data().write(to: URL(filePath: directory + "/known_hosts"))
    }

    /// Lets the server let nobody in.
    func lockUserOut() throws {
        try Data().write(to: URL(filePath: directory + "/authorized_keys"))
    }

    /// Runs a body with a server.
    static func with<R: Sendable>(
        in sandbox: Sandbox,
        _ body: @escaping @Sendable (SSHServer) async throws -> R
    ) async throws -> R {
        try await withClosedPort(isShared: true) { endpoint in
            let server = SSHServer(port: endpoint.port, directory: sandbox.directory + "/ssh")
            try await server.prepare(sandbox)
            return try await server.run(body)
        }
    }

    private func prepare(_ sandbox: Sandbox) async throws {
        try FileManager.default.createDirectory(atPath: directory + "/bin", withIntermediateDirectories: true)
        for name in ["host_key", "user_key"] {
            let made = try await sandbox.spawn(
                program: ["/usr/bin/ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "\(directory)/\(name)"]
            )
            #expect(made.status == 0, "\(made.err)")
        }
        try FileManager.default.copyItem(atPath: directory + "/user_key.pub", toPath: directory + "/authorized_keys")
        let key = try String(contentsOfFile: directory + "/host_key.pub", encoding: .utf8)
        try write("known_hosts", "[127.0.0.1]:\(port) \(key)")
        try write(
            "sshd_config",
            """
            Port \(port)
            ListenAddress 127.0.0.1
            HostKey \(directory)/host_key
            AuthorizedKeysFile \(directory)/authorized_keys
            PidFile none
            UsePAM no
            StrictModes no
            PasswordAuthentication no
            KbdInteractiveAuthentication no
            PermitRootLogin yes

            """
        )
        try write(
            "config",
            """
            Host *
              IdentityFile \(directory)/user_key
              IdentitiesOnly yes
              UserKnownHostsFile \(directory)/known_hosts
              GlobalKnownHostsFile /dev/null
              StrictHostKeyChecking yes

            """
        )
        try write("bin/ssh", "#!/bin/sh\nexec /usr/bin/ssh -F \(directory)/config \"$@\"\n")
        #expect(chmod(directory + "/bin/ssh", 0o755) == 0)
    }

    private func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(filePath: "\(directory)/\(name)"))
    }

    private func run<R: Sendable>(_ body: @escaping @Sendable (SSHServer) async throws -> R) async throws -> R {
        let server = ["/usr/sbin/sshd", "-D", "-e", "-f", directory + "/sshd_config"]
        // A server of root's wants a directory in /run, which is not to be made on this machine.
        let wrapper = ["/usr/bin/unshare", "--mount", "sh", "-c"]
        let words =
            geteuid() == 0
            ? wrapper + ["mount -t tmpfs sshd /run && mkdir -m 755 /run/sshd && exec \"$@\"", "sh"] + server : server
        let outcome = try await Subprocess.run(
            .path(FilePath(words[0])),
            arguments: Arguments(Array(words.dropFirst())),
            input: .none,
            output: .discarded,
            error: .sequence
        ) { process in
            try await withThrowingTaskGroup(of: R?.self) { group in
                let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
                group.addTask {
                    for try await line in process.standardError.strings() where line.contains("Server listening") {
                        isReady.yield()
                    }
                    isReady.finish()
                    return nil
                }
                group.addTask {
                    for await _ in ready { break }
                    defer { try? process.send(signal: .terminate) }
                    return try await body(self)
                }
                var result: R?
                for try await one in group { result = one ?? result }
                return try #require(result)
            }
        }
        return outcome.closureResult
    }
}
