import CompanionTestSupport
import CompanionWire
import Logging
import NIOCore
import NIOPosix
import Relay
import Testing

@testable import CompanionClient

@Suite(
    "Tunnels over a real relay",
    .enabled(if: RelayServer.isInstalled, "skipped, missing: strelaysrv"),
    .timeLimit(.minutes(15))
)
struct TunnelTests {
    @Test("A host that does not come to its end of the pipe is called once more, and gets what was said at first")
    func lostSession() async throws {
        try await withTemporaryDirectory { directory in
            try await withRelayServer { server in
                let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
                let host = RelayClient(address: server.address, identity: try .make(), logger: logger)
                let (joins, join) = AsyncStream.makeStream(of: Void.self)
                let (invitations, invite) = AsyncStream.makeStream(of: RelayInvitation.self)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        await host.join {
                            if case .joined = $0 { join.yield() }
                        } onInvitation: {
                            invite.yield($0)
                        }
                    }
                    group.addTask {
                        var calls = invitations.makeAsyncIterator()
                        _ = await calls.next()
                        guard let second = await calls.next() else { return }
                        _ = try await host.answer(second) { channel in
                            channel.pipeline.addHandler(Echo()).flatMap { channel.setOption(.autoRead, value: true) }
                        }
                    }
                    defer { group.cancelAll() }
                    for await _ in joins { break }
                    let settings = Tunnel.Settings(directory: directory + "/tunnels", keys: directory, logger: logger)
                    let route = HostRoute.relay(RelayRoute(relay: server.address, host: host.identity.id))
                    let answer = try await Tunnel.with(route, settings: settings) { tunnel in
                        try await Self.say("hello", to: tunnel)
                    }
                    #expect(answer == "hello")
                }
            }
        }
    }

    /// Says a word, and returns what comes back first.
    private static func say(_ word: String, to tunnel: Tunnel) async throws -> String {
        let stream = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(unixDomainSocketPath: tunnel.path) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await stream.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: word))
            for try await bytes in inbound { return String(buffer: bytes) }
            return ""
        }
    }
}

/// Sends back what comes.
private final class Echo: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.writeAndFlush(data, promise: nil)
    }
}
