import Glibc
import NIOCore
import NIOPosix

/// Runs `body` while connections to a port of this machine are accepted and served, and ends all of them behind it.
///
/// - Parameters:
///   - host: Where to listen, a zone included (`fe80::1%eth0`).
///   - port: Default: 0, any that is free.
///   - accept: Sets up a connection, on its event loop.
///   - body: Gets the port.
func withListener<Connection: Sendable, Result>(
    host: String = "127.0.0.1",
    port: Int = 0,
    isolation: isolated (any Actor)? = #isolation,
    accept: @escaping @Sendable (any Channel) throws -> Connection,
    serve: @escaping @Sendable (Connection) async -> Void,
    _ body: (_ port: Int) async throws -> Result
) async throws -> Result {
    let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .bind(host: host, port: port) { channel in
            channel.eventLoop.makeCompletedFuture { try accept(channel) }
        }
    return try await withThrowingTaskGroup(of: Void.self) { group in
        // Cancelling the group ends the loop over connections, which closes the server and waits for what is open.
        group.addTask {
            try await server.executeThenClose { connections in
                try await withThrowingDiscardingTaskGroup { group in
                    for try await connection in connections { group.addTask { await serve(connection) } }
                }
            }
        }
        defer { group.cancelAll() }
        return try await body(server.channel.localAddress?.port ?? 0)
    }
}

/// Passes on what a connection reads, until it ends.
///
/// `NIOAsyncChannel` insists on being served, and a connection that is accepted in a test's last moment is not.
final class InboundParts<Part: Sendable>: ChannelInboundHandler, Sendable {
    typealias InboundIn = Part

    let stream: AsyncStream<Part>
    private let continuation: AsyncStream<Part>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        continuation.yield(unwrapInboundIn(data))
    }

    func channelInactive(context: ChannelHandlerContext) {
        continuation.finish()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        continuation.finish()
    }
}

extension Channel {
    /// Writes, and waits until the system has the bytes: closing a channel drops what is not yet written.
    ///
    /// - Returns: Whether the connection still took them.
    func write(all bytes: [UInt8]) async -> Bool {
        do {
            try await writeAndFlush(ByteBuffer(bytes: bytes)).get()
            return true
        } catch {
            return false
        }
    }

    /// Closes so that the other side gets a RST: a socket that does not linger at all makes the system send one.
    func reset() async {
        let linger = linger(l_onoff: 1, l_linger: 0)
        try? await (self as? any SocketOptionProvider)?.setSoLinger(linger).get()
        try? await close()
    }
}
