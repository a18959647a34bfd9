import CompanionTestSupport
import CompanionWire
import NIOCore
import Testing

@testable import Relay

@Suite(
    "Relays that are lost, full or something else",
    .enabled(if: RelayServer.isInstalled, "skipped, missing: strelaysrv"),
    .timeLimit(.minutes(15))
)
struct RelayLossTests {
    @Test("A host comes back to a relay that was killed and started again")
    func restart() async throws {
        try await withRelayServer { server in
            try await withHost(makeClient(server.address)) { host in
                try await host.join()
                server.kill()
                #expect(try await host.failure().code == .closed)
                #expect(try await host.failure().code == .unreachable)
                try await server.restart()
                try await host.join()
                let ends = try await host.open(to: makeClient(server.address))
                try await ends.host.use { hostEnd in
                    try await ends.device.use { deviceEnd in
                        try await deviceEnd.write([1])
                        #expect(try await hostEnd.read(1) == [1])
                    }
                }
            }
        }
    }

    @Test("A second host with the same identity is refused, and the first stays")
    func alreadyConnected() async throws {
        try await withRelayServer { server in
            try await withHost(makeClient(server.address)) { first in
                try await first.join()
                let second = try makeClient(server.address, identity: first.client.identity)
                let failure = try await withHost(second) { try await $0.failure() }
                #expect(failure.code == .alreadyConnected)
                let ends = try await first.open(to: makeClient(server.address))
                try await ends.host.use { _ in }
                try await ends.device.use { _ in }
            }
        }
    }

    @Test("A relay that has not noticed a loss is tried for two minutes before that is a failure")
    func unnoticedLoss() async throws {
        try await withRelayServer { server in
            try await withCutRelay(before: server.address.port) { tunnel in
                let address = try #require(RelayAddress(name: "127.0.0.1", port: tunnel.port, id: server.address.id))
                var client = try makeClient(address)
                client.silence = .seconds(2)
                try await withHost(client) { host in
                    try await host.join()
                    // Nothing comes any more, and the relay does not learn that its client gives up.
                    tunnel.swallow()
                    let before = tunnel.accepted
                    #expect(try await host.failure().code == .timedOut)
                    #expect(try await host.failure().code == .alreadyConnected)
                    // 0.25 s, 0.5 s, 1 s and so on: that many tries are in two minutes.
                    #expect(tunnel.accepted - before > 8)
                }
            }
        }
    }

    @Test("A host that leaves makes room for itself at once")
    func leave() async throws {
        try await withRelayServer { server in
            let client = try makeClient(server.address)
            for _ in 0..<3 {
                try await withHost(client) { try await $0.join() }
            }
        }
    }

    @Test("A host that is cancelled while it waits or connects ends at once")
    func cancelled() async throws {
        let client = try makeClient(#require(RelayAddress("relay://127.0.0.1:1/")))
        try await withClosedPort { endpoint in
            var slow = try makeClient(#require(RelayAddress(name: "127.0.0.1", port: endpoint.port)))
            slow.clock = ContinuousClock()
            slow.random = { 3600 }
            try await withHost(slow) { host in
                let error = try await host.failure()
                #expect(error.code == .unreachable)
                #expect(
                    error.message == "No connection to the relay \(endpoint): nothing listens on that port."
                )
            }
        }
        try await withSilentListener { port in
            let silent = try makeClient(#require(RelayAddress(name: "127.0.0.1", port: port)))
            try await withHost(silent) { host in
                _ = try await host.state { if case .connecting = $0 { true } else { nil } }
            }
            let calling = Task { try await silent.call(client.identity.id, initializer: TestPipe.make).use { _ in } }
            calling.cancel()
            await #expect(throws: CancellationError.self) { try await calling.value }
        }
    }

    @Test("A connection whose first packet the relay never gets costs a wait, for whoever makes it")
    func lostFirstPacket() async throws {
        try await withRelayServer { server in
            try await withCutRelay(before: server.address.port) { tunnel in
                let address = try #require(RelayAddress(name: "127.0.0.1", port: tunnel.port, id: server.address.id))
                var client = try makeClient(address)
                client.patience = .milliseconds(100)
                var device = try makeClient(address)
                device.patience = .milliseconds(100)
                tunnel.swallowNew(connections: 1)
                try await withHost(client) { host in
                    try await host.join()
                    tunnel.swallowNew(connections: 1)
                    let calling = try await device.requestInvitation(to: host.id)
                    tunnel.swallowNew(connections: 1)
                    let hostEnd = try await host.client.answer(host.invitation(), initializer: TestPipe.make)
                    tunnel.swallowNew(connections: 1)
                    let deviceEnd = try await device.openPipe(calling, initializer: TestPipe.make)
                    try await hostEnd.use { hostEnd in
                        try await deviceEnd.use { deviceEnd in
                            try await deviceEnd.write([1])
                            #expect(try await hostEnd.read(1) == [1])
                        }
                    }
                    #expect(tunnel.accepted == 8)
                }
            }
        }
    }

    @Test("A server that never answers is given up after the time limit")
    func silent() async throws {
        try await withSilentListener { port in
            var client = try makeClient(#require(RelayAddress(name: "127.0.0.1", port: port)))
            client.timeout = .seconds(1)
            let error = await #expect(throws: RelayError.self) {
                try await client.call(client.identity.id, initializer: TestPipe.make)
            }
            #expect(error?.code == .timedOut)
            #expect(error?.message == "The relay 127.0.0.1:\(port) did not answer within 1 second.")
            let answering = await #expect(throws: RelayError.self) {
                let invitation = RelayInvitation(from: client.identity.id, key: [1])
                return try await client.answer(invitation, initializer: TestPipe.make)
            }
            #expect(answering?.code == .timedOut)
        }
    }

    @Test("A server with TLS that is no relay is refused")
    func otherServer() async throws {
        try await withTLSTestHost(answer: { _, _ in [.json(400, "{}")] }) { host in
            let client = try makeClient(#require(RelayAddress(name: "127.0.0.1", port: host.port)))
            let error = await #expect(throws: RelayError.self) {
                try await client.call(client.identity.id, initializer: TestPipe.make)
            }
            #expect(error?.code == .badMessage || error?.code == .closed)
        }
    }

    @Test("A server without TLS is no relay")
    func plainServer() async throws {
        let serve: @Sendable (any Channel) async -> Void = { channel in
            try? await channel.writeAndFlush(ByteBuffer(string: "SSH-2.0-OpenSSH_9.2\r\n")).get()
            try? await channel.closeFuture.get()
        }
        try await withListener(accept: { $0 }, serve: serve) { port in
            let client = try makeClient(#require(RelayAddress(name: "127.0.0.1", port: port)))
            let error = await #expect(throws: RelayError.self) {
                try await client.call(client.identity.id, initializer: TestPipe.make)
            }
            #expect(error?.code == .badMessage)
        }
    }

    private func withSilentListener(_ body: (_ port: Int) async throws -> Void) async throws {
        try await withListener(
            accept: { $0 },
            serve: { try? await $0.closeFuture.get() },
            body
        )
    }
}
