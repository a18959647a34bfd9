import CompanionTestSupport
import CompanionWire
import NIOCore
import NIOPosix
import NIOSSL
import Testing

@testable import CompanionHost

@Suite("What comes to a port that is no request", .timeLimit(.minutes(15)))
struct ConnectionNoiseTests {
    @Test(
        "Plain HTTP at the port of HTTPS is told that it is",
        arguments: ["GET /health HTTP/1.1\r\n", "PRI * HTTP/2.0"]
    )
    func plainHTTP(beginning: String) async throws {
        try await withHost { host in
            let port = host.tlsPort
            let answer = try await blocking {
                let connection = try HeldConnection(port: port)
                connection.send(beginning)
                connection.send("Host: localhost\r\n\r\n")
                return connection.readToEnd()
            }
            let reply = try Reply(http: answer)
            #expect(reply.status == 400 && reply.header("connection") == "close")
            #expect(reply.error?.contains("https://") == true)
        }
    }

    @Test(
        "Bytes that are neither TLS nor HTTP end the connection at once",
        arguments: [[0], [0x80, 0x2e], [0xff, 0xfb]]
    )
    func garbage(bytes: [UInt8]) async throws {
        // For this host no time passes: no limit ends the connection.
        try await withHost(connectionClock: TestClock().hostClock) { host in
            let port = host.tlsPort
            let answer = try await blocking {
                let connection = try HeldConnection(port: port)
                connection.send(bytes)
                return connection.readToEnd()
            }
            #expect(answer.isEmpty)
        }
    }

    @Test("A handshake that goes wrong ends the connection at once")
    func badHandshake() async throws {
        // For this host no time passes: no limit ends the connection.
        try await withHost(connectionClock: TestClock().hostClock) { host in
            let port = host.tlsPort
            try await blocking {
                let connection = try HeldConnection(port: port)
                connection.send([22, 3, 1, 0, 4, 1, 2, 3, 4])
                _ = connection.readToEnd()
            }
        }
    }

    @Test(
        "A first request within TLS that is none is 400 and the end, as it is at the port of HTTP",
        arguments: ["GARBAGE\r\n\r\n", "\u{1}\u{2}\u{3}\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET /\r\nhost\r\n\r\n"]
    )
    func withinTLS(request: String) async throws {
        try await withHost { host in
            let port = host.port
            let plain = try await blocking {
                let connection = try HeldConnection(port: port)
                connection.send(request)
                return connection.readToEnd()
            }
            let secure = try await host.exchangeOverTLS(request)
            for answer in [plain, secure] {
                let reply = try Reply(http: answer)
                #expect(reply.status == 400 && reply.header("connection") == "close", "\(answer)")
            }
        }
    }

    @Test("The log has one line a peer and minute for all of that, and says how many were left out")
    func log() async throws {
        let clock = TestClock()
        let log = CollectedLog()
        try await withHost(connectionClock: clock.hostClock, logger: log.logger) { host in
            let (port, plainPort) = (host.tlsPort, host.port)
            let send: @Sendable (String, Int, String) async throws -> Void = { text, port, address in
                _ = try await blocking {
                    let connection = try HeldConnection(port: port, from: address)
                    connection.send(text)
                    return connection.readToEnd()
                }
            }
            for _ in 0..<3 { try await send("\u{1}", port, "127.0.0.1") }
            try await send("GET / HTTP/1.1\r\n\r\n", port, "127.0.0.1")
            try await send("GARBAGE\r\n\r\n", plainPort, "127.0.0.1")
            try await send("\u{1}", port, "127.0.0.2")
            let first = log.lines("host", "refused")
            #expect(first.map { $0.metadata["peer"] } == ["127.0.0.1", "127.0.0.2"])
            #expect(first.map { $0.metadata["left out"] } == ["0", "0"])
            // A minute later it is said what was left out, with the next line or without one.
            clock.advance(by: PeerLogLimiter.interval)
            try await send("\u{1}", port, "127.0.0.1")
            try await eventually { log.lines("host", "refused").contains { $0.metadata["left out"] != "0" } }
            let later = log.lines("host", "refused").dropFirst(2).filter { $0.metadata["left out"] != "0" }
            #expect(later.map { $0.metadata["peer"] } == ["127.0.0.1"], "\(log.lines("host", "refused"))")
            #expect(later.map { $0.metadata["left out"] } == ["4"])
            #expect(log.lines.allSatisfy { !$0.description.contains("GARBAGE") })
        }
    }
}

extension TestHost {
    /// Sends bytes within TLS.
    ///
    /// - Returns: All that comes until the host ends the connection.
    fileprivate func exchangeOverTLS(_ text: String) async throws -> String {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates([certificate])
        tls.certificateVerification = .noHostnameVerification
        let context = try NIOSSLContext(configuration: tls)
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: tlsPort) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        NIOSSLClientHandler(context: context, serverHostname: nil)
                    )
                    return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: text))
            var answer = ByteBuffer()
            do {
                for try await var part in inbound { answer.writeBuffer(&part) }
            } catch {}
            return String(buffer: answer)
        }
    }
}
