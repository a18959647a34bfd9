import CompanionWire
import Testing

@testable import Relay

@Suite("Messages of the relay protocol")
struct RelayMessageTests {
    @Test("What was recorded is written the same, and read byte by byte", arguments: RecordedRelay.messages)
    func recorded(message: RecordedRelay.Message) throws {
        #expect(message.message.bytes == message.bytes)
        var decoder = RelayMessageDecoder(relay: "r:1")
        for byte in message.bytes.dropLast() {
            decoder.append([byte])
            #expect(try decoder.next() == nil)
        }
        decoder.append(message.bytes.suffix(1))
        #expect(try decoder.next() == message.message)
        #expect(try decoder.next() == nil)
        #expect(decoder.takeRest().isEmpty)
    }

    @Test("Messages in a row are found wherever the pieces are cut")
    func pieces() throws {
        let all = RecordedRelay.messages.flatMap(\.bytes)
        for size in [1, 2, 3, 7, 11, 12, 13, 64, all.count] {
            var decoder = RelayMessageDecoder(relay: "r:1")
            var found: [RelayMessage] = []
            for start in stride(from: 0, to: all.count, by: size) {
                decoder.append(all[start..<min(start + size, all.count)])
                while let message = try decoder.next() { found.append(message) }
            }
            #expect(found == RecordedRelay.messages.map(\.message))
        }
    }

    @Test("The token of newer relays is tolerated in a request to join")
    func token() throws {
        var decoder = RelayMessageDecoder(relay: "r:1")
        decoder.append(message(type: 2, body: "00000005746f6b656e000000"))
        decoder.append(message(type: 2, body: "00000000"))
        #expect(try decoder.next() == .joinRelayRequest)
        #expect(try decoder.next() == .joinRelayRequest)
    }

    @Test("Codes of newer relays are read")
    func codes() throws {
        var decoder = RelayMessageDecoder(relay: "r:1")
        decoder.append(message(type: 4, body: "ffffffff00000000"))
        #expect(try decoder.next() == .response(RelayResponse(code: -1, text: [])))
    }

    struct WrongBody: Sendable {
        let type: UInt32
        let body: String

        init(_ type: UInt32, _ body: String) { (self.type, self.body) = (type, body) }
    }

    private static let zeros = String(repeating: "00", count: 32)

    static let wrongBodies: [WrongBody] = [
        WrongBody(0, "00000000"),
        WrongBody(1, "00"),
        WrongBody(7, "00000000"),
        WrongBody(2, "000000"),
        WrongBody(2, "00000001"),
        WrongBody(2, "0000000161000000ff"),
        WrongBody(2, "000000016100000000000000"),
        WrongBody(3, ""),
        WrongBody(3, "00000020"),
        WrongBody(3, "0000000161"),
        WrongBody(3, "0000000161000001"),
        WrongBody(3, "000000016100000000"),
        WrongBody(3, "ffffffff"),
        WrongBody(3, "00000021\(zeros)00000000"),
        WrongBody(4, ""),
        WrongBody(4, "00000000"),
        WrongBody(4, "0000000000000004616263"),
        WrongBody(4, "00000000000000036162630000"),
        WrongBody(4, "0000000080000000"),
        WrongBody(4, "00000000fffffffd"),
        WrongBody(4, "000000000000000161ffffff"),
        WrongBody(5, ""),
        WrongBody(5, "00000000"),
        WrongBody(5, "0000001f\(zeros)"),
        WrongBody(5, "00000021\(zeros)00000000"),
        WrongBody(5, "00000020\(zeros)00"),
        WrongBody(6, ""),
        WrongBody(6, "00000020\(zeros)"),
    ]

    @Test("A body that is not exactly one of its type is refused", arguments: wrongBodies)
    func wrong(wrong: WrongBody) {
        expectRefusal(of: message(type: wrong.type, body: wrong.body))
    }

    @Test("A recorded message that is one byte shorter or longer inside is refused", arguments: RecordedRelay.messages)
    func lengths(recorded: RecordedRelay.Message) {
        let body = Array(recorded.bytes.dropFirst(12))
        guard case .joinRelayRequest = recorded.message else {
            expectRefusal(of: message(type: UInt32(recorded.bytes[7]), bytes: body + [0]))
            expectRefusal(of: message(type: UInt32(recorded.bytes[7]), bytes: body + [0, 0, 0, 0]))
            if !body.isEmpty { expectRefusal(of: message(type: UInt32(recorded.bytes[7]), bytes: body.dropLast())) }
            return
        }
    }

    @Test("An invitation whose last word is neither true nor false, or without a key, is refused")
    func invitation() throws {
        let recorded = try #require(RecordedRelay.messages.first { $0.name == "SessionInvitation to the host" })
        expectRefusal(of: recorded.bytes.dropLast() + [2])
        let from = Array(recorded.bytes[12..<48])
        expectRefusal(of: message(type: 6, bytes: from + [UInt8](repeating: 0, count: 16)))
    }

    @Test("Something else is refused with its first wrong byte")
    func early() {
        let cases: [[UInt8]] = [
            Array("H".utf8), [0x9E, 0x79, 0xBC, 0x41], RecordedRelay.bytes("9e79bc4000000008"),
            RecordedRelay.bytes("9e79bc4001000000"), RecordedRelay.bytes("9e79bc400000000400000401"),
            RecordedRelay.bytes("9e79bc4000000004ffffffff"),
        ]
        for bytes in cases {
            expectRefusal(of: bytes)
            var decoder = RelayMessageDecoder(relay: "r:1")
            decoder.append(bytes.dropLast(bytes.count > 4 ? 4 : 1))
            #expect(throws: Never.self) { _ = try decoder.next() }
        }
    }

    @Test("1 KiB of body is read, one byte more is not")
    func longest() throws {
        let text = [UInt8](repeating: 0x61, count: 1016)
        var decoder = RelayMessageDecoder(relay: "r:1")
        let longest = RelayMessage.response(RelayResponse(code: 99, text: text))
        #expect(longest.bytes.count == 12 + 1024)
        decoder.append(longest.bytes)
        #expect(try decoder.next() == longest)
        expectRefusal(of: RelayMessage.response(RelayResponse(code: 99, text: text + [0x61])).bytes)
    }

    @Test("After an error it throws again, whatever comes")
    func again() {
        var decoder = RelayMessageDecoder(relay: "r:1")
        decoder.append(Array("HTTP/1.1 400 Bad Request\r\n".utf8))
        for _ in 0..<3 {
            #expect(throws: RelayError.self) { try decoder.next() }
            decoder.append(RelayMessage.ping.bytes)
        }
    }

    @Test("10,000 changed recordings are read or refused, and what is read is written back the same")
    func mutations() {
        var dice = Dice(seed: 7)
        for _ in 0..<10_000 {
            var bytes = (0...dice.roll(3)).flatMap { _ in
                RecordedRelay.messages[dice.roll(RecordedRelay.messages.count)].bytes
            }
            for _ in 0...dice.roll(4) where !bytes.isEmpty { change(&bytes, with: &dice) }
            var decoder = RelayMessageDecoder(relay: "r:1")
            var (read, rest) = ([UInt8](), bytes[...])
            var isRefused = false
            while !rest.isEmpty, !isRefused {
                let piece = rest.prefix(1 + dice.roll(64))
                rest = rest.dropFirst(piece.count)
                decoder.append(piece)
                do {
                    while let message = try decoder.next() { read += message.bytes }
                } catch {
                    #expect(error.code == .badMessage)
                    isRefused = true
                }
            }
            // A token is not kept, so it is not written back.
            if !isRefused, !bytes.hasToken { #expect(read + decoder.takeRest() == bytes) }
        }
    }

    private func change(_ bytes: inout [UInt8], with dice: inout Dice) {
        let place = dice.roll(bytes.count)
        switch dice.roll(5) {
        case 0: bytes[place] ^= 1 << UInt8(dice.roll(8))
        case 1: bytes[place] = [0, 1, 0x7F, 0x80, 0xFF][dice.roll(5)]
        case 2: bytes.insert(UInt8(dice.roll(256)), at: place)
        case 3: bytes.removeSubrange(place..<min(bytes.count, place + 1 + dice.roll(8)))
        default: bytes.replaceSubrange(place..<place, with: dice.bytes(1 + dice.roll(64)))
        }
    }

    private func message(type: UInt32, body: String) -> [UInt8] {
        message(type: type, bytes: RecordedRelay.bytes(body))
    }

    private func message(type: UInt32, bytes: some Collection<UInt8>) -> [UInt8] {
        var header = XDRWriter()
        header.write(type)
        header.write(UInt32(bytes.count))
        return RelayMessage.magic + header.bytes + bytes
    }

    private func expectRefusal(of bytes: [UInt8], location: SourceLocation = #_sourceLocation) {
        var decoder = RelayMessageDecoder(relay: "r:1")
        decoder.append(bytes)
        let error = #expect(throws: RelayError.self, sourceLocation: location) { try decoder.next() }
        #expect(error?.code == .badMessage, sourceLocation: location)
        #expect(error?.message.contains("r:1") == true, sourceLocation: location)
    }
}

extension [UInt8] {
    /// Whether a request to join with a body is in it.
    fileprivate var hasToken: Bool {
        indices.contains { place in
            let rest = self[place...]
            return rest.starts(with: RelayMessage.magic + [0, 0, 0, 2])
                && !rest.dropFirst(8).prefix(4).allSatisfy { $0 == 0 }
        }
    }
}
