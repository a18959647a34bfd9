import ArgumentParser
import CompanionClient
import Glibc
import PairingAgent

/// The process that keeps a connection (``HeldConnection`` starts it). It inherits both sockets.
struct RemoteHoldCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hold",
        abstract: "Keep a connection that another command has handed over.",
        shouldDisplay: false
    )

    /// The descriptors of the sockets.
    static let connection: Int32 = 3
    static let listener: Int32 = 4

    @Option(help: .hidden)
    var socket: String

    @Option(help: .hidden)
    var generation: Int

    @Option(help: .hidden)
    var seconds: Int

    func validate() throws {
        guard LumiGeneration(rawValue: generation) != nil, (1...HeldConnection.mostKeep).contains(seconds),
            Self.isSocket(Self.connection), Self.isSocket(Self.listener)
        else { throw ValidationError("pairtool itself runs this command.") }
    }

    private static func isSocket(_ descriptor: Int32) -> Bool {
        FileStatus(descriptor: descriptor)?.kind == .socket
    }

    func run() async throws {
        guard let generation = LumiGeneration(rawValue: generation) else { return }
        // An orderly end is not needed: the next command finds the dead socket and removes it.
        // No directory is in use because of it.
        guard chdir("/") == 0 else { return }
        for number in [SIGTERM, SIGINT] { signal(number, SIG_DFL) }
        for number in [Self.connection, Self.listener] { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
        let (socket, seconds) = (socket, seconds)
        try await BlockingCall.run {
            var holder = LumiHolder(
                mac: Self.connection,
                listener: Self.listener,
                path: socket,
                generation: generation,
                idle: .seconds(seconds)
            )
            holder.run()
        }
    }
}
