package import CompanionWire
import FoundationEssentials
import Glibc
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A real relay on loopback: the program of Debian's package `syncthing-relaysrv`. Nothing announces it anywhere.
package final class RelayServer: Sendable {
    private static let program = "/usr/bin/strelaysrv"
    package static let isInstalled = access(program, X_OK) == 0

    /// Where it is, with the id that it has shown in its log. A restart changes neither.
    package let address: RelayAddress
    private let arguments: [String]
    private let directory: String
    private let process: NIOLockedValueBox<pid_t?>

    fileprivate init(port: Int, directory: String, arguments: [String], descriptors: Int?) async throws {
        self.directory = directory
        let limit = descriptors.map { ["/usr/bin/prlimit", "--nofile=\($0):\($0)"] } ?? []
        self.arguments =
            limit + [Self.program, "-pools", "", "-status-srv", "", "-listen", "127.0.0.1:\(port)", "-keys", directory]
            + arguments
        let first = try spawn(self.arguments, log: directory + "/log")
        do {
            address = try await Self.waitUntilReady(first, port: port, log: directory + "/log")
        } catch {
            end(first)
            throw error
        }
        process = NIOLockedValueBox(first)
    }

    /// Ends it without a word to its clients. Does nothing where it is not running.
    package func kill() {
        let running = process.withLockedValue { process in
            defer { process = nil }
            return process
        }
        if let running { end(running) }
    }

    /// Starts it on the same port and with the same certificate, after ``kill()``.
    package func restart() async throws {
        kill()
        let next = try spawn(arguments, log: directory + "/log")
        process.withLockedValue { $0 = next }
        _ = try await Self.waitUntilReady(next, port: address.port, log: directory + "/log")
    }

    /// The memory that it has at the moment, in bytes; nil where it is not running.
    package var residentBytes: Int? {
        guard let running = process.withLockedValue(\.self),
            let status = try? String(contentsOfFile: "/proc/\(running)/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") })
        else { return nil }
        return line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }.map { $0 << 10 }
    }

    /// Waits until it has logged its address and accepts connections.
    private static func waitUntilReady(_ process: pid_t, port: Int, log: String) async throws -> RelayAddress {
        var found: RelayAddress?
        try await eventually {
            let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
            var status: Int32 = 0
            guard waitpid(process, &status, WNOHANG) == 0 else { throw RelayServerError("it has ended: \(text)") }
            // A line is whole once there is an end to it.
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            for word in lines.flatMap({ $0.split(separator: " ") }) where word.hasPrefix("relay://") {
                guard let address = RelayAddress(word) else { throw RelayServerError("it has logged \(word)") }
                if await accepts(port) { found = address }
            }
            return found != nil
        }
        guard let found else { throw RelayServerError("it has no address") }
        return found
    }

    private static func accepts(_ port: Int) async -> Bool {
        let bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        guard let channel = try? await bootstrap.connect(host: "127.0.0.1", port: port).get() else { return false }
        try? await channel.close()
        return true
    }
}

/// Runs a body with a relay of its own on a free port, and ends the relay behind it.
///
/// - Parameters:
///   - arguments: Besides those that keep it to loopback, such as `-per-session-rate`. Default: none.
///   - descriptors: How many files it may have open. It takes four fifths of them for connections, and looks once a
///     minute whether it has more. Default: as many as this process.
package func withRelayServer<Result>(
    _ arguments: [String] = [],
    descriptors: Int? = nil,
    _ body: (RelayServer) async throws -> Result
) async throws -> Result {
    let directory = FileManager.default.temporaryDirectory.path + "/relay-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    // The port stays the relay's while it is down.
    return try await withClosedPort(isShared: true) { endpoint in
        let server = try await RelayServer(
            port: endpoint.port,
            directory: directory,
            arguments: arguments,
            descriptors: descriptors
        )
        defer { server.kill() }
        return try await body(server)
    }
}

/// Starts a program whose output goes to a file. It gets none of the files that this process has open.
private func spawn(_ arguments: [String], log: String) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    for file in 3..<Int32(min(sysconf(Int32(_SC_OPEN_MAX)), 4096)) { posix_spawn_file_actions_addclose(&actions, file) }
    var words = arguments.map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var process: pid_t = 0
    let result = posix_spawn(&process, arguments[0], &actions, nil, &words, environ)
    guard result == 0 else { throw RelayServerError(String(cString: strerror(result))) }
    return process
}

private func end(_ process: pid_t) {
    Glibc.kill(process, SIGKILL)
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
}

private struct RelayServerError: Error, CustomStringConvertible {
    let reason: String

    init(_ reason: String) { self.reason = reason }

    var description: String { "strelaysrv cannot be used: \(reason)" }
}
