import CompanionTestSupport
import CompanionWire
import Glibc
import NIOCore
import NIOPosix
import Testing

@testable import CompanionHost

@Suite("Who has the other end of a connection", .timeLimit(.minutes(15)))
struct TCPSocketTests {
    /// Calls its argument with both ends of a connection over the loopback interface, as the server sees them.
    private func connected(
        to host: String,
        _ body: (_ client: TCPSocket.End, _ server: TCPSocket.End) async throws -> Void
    ) async throws {
        let group = NIOSingletons.posixEventLoopGroup
        let listener = try await ServerBootstrap(group: group).bind(host: host, port: 0).get()
        let port = try #require(listener.localAddress?.port)
        let channel = try await ClientBootstrap(group: group).connect(host: host, port: port).get()
        let client = try #require(channel.localAddress.flatMap(TCPSocket.End.init(of:)))
        let server = try #require(channel.remoteAddress.flatMap(TCPSocket.End.init(of:)))
        try await body(client, server)
        // A test that has failed leaves them to the end of the process.
        try await channel.close()
        // The kernel lets go of it a moment later.
        try await eventually { TCPSocket(of: client, connectedTo: server) == nil }
        try await listener.close()
    }

    @Test(
        "The client's end is found, whichever family its address is of, and only while it is open",
        arguments: ["127.0.0.1", "::1", "::ffff:127.0.0.1"]
    )
    func found(host: String) async throws {
        try await connected(to: host) { client, server in
            let socket = try #require(TCPSocket(of: client, connectedTo: server))
            #expect(socket.owner == geteuid())
            #expect(SocketHolders(of: socket.inode).known.contains { $0.id == getpid() })
            // No process has it before it is accepted.
            try await eventually { TCPSocket(of: server, connectedTo: client) != nil }
            let other = try #require(TCPSocket(of: server, connectedTo: client))
            #expect(other.inode != socket.inode)
        }
    }

    @Test("A connection by IPv6 to an IPv4 address is that of the IPv4 address")
    func mapped() async throws {
        try await connected(to: "::ffff:127.0.0.1") { client, server in
            #expect(client.address == IPAddress("127.0.0.1") && server.address == IPAddress("127.0.0.1"))
        }
    }

    @Test("Nobody has a connection that is not there, and whoever listens at its port does not have it")
    func nobody() async throws {
        try await connected(to: "127.0.0.1") { client, server in
            let elsewhere = try #require(IPAddress("127.0.0.2"))
            let sixth = try #require(IPAddress("::1"))
            for (one, other) in [
                (TCPSocket.End(address: elsewhere, port: client.port), server),
                (client, TCPSocket.End(address: elsewhere, port: server.port)),
                (client, TCPSocket.End(address: server.address, port: 1)),
                (TCPSocket.End(address: client.address, port: 1), server),
                // The listener's own port.
                (server, TCPSocket.End(address: client.address, port: 1)),
                (TCPSocket.End(address: sixth, port: client.port), TCPSocket.End(address: sixth, port: server.port)),
                (TCPSocket.End(address: sixth, port: client.port), server),
            ] {
                #expect(TCPSocket(of: one, connectedTo: other) == nil)
            }
        }
    }
}
