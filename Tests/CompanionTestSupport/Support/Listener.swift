import Glibc
import NIOConcurrencyHelpers
package import NIOCore
import NIOPosix

/// Runs `body` while connections to a port of this machine are accepted and served, and ends all of them behind it.
/// A client whose connection is ended so and that comes again finds the port closed.
///
/// - Parameters:
///   - host: The address at which to listen, a zone included (`fe80::1%eth0`).
///   - port: Default: 0, any that is free.
///   - accept: Sets up a connection, on its event loop.
///   - body: Gets the port.
package func withListener<Connection: Sendable, Result>(
    host: String = "127.0.0.1",
    port: Int = 0,
    isolation: isolated (any Actor)? = #isolation,
    accept: @escaping @Sendable (any Channel) throws -> Connection,
    serve: @escaping @Sendable (Connection) async -> Void,
    _ body: (_ port: Int) async throws -> Result
) async throws -> Result {
    let accepted = AcceptedChannels()
    let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .bind(host: host, port: port) { channel in
            channel.eventLoop.makeCompletedFuture {
                do {
                    try accepted.add(channel)
                    return try accept(channel)
                } catch {
                    // Nobody else does.
                    channel.close(promise: nil)
                    throw error
                }
            }
        }
    return try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            try await server.executeThenClose { connections in
                try await withThrowingDiscardingTaskGroup { group in
                    for try await connection in connections { group.addTask { await serve(connection) } }
                }
            }
        }
        defer { group.cancelAll() }
        do {
            let result = try await body(server.channel.localAddress?.port ?? 0)
            await end(server.channel, accepted)
            return result
        } catch {
            await end(server.channel, accepted)
            throw error
        }
    }
}

private func end(_ server: any Channel, _ accepted: AcceptedChannels) async {
    try? await server.close()
    await accepted.close()
}

/// The connections that a listener has accepted, served yet or not.
private final class AcceptedChannels: Sendable {
    /// `nil` from the end on.
    private let channels = NIOLockedValueBox<[any Channel]?>([])

    func add(_ channel: any Channel) throws {
        try channels.withLockedValue {
            guard $0 != nil else { throw ChannelError.ioOnClosedChannel }
            $0?.append(channel)
        }
    }

    func close() async {
        let open = channels.withLockedValue { channels in
            defer { channels = nil }
            return channels ?? []
        }
        for channel in open { try? await channel.close() }
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
