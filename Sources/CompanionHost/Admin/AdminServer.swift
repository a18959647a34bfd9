import CompanionWire
import FoundationEssentials
import Glibc
package import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Answers the host's owner over a Unix domain socket: one line of JSON for each line (``AdminRequest``).
///
/// The socket has mode 0600 in a directory of mode 0700, and every peer is asked for its user id (`SO_PEERCRED`). Its
/// process id says whether it is an agent of this host, which may not decide about itself.
package final class AdminServer: Service {
    /// Bytes that a request may have.
    static let maximumRequestSize = 64 << 10
    /// Connections at a time; further ones are closed.
    static let maximumConnections = 16

    private typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    /// The path of the socket.
    package let path: String
    private let owner: UInt32
    private let logger: Logger
    private let answer: @Sendable (AdminRequest, AdminPeer) async -> AdminResponse

    /// - Parameters:
    ///   - path: The path at which the socket is made; at most 107 bytes.
    ///   - owner: The id of the only user that is answered. Default: this process's.
    package convenience init(
        path: String,
        administration: HostAdministration,
        owner: UInt32 = geteuid(),
        logger: Logger
    ) {
        self.init(path: path, owner: owner, logger: logger) { await administration.answer($0, by: $1) }
    }

    init(
        path: String,
        owner: UInt32,
        logger: Logger,
        answer: @escaping @Sendable (AdminRequest, AdminPeer) async -> AdminResponse
    ) {
        self.path = path
        self.owner = owner
        self.logger = logger
        self.answer = answer
    }

    /// Listens until shutdown, and removes the socket then.
    ///
    /// - Throws: ``AdminError``.
    package func run() async throws {
        let socket = try AdminSocket(path: path)
        let listener: NIOAsyncChannel<Connection, Never>
        do {
            listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .bind(unixDomainSocketPath: path) { channel in
                    channel.eventLoop.makeCompletedFuture { try Connection(wrappingChannelSynchronously: channel) }
                }
        } catch {
            throw AdminError(.unusable, "Cannot listen on \(path): \(error).")
        }
        try socket.restrict()
        do {
            try await cancelWhenGracefulShutdown { try await self.serve(listener) }
        } catch is CancellationError {
            // The end that was asked for.
        }
        // Kept until the listener has ended.
        _ = consume socket
    }

    private func serve(_ listener: NIOAsyncChannel<Connection, Never>) async throws {
        try await listener.executeThenClose { connections in
            try await withThrowingDiscardingTaskGroup { group in
                let slots = ConnectionSlots(Self.maximumConnections)
                for try await connection in connections {
                    group.addTask { await self.serve(connection, slots: slots) }
                }
                group.cancelAll()
            }
        }
    }

    private func serve(_ connection: Connection, slots: ConnectionSlots) async {
        do {
            try await connection.executeThenClose { inbound, outbound in
                guard slots.take() else { return }
                defer { slots.release() }
                let peer = try await Self.peer(of: connection.channel)
                guard peer.user == owner else {
                    logger.notice(
                        "another user at the admin socket",
                        metadata: .event(
                            "auth",
                            outcome: "refused",
                            code: CompanionErrorCode.requestForbidden.rawValue,
                            ["user": "\(peer.user)"]
                        )
                    )
                    let refusal = AdminResponse(error: .requestForbidden, "This host belongs to another user.")
                    return try await outbound.write(ByteBuffer(bytes: AdminLines.line(refusal)))
                }
                let process = AdminPeer(peer.process)
                var lines = AdminLines(limit: Self.maximumRequestSize)
                for try await bytes in inbound {
                    lines.append(bytes.readableBytesView)
                    while let line = try lines.next() {
                        try await outbound.write(
                            ByteBuffer(bytes: AdminLines.line(await answer(to: line, of: process)))
                        )
                    }
                }
            }
        } catch {
            logger.debug("admin connection ended", metadata: ["reason": "\(error)"])
        }
    }

    private func answer(to line: [UInt8], of process: AdminPeer) async -> AdminResponse {
        struct Version: Decodable { var v: Int }
        let decoder = CompanionJSON.decoder()
        guard let version = try? decoder.decode(Version.self, from: Data(line)) else {
            return AdminResponse(error: .requestInvalid, "The line is not a request of the admin protocol.")
        }
        guard version.v == AdminRequest.version else {
            return AdminResponse(
                error: .versionUnsupported,
                "The host speaks version \(AdminRequest.version) of the admin protocol: use the pairtool that it was started with."
            )
        }
        guard let request = try? decoder.decode(AdminRequest.self, from: Data(line)) else {
            return AdminResponse(error: .requestInvalid, "The line is not a request of the admin protocol.")
        }
        return await answer(request, process)
    }

    /// `struct ucred`, which the C library's module does not show.
    private struct PeerCredentials: Sendable {
        var process: Int32 = 0
        var user: UInt32 = 0
        var group: UInt32 = 0
    }

    private static func peer(of channel: any Channel) async throws -> PeerCredentials {
        guard let options = channel as? any SocketOptionProvider else { throw ChannelError.operationUnsupported }
        return try await options.unsafeGetSocketOption(
            level: .socket,
            name: .init(rawValue: SO_PEERCRED)
        ).get()
    }
}

/// Bounds how many connections there are at a time.
private final class ConnectionSlots: Sendable {
    private let free: NIOLockedValueBox<Int>

    init(_ count: Int) {
        free = NIOLockedValueBox(count)
    }

    /// - Returns: Whether there was a free slot.
    func take() -> Bool {
        free.withLockedValue { free in
            guard free > 0 else { return false }
            free -= 1
            return true
        }
    }

    func release() {
        free.withLockedValue { $0 += 1 }
    }
}

/// The process that connected to the admin socket.
struct AdminPeer: Sendable {
    let process: pid_t
    /// When it began, which nobody else's id has; nil if it had ended already.
    private let startedAt: UInt64?

    init(_ process: pid_t) {
        self.process = process
        startedAt = ProcessTable.entry(process)?.startedAt
    }

    /// Whether an agent of this program may be behind it: it belongs to one, or it has ended, so that another process
    /// has its end of the connection now. Blocks.
    var mayBeOfAgent: Bool {
        guard let startedAt, let now = ProcessTable.entry(process), now.startedAt == startedAt, !now.isZombie else {
            return true
        }
        return AgentProcesses.ofAgents().contains(process)
    }
}
