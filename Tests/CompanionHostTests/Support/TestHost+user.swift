import Glibc
import Subprocess

extension TestHost {
    /// Sends a request as another user of this machine, who needs root to be.
    ///
    /// - Parameters:
    ///   - user: A user id; nil is the host's own.
    ///   - address: Of the host.
    func raw(
        _ method: String,
        _ path: String,
        body: String = "",
        as user: UInt32?,
        at address: String = "127.0.0.1"
    ) async throws -> Reply {
        let lines = [
            "\(method) \(path) HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json",
            "Content-Length: \(body.utf8.count)", "Connection: close", "", body,
        ]
        // Not by `PlatformOptions.userID`: setuid(3) takes a lock that another thread may have had at the fork, and then
        // the child waits for ever.
        let identity = user.map { ["setpriv", "--reuid", "\($0)", "--clear-groups"] } ?? []
        let result = try await Subprocess.run(
            .name("env"),
            arguments: Arguments(
                identity + [
                    "bash", "-c", #"exec 3<>"/dev/tcp/$0" && printf %s "$1" >&3 && cat <&3"#,
                    "\(address)/\(port)", lines.joined(separator: "\r\n"),
                ]
            ),
            output: .string(limit: 1 << 20),
            error: .string(limit: 64 << 10)
        )
        guard result.terminationStatus.isSuccess else { throw TestFailure("\(result.standardError)") }
        return try Reply(http: result.standardOutput)
    }
}

let isRoot = geteuid() == 0
