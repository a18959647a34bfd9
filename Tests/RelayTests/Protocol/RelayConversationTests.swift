import CompanionWire
import Testing

@testable import Relay

@Suite("Conversations with a relay, without a connection")
struct RelayConversationTests {
    private static let host = RecordedRelay.id(RecordedRelay.host)
    private static let invitation = RelayInvitation(from: host, key: [1, 2, 3])

    private static func response(_ code: Int32, _ text: String = "") -> RelayEvent {
        .message(.response(RelayResponse(code: code, text: Array(text.utf8))))
    }

    private static let invited = RelayEvent.message(
        .sessionInvitation(
            RelaySessionInvitation(invitation: invitation, address: [192, 0, 2, 1], port: 9, isServer: true)
        )
    )

    @Test("A host joins, answers pings, and is told who calls")
    func join() {
        var join = RelayJoin(relay: "r:1")
        #expect(words(join.handle(.connected)) == ["send 2"])
        #expect(words(join.handle(Self.response(0, "success"))) == ["joined"])
        #expect(words(join.handle(.message(.ping))) == ["send 1"])
        #expect(words(join.handle(Self.invited)) == ["invited 010203"])
        #expect(words(join.handle(.message(.pong))) == ["ponged"])
        #expect(words(join.handle(.message(.relayFull))) == ["full"])
        for event in [RelayEvent.message(.ping), .connected, .silence] { #expect(join.handle(event).isEmpty) }
    }

    @Test(
        "A host that may not join learns why",
        arguments: [
            (response(2, "already connected"), "already_connected"), (response(99, "internal error"), "refused"),
            (response(1, "not found"), "refused"), (response(-1), "refused"), (.message(.relayFull), "full"),
            (.message(.pong), "ponged"), (.message(.ping), "send 1"), (invited, "bad_message"),
            (.message(.joinRelayRequest), "bad_message"), (.message(.joinSessionRequest(key: [1])), "bad_message"),
            (.message(.connectRequest(host)), "bad_message"),
        ]
    )
    func refusedJoin(event: RelayEvent, word: String) {
        var join = RelayJoin(relay: "r:1")
        _ = join.handle(.connected)
        #expect(words(join.handle(event)) == [word])
    }

    @Test(
        "A host that has joined leaves where the relay says what it must not",
        arguments: [
            (response(0), "bad_message"), (response(100, "unexpected message"), "refused"),
            (.message(.joinRelayRequest), "bad_message"), (.message(.connectRequest(host)), "bad_message"),
        ]
    )
    func unexpected(event: RelayEvent, word: String) {
        var join = RelayJoin(relay: "r:1")
        _ = join.handle(.connected)
        _ = join.handle(Self.response(0))
        #expect(words(join.handle(event)) == [word])
    }

    @Test("Nothing may come before the host has asked")
    func uninvited() {
        var join = RelayJoin(relay: "r:1")
        #expect(words(join.handle(Self.response(0))) == ["bad_message"])
        var call = RelayCall(to: Self.host, relay: "r:1")
        #expect(words(call.handle(Self.invited)) == ["bad_message"])
        var opening = RelaySessionOpening(key: [1], relay: "r:1")
        #expect(word(opening.handle(.received([0x9E]))) == "bad_message")
    }

    @Test("A silent relay is asked for a sign of life, and is lost when it gives none")
    func silence() {
        var join = RelayJoin(relay: "r:1")
        _ = join.handle(.connected)
        #expect(join.handle(.silence).isEmpty)
        _ = join.handle(Self.response(0))
        for event in [RelayEvent.message(.pong), .message(.ping), Self.invited] {
            #expect(words(join.handle(.silence)) == ["send 0"])
            #expect(join.handle(event).count == 1)
        }
        #expect(words(join.handle(.silence)) == ["send 0"])
        #expect(words(join.handle(.silence)) == ["timed_out"])
    }

    @Test(
        "A call ends with an invitation, or with the reason why there is none",
        arguments: [
            (invited, "invited 010203"), (response(1, "not found"), "not_found"),
            (.message(.relayFull), "full"), (response(2), "refused"), (response(99), "refused"),
            (response(0), "bad_message"), (.message(.pong), "bad_message"), (.message(.ping), "send 1"),
        ]
    )
    func call(event: RelayEvent, word: String) {
        var call = RelayCall(to: Self.host, relay: "r:1")
        #expect(words(call.handle(.connected)) == ["send 5"])
        #expect(call.handle(.silence).isEmpty && call.handle(.connected).isEmpty)
        #expect(words(call.handle(event)) == [word])
        #expect(event == .message(.ping) || call.handle(event).isEmpty)
    }

    @Test("An invitation to somebody else than was called is refused")
    func anotherHost() {
        var call = RelayCall(to: RecordedRelay.id(RecordedRelay.other), relay: "r:1")
        _ = call.handle(.connected)
        #expect(words(call.handle(Self.invited)) == ["bad_message"])
    }

    @Test("What follows the answer to a session's key belongs to the pipe, also where it looks like messages")
    func opening() throws {
        let answer = RelayMessage.response(RelayResponse(code: 0, text: Array("success".utf8))).bytes
        let early = RelayMessage.ping.bytes + [0x16, 3, 1]
        for cut in 0...(answer.count + early.count) {
            var opening = RelaySessionOpening(key: [7], relay: "r:1")
            guard case .send(.joinSessionRequest(key: [7]))? = opening.handle(.connected) else {
                Issue.record("no request")
                return
            }
            let all = answer + early
            var got: [UInt8]?
            for piece in [all[..<cut], all[cut...]] {
                // From the opening on, bytes go to the pipe.
                guard got == nil else { got? += piece; continue }
                if case .open(let first)? = opening.handle(.received(Array(piece))) { got = first }
            }
            #expect(got == early)
        }
    }

    @Test("What the other side has sent may overtake the relay's answer, and is put in order")
    func overtaken() throws {
        let answer = RelayMessage.response(RelayResponse(code: 0, text: Array("success".utf8))).bytes
        // Parts of it look like a message, or like the beginning of one.
        let lookalikes =
            [0x16, 3, 1, 0x9E, 0x79] + RelayMessage.ping.bytes + [0x9E] + answer.prefix(20) + [7, 0x9E, 0x79]
        for (before, after) in [(lookalikes, [1, 2]), ([0x16], answer), (lookalikes, [])] {
            let all = before + answer + after
            for size in [1, 5, 28, 64, all.count] {
                var opening = RelaySessionOpening(key: [7], relay: "r:1")
                _ = opening.handle(.connected)
                var got: [UInt8]?
                for start in stride(from: 0, to: all.count, by: size) {
                    let piece = Array(all[start..<min(start + size, all.count)])
                    guard got == nil else { got? += piece; continue }
                    switch opening.handle(.received(piece)) {
                    case nil: break
                    case .open(let early): got = early
                    case let other: Issue.record("\(word(other) ?? "")")
                    }
                }
                #expect(got == before + after)
            }
        }
    }

    @Test("A server that never answers, but sends and sends, is no relay")
    func endless() {
        for piece in [[UInt8](repeating: 0x9E, count: 1000), Array("SSH-2.0-OpenSSH_9.2\r\n".utf8)] {
            var opening = RelaySessionOpening(key: [7], relay: "r:1")
            _ = opening.handle(.connected)
            var sent = 0
            var action: RelaySessionOpening.Action?
            while action == nil, sent < 1 << 20 {
                action = opening.handle(.received(piece))
                sent += piece.count
            }
            #expect(word(action) == "bad_message" && sent <= (256 << 10) + 1000)
        }
    }

    @Test(
        "A pipe that cannot be opened",
        arguments: [
            (RelayMessage.response(RelayResponse(code: 1, text: [])).bytes, "session_lost"),
            (RelayMessage.response(RelayResponse(code: 2, text: [])).bytes, "session_lost"),
            (RelayMessage.response(RelayResponse(code: 100, text: [])).bytes, "refused"),
            (RelayMessage.relayFull.bytes, "bad_message"), (RelayMessage.ping.bytes, "bad_message"),
            (RecordedRelay.bytes("9e79bc4000000008"), "bad_message"),
            (RecordedRelay.bytes("9e79bc400000000400000401"), "bad_message"),
        ]
    )
    func refusedOpening(bytes: [UInt8], expected: String) {
        var opening = RelaySessionOpening(key: [7], relay: "r:1")
        _ = opening.handle(.connected)
        #expect(word(opening.handle(.received(bytes))) == expected)
        #expect(opening.handle(.received(bytes)) == nil && opening.handle(.connected) == nil)
    }

    @Test("The relay's words in an error are cut, on one line and without control characters")
    func relayText() {
        let text = "no\r\n\u{1B}[2J\u{202E}" + String(repeating: "é", count: 600)
        var join = RelayJoin(relay: "relay.example:443")
        _ = join.handle(.connected)
        guard case .fail(let error)? = join.handle(Self.response(99, text)).first else {
            Issue.record("it was not refused")
            return
        }
        let beginning = "The relay relay.example:443 refused the request with code 99, and says: no "
        #expect(error.message.begins(with: beginning))
        #expect(!TerminalText.isUnsafe(error.message) && error.message.utf8.count < 320)
        #expect("\(error)" == error.message)
    }

    private func words(_ actions: [RelayAction]) -> [String] {
        actions.map {
            switch $0 {
            case .send(let message): "send \(message.bytes[7])"
            case .joined: "joined"
            case .invited(let invitation): "invited \(invitation.key.hexText)"
            case .ponged: "ponged"
            case .fail(let error): "\(error.code)"
            }
        }
    }

    private func word(_ action: RelaySessionOpening.Action?) -> String? {
        switch action {
        case nil: nil
        case .send(let message): "send \(message.bytes[7])"
        case .open(let early): "open \(early.hexText)"
        case .fail(let error): "\(error.code)"
        }
    }
}
