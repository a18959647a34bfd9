import CompanionClient
import CompanionWire
import Glibc
import Identity
import LocalState

/// An accepted connection to a Lumi host, kept open for the next commands, because newer Macs ask their user about each
/// connection.
///
/// A separate process holds it (`pairtool lumi remote hold`) behind a socket of mode 0600 in a directory of mode 0700.
/// The process ends when its time is over.
struct HeldConnection: Sendable {
    let path: String
    private let lockPath: String
    private let hostName: String
    private let context: CommandContext

    init(_ host: PairedHost, _ context: CommandContext) {
        // The name is short because the path of a socket has at most 107 bytes.
        let name = "lumi-" + DeviceIdentity.shortHash("\(host.id) \(host.endpoint)").prefix(8)
        path = "\(context.paths.runtime)/\(name).sock"
        lockPath = "\(context.paths.runtime)/\(name).lock"
        hostName = host.name
        self.context = context
    }

    /// The file descriptors of the sockets in the holding process.
    static let connection: Int32 = 3
    static let listener: Int32 = 4
    /// The environment variable with the number of seconds.
    static let variable = "PAIRTOOL_REMOTE_KEEP"
    /// The default, in seconds.
    static let usualKeep = 180
    /// The upper limit in seconds: one hour.
    static let mostKeep = 3600

    /// Whether the path may be a holder's socket: it belongs to this user and only this user has access.
    var isThere: Bool {
        guard let status = FileStatus(path, followingLinks: false), status.owner == geteuid() else { return false }
        return status.permissions & 0o077 == 0
    }

    /// Runs a body while no other process of this user runs a command for the host.
    func withTurn<R>(_ output: Output, _ body: () async throws -> R) async throws -> R {
        let notice = "Another command for \(TerminalText.line(hostName)) is running. Waiting for it to end."
        return try await FileLock.with(lockPath, onWait: { output.say(notice) }) { _ in try await body() }
    }

    /// Keeps a client's connection open. Does nothing if that is switched off, or if the host accepts connections
    /// without asking its user.
    ///
    /// The command does not fail if this fails: the next one opens a new connection.
    func keep(_ client: LumiClient, _ output: Output) async {
        let seconds = keepSeconds
        guard seconds > 0, let generation = await client.generation, generation != .open,
            let connection = await client.duplicateTransport()
        else { return }
        defer { close(connection) }
        guard let listener = listen() else {
            output.say("The connection is not kept: no socket can be made at \(path). The next command connects anew.")
            return
        }
        defer { close(listener) }
        guard start(connection, listener, generation, seconds) else {
            unlink(path)
            return
        }
        output.say(
            "The connection is kept for \(TimeText.span(Double(seconds))). To close it: pairtool lumi remote disconnect"
        )
    }

    private var keepSeconds: Int {
        guard let text = context.environment[Self.variable], let seconds = Int(text) else { return Self.usualKeep }
        return min(max(0, seconds), Self.mostKeep)
    }

    /// Tells the holding process, if there is one, to close the connection, and waits for up to 5 s until it has.
    ///
    /// - Returns: Whether a holding process was told.
    @discardableResult
    func end() -> Bool {
        guard isThere else { return false }
        defer { unlink(path) }
        guard let descriptor = socket(), let frame = try? LumiRequest.holderEndFrame() else { return false }
        defer { close(descriptor) }
        var limit = timeval(tv_sec: 5, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        guard withAddress({ connect(descriptor, $0, $1) }) == 0, LumiHolder.user(of: descriptor) == geteuid(),
            send(descriptor, frame, frame.count, Int32(MSG_NOSIGNAL)) == frame.count
        else { return false }
        var byte: UInt8 = 0
        while recv(descriptor, &byte, 1, 0) > 0 {}
        return true
    }

    // MARK: The socket

    private func socket() -> Int32? {
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        return descriptor >= 0 ? descriptor : nil
    }

    /// A socket that listens at the path. Its descriptor is a high number, so that it does not collide with the
    /// holder's.
    private func listen() -> Int32? {
        unlink(path)
        guard (try? PrivateFile.makeDirectory(context.paths.runtime)) != nil, let descriptor = socket() else {
            return nil
        }
        defer { close(descriptor) }
        guard withAddress({ bind(descriptor, $0, $1) }) == 0, chmod(path, 0o600) == 0, Glibc.listen(descriptor, 4) == 0
        else { return nil }
        let high = fcntl(descriptor, F_DUPFD_CLOEXEC, 10)
        return high >= 0 ? high : nil
    }

    /// - Returns: -1 if the path is too long for a socket.
    private func withAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return -1 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    // MARK: The process

    /// Starts the holding process in its own session. It inherits nothing from this process except the two sockets.
    private func start(_ connection: Int32, _ listener: Int32, _ generation: LumiGeneration, _ seconds: Int) -> Bool {
        let program = context.program
        var attributes = posix_spawnattr_t()
        var actions = posix_spawn_file_actions_t()
        posix_spawnattr_init(&attributes)
        posix_spawn_file_actions_init(&actions)
        defer {
            posix_spawnattr_destroy(&attributes)
            posix_spawn_file_actions_destroy(&actions)
        }
        posix_spawnattr_setflags(&attributes, Self.ownSession)
        for (number, mode) in [(STDIN_FILENO, O_RDONLY), (STDOUT_FILENO, O_WRONLY), (STDERR_FILENO, O_WRONLY)] {
            posix_spawn_file_actions_addopen(&actions, number, "/dev/null", mode, 0)
        }
        posix_spawn_file_actions_adddup2(&actions, connection, Self.connection)
        posix_spawn_file_actions_adddup2(&actions, listener, Self.listener)
        for number in Self.inheritable { posix_spawn_file_actions_addclose(&actions, number) }
        let words = [
            program, "lumi", "remote", "hold", "--socket", path, "--generation", "\(generation.rawValue)", "--seconds",
            "\(seconds)",
        ]
        // Only the variables that are needed to start the program.
        let passed = ["HOME", "PATH", "LD_LIBRARY_PATH", "SWIFT_BACKTRACE", "XDG_RUNTIME_DIR"]
        let environment = passed.compactMap { name in context.environment[name].map { "\(name)=\($0)" } }
        var process: pid_t = 0
        return Self.withCStrings(words) { words in
            Self.withCStrings(environment) { environment in
                posix_spawn(&process, program, &actions, &attributes, words, environment) == 0
            }
        }
    }

    /// `POSIX_SPAWN_SETSID`. The C library declares it only with `_GNU_SOURCE`.
    private static let ownSession: Int16 = 0x80

    /// The descriptors that this process would pass to a child besides the standard streams and the holder's two.
    private static var inheritable: [Int32] {
        guard let directory = opendir("/proc/self/fd") else { return [] }
        defer { closedir(directory) }
        var numbers: [Int32] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let number = Int32(name), number > Self.listener else { continue }
            if fcntl(number, F_GETFD) & FD_CLOEXEC == 0 { numbers.append(number) }
        }
        return numbers
    }

    private static func withCStrings<R>(
        _ texts: [String],
        _ body: ([UnsafeMutablePointer<CChar>?]) -> R
    ) -> R {
        let copies = texts.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }
}
