import CDBus
import FoundationEssentials
import Logging
import NIOCore
import NIOEmbedded
import NIOWebSocket

@testable import CompanionClient
@testable import CompanionWire
@testable import DBus
@testable import Discovery
@testable import Relay

extension Target {
    func feedDNS(_ bytes: [UInt8]) {
        var reader = DNSReader(bytes)
        let record = TXTRecord(strings: reader.strings())
        precondition(record.advertisedID.map { $0.utf8.count == 16 } ?? true)
        guard let response = DNSResponse(bytes) else { return }
        for service in response.services.values {
            // A name that was read can be asked for.
            precondition(service.target.wire != nil && (0...65535).contains(service.port))
            _ = service.target.text
        }
        for addresses in response.addresses.values {
            precondition(addresses.allSatisfy { $0.count == 4 || $0.count == 16 })
        }
        for strings in response.texts.values { _ = TXTRecord(strings: strings) }
        var known = response
        known.learn(response, limit: 16)
    }

    func feedDBus(_ bytes: [UInt8]) {
        let message = bytes.withUnsafeBytes { bytes in
            dbus_message_demarshal(bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count), nil)
        }
        guard let message else { return }
        defer { dbus_message_unref(message) }
        _ = DBusMessage(message)
    }

    /// A relay's messages in pieces, to a host, a device and whoever waits for a pipe.
    func feedRelay(_ bytes: [UInt8]) {
        var decoder = RelayMessageDecoder(relay: "relay")
        var join = RelayJoin(relay: "relay")
        var opening = RelaySessionOpening(key: [1], relay: "relay")
        (_, _) = (join.handle(.connected), opening.handle(.connected))
        let size = Int(bytes.last ?? 0) + 1
        var found: [RelayMessage] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            let piece = bytes[start..<min(start + size, bytes.count)]
            _ = opening.handle(.received(Array(piece)))
            decoder.append(piece)
            while let message = try? decoder.next() { found.append(message) }
        }
        for message in found {
            var again = RelayMessageDecoder(relay: "relay")
            again.append(message.bytes)
            precondition((try? again.next()) == message)
            _ = join.handle(.message(message))
            if case .sessionInvitation(let invitation) = message {
                var call = RelayCall(to: invitation.invitation.from, relay: "relay")
                (_, _) = (call.handle(.connected), call.handle(.message(message)))
            }
        }
    }

    func feedLumi(_ bytes: [UInt8]) {
        let channel = EmbeddedChannel(handler: ByteToMessageHandler(LumiFrameDecoder()))
        let inbox = LumiInbox(logger: Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() })
        do {
            try channel.pipeline.syncOperations.addHandler(inbox)
            try channel.writeInbound(ByteBuffer(bytes: bytes))
        } catch {}
        _ = try? channel.finish(acceptAlreadyClosed: true)
    }

    /// Each line is a frame. The turn has asked for a session already.
    func feedAICLI(_ bytes: [UInt8]) {
        var turn = AICLITurn(prompt: "hello", workingDirectory: "/w", session: nil, allowedTools: nil)
        let moment = AICLITurn.Moment(date: Date(timeIntervalSince1970: 0), elapsed: .zero)
        (_, _) = (turn.handle(.begin, at: moment), turn.handle(.opened(connection: 1), at: moment))
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            guard let frame = AICLIFrame(json: line) else { continue }
            for action in turn.handle(.frame(frame, connection: 1), at: moment) {
                if case .ask(let request) = action {
                    _ = turn.handle(.permission(request, answer: request.options.first), at: moment)
                }
            }
        }
        _ = turn.handle(.closed(AICLIClosure(code: 1006), connection: 1), at: moment)
    }

    func feedWebSocket(_ bytes: [UInt8]) {
        let longest = 4096
        let channel = EmbeddedChannel(
            handlers: [
                ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: longest)),
                WebSocketOpening.makeAggregator(longest), WebSocketMonitor(),
            ]
        )
        defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
        _ = try? channel.writeInbound(ByteBuffer(bytes: bytes))
        while let frame = (try? channel.readInbound(as: WebSocketFrame.self)) ?? nil {
            precondition(frame.length <= longest && frame.opcode != .continuation)
            _ = try? CompanionJSON.decode(LiveEvent.self, fromPeer: .init(frame.unmaskedData.readableBytesView))
        }
    }
}
