import AsyncHTTPClient
import CompanionHost
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import NIOCore
import NIOHTTP1
import Testing

@Suite("Peers that hold connections open", .timeLimit(.minutes(15)))
struct SlowPeerTests {
    private static let slowBody =
        "POST /companion/pairing/complete HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        + "Content-Length: 5000\r\n\r\n{"

    /// What a TLS handshake begins with, and no more of it.
    private static let slowHandshake: [UInt8] = [22, 3, 1, 2, 0, 1]

    @Test("Slow bodies of one address do not keep a client of another, or of the same, from being served")
    func bodies() async throws {
        try await withHost {
            $0.connections.bodiesPerAddress = 4
        } _: { host in
            let peers = try (0..<12).map { _ in try HeldConnection(port: host.port) }
            for peer in peers { peer.send(Self.slowBody) }
            for address in ["127.0.0.2", "127.0.0.1"] {
                #expect(try await host.raw("GET", "/health", from: address).status == 200)
            }
            // The address has what it may have, and lost the rest.
            try await eventually { ended(peers) == 8 }
            let start = try await host.raw("POST", "/companion/pairing/start", body: "{}")
            #expect(start.status == 200, "a body that comes whole is never slow: \(start.body)")
            #expect(ended(peers) == 8)
        }
    }

    @Test("At the host's total the oldest idle connections give way to a client of another address")
    func idle() async throws {
        try await withHost {
            $0.connections.total = 6
        } _: { host in
            var peers: [HeldConnection] = []
            for _ in 0..<6 {
                let peer = try HeldConnection(port: host.port)
                peers.append(peer)
                // It has been let in when it is answered, and is idle then.
                peer.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                try await host.waitForAnswer(on: peer)
            }
            #expect(try await host.raw("GET", "/health", from: "127.0.0.2").status == 200)
            try await eventually { peers[0].isEnded }
            #expect(ended(Array(peers.dropFirst())) == 0)
        }
    }

    @Test("An address at its cap loses its own connections, and others keep theirs")
    func perAddress() async throws {
        try await withHost {
            $0.connections.perAddress = 4
        } _: { host in
            let other = try HeldConnection(port: host.port, from: "127.0.0.2")
            other.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            try await host.waitForAnswer(on: other)
            let peers = try (0..<10).map { _ in try HeldConnection(port: host.port) }
            try await eventually { ended(peers) == 6 }
            #expect(!other.isEnded)
            other.send("GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            let answer = try await blocking { other.readToEnd() }
            #expect(answer.hasPrefix("HTTP/1.1 200"))
        }
    }

    @Test("Handshakes that do not go on end, the oldest first, and a device is served over HTTPS meanwhile")
    func handshakes() async throws {
        let clock = TestClock()
        try await withHostAndDevice(connectionClock: clock.hostClock) {
            $0.connections.handshakesPerAddress = 4
        } _: { host, device in
            let peers = try (0..<10).map { _ in try HeldConnection(port: host.tlsPort) }
            for peer in peers { peer.send(Self.slowHandshake) }
            try await eventually { ended(peers) == 6 }
            var other = device
            other.address = "127.0.0.2"
            #expect(try await other.get("/health").status == 200)
            // The same address is served too: its handshake takes no longer than it has to.
            #expect(try await device.get("/health").status == 200)
            try await eventually {
                clock.advance(by: 2)
                return ended(peers) == 10
            }
        }
    }

    @Test("A head and a body that come a byte at a time are answered with 408 when their time is over")
    func deadlines() async throws {
        let clock = TestClock()
        try await withHost(connectionClock: clock.hostClock) { host in
            for beginning in ["GET /health HTTP/1.1\r\nX: ", Self.slowBody] {
                let peer = try HeldConnection(port: host.port)
                peer.send(beginning)
                let done = Flag()
                async let answer = blocking {
                    defer { done.set() }
                    return peer.readToEnd()
                }
                var bytes = 0
                try await eventually {
                    // Fewer than would make it whole.
                    if bytes < 1000 { peer.send(" ") }
                    bytes += 1
                    clock.advance(by: 2)
                    return done.isSet
                }
                let text = try await answer
                #expect(text.hasPrefix("HTTP/1.1 408 "), "\(text)")
                #expect(try Reply(http: text).error != nil)
            }
            #expect(try await host.raw("GET", "/health").status == 200)
        }
    }

    @Test("A paired device's body is not pushed aside by the slow bodies of strangers at its own address")
    func deviceAmongStrangers() async throws {
        try await withHostAndDevice {
            $0.connections.bodiesPerAddress = 4
        } _: { host, device in
            try await device.pair()
            // From here on its connection is a device's.
            #expect(try await device.get("/companion/projects").status == 200)
            let filler = String(repeating: "x", count: 20_000)
            let body = Array(#"{"prompt":"help","model":"builtin","a":"\#(filler)"}"#.utf8)
            let (parts, source) = AsyncStream.makeStream(of: ByteBuffer.self)
            var request = HTTPClientRequest(url: "https://127.0.0.1:\(host.tlsPort)/companion/chats/c/continue")
            request.method = .POST
            request.headers.add(name: ProtocolVersion.header, value: "2")
            request.headers.add(name: "Authorization", value: "Bearer \(device.token ?? "")")
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .stream(parts, length: .known(Int64(body.count)))
            source.yield(ByteBuffer(bytes: body[..<10_000]))
            async let response = { [http = device.http, request] in
                try await http.execute(request, timeout: .seconds(60))
            }()
            let peers = try (0..<12).map { _ in try HeldConnection(port: host.port) }
            for peer in peers { peer.send(Self.slowBody) }
            try await eventually { ended(peers) >= 8 }
            source.yield(ByteBuffer(bytes: body[10_000...]))
            source.finish()
            #expect(try await response.status == .ok)
        }
    }
}

extension TestHost {
    /// Waits until an answer has come.
    fileprivate func waitForAnswer(on connection: HeldConnection) async throws {
        try await eventually { connection.hasMore }
    }
}
