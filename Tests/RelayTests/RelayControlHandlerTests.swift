import CompanionWire
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import NIOTLS
import Testing

@testable import Relay

@Suite("A conversation with a relay on a connection")
struct RelayControlHandlerTests {
    /// A host's connection on which TLS is up.
    private struct Connection {
        let channel = EmbeddedChannel()
        let reported = NIOLockedValueBox<[String]>([])

        init() throws {
            let reported = reported
            let handler = RelayControlHandler(RelayJoin(relay: "r:1"), relay: "r:1", silence: .seconds(60)) { action in
                reported.withLockedValue { $0.append(Self.word(action)) }
            }
            try channel.pipeline.syncOperations.addHandler(handler)
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
            channel.pipeline.fireUserInboundEventTriggered(TLSUserEvent.handshakeCompleted(negotiatedProtocol: nil))
        }

        func receive(_ message: RelayMessage) throws {
            try channel.writeInbound(ByteBuffer(bytes: message.bytes))
        }

        /// The types of the messages that were sent since the last time.
        func sentTypes() throws -> [UInt8] {
            var types: [UInt8] = []
            while let message = try channel.readOutbound(as: ByteBuffer.self) {
                types.append(message.getInteger(at: 7) ?? 255)
            }
            return types
        }

        func pass(seconds: Int64) { channel.embeddedEventLoop.advanceTime(by: .seconds(seconds)) }

        private static func word(_ action: RelayAction) -> String {
            switch action {
            case .send: "send"
            case .joined: "joined"
            case .invited: "invited"
            case .ponged: "ponged"
            case .fail(let error): "\(error.code)"
            }
        }
    }

    private static let success = RelayMessage.response(RelayResponse(code: 0, text: []))

    @Test("After a minute without a message the relay is pinged, after two it is lost")
    func silence() throws {
        let connection = try Connection()
        #expect(try connection.sentTypes() == [2])
        connection.pass(seconds: 30)
        try connection.receive(Self.success)
        connection.pass(seconds: 59)
        #expect(try connection.sentTypes() == [])
        connection.pass(seconds: 1)
        #expect(try connection.sentTypes() == [0])
        connection.pass(seconds: 59)
        try connection.receive(.pong)
        // Its own pings are enough.
        for _ in 0..<10 {
            connection.pass(seconds: 59)
            try connection.receive(.ping)
            #expect(try connection.sentTypes() == [1])
        }
        connection.pass(seconds: 60)
        #expect(try connection.sentTypes() == [0] && connection.channel.isActive)
        connection.pass(seconds: 59)
        #expect(connection.channel.isActive)
        connection.pass(seconds: 1)
        #expect(!connection.channel.isActive)
        #expect(connection.reported.withLockedValue(\.self) == ["joined", "ponged", "timed_out"])
    }

    @Test("Every connection ends with one failure, whatever ends it")
    func ends() throws {
        let ends: [(String, (Connection) throws -> Void)] = [
            ("closed", { try $0.channel.close().wait() }),
            ("closed", { $0.channel.pipeline.fireErrorCaught(ChannelError.inputClosed) }),
            ("full", { try $0.receive(.relayFull) }),
            ("bad_message", { try $0.channel.writeInbound(ByteBuffer(string: "HTTP/1.1 400")) }),
        ]
        for (word, end) in ends {
            let connection = try Connection()
            try end(connection)
            _ = try? connection.channel.finish()
            #expect(!connection.channel.isActive && connection.reported.withLockedValue(\.self) == [word])
        }
    }

    @Test("Behind the end nothing is read any more")
    func afterEnd() throws {
        let connection = try Connection()
        try connection.channel.writeInbound(
            ByteBuffer(bytes: [RelayMessage.relayFull, Self.success, .ping].flatMap(\.bytes))
        )
        #expect(connection.reported.withLockedValue(\.self) == ["full"])
        #expect(try connection.sentTypes() == [2])
    }
}
