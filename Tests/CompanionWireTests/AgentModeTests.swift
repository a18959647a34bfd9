import CompanionWire
import FoundationEssentials
import Testing

@Suite("The mode of an agent on the wire")
struct AgentModeTests {
    private func json(_ value: some Encodable) throws -> String {
        String(decoding: try CompanionJSON.encoder(sorted: true).encode(value), as: UTF8.self)
    }

    private func decode<T: Decodable>(_ type: T.Type, _ json: String) throws -> T {
        try CompanionJSON.decoder().decode(type, from: Data(json.utf8))
    }

    private let date = Date(timeIntervalSince1970: 1_795_253_400)
    private let mode = AgentMode("bypass permissions")

    @Test("It is a text that is read as it was written, and left out where it is not known")
    func roundTrip() throws {
        var chat = CompanionChat(id: "c", projectId: "p", title: "t", lastUpdatedAt: nil, mode: mode)
        let written = try json(chat)
        #expect(written == #"{"id":"c","mode":"bypass permissions","projectId":"p","title":"t"}"#)
        #expect(try decode(CompanionChat.self, written) == chat)
        chat.mode = nil
        let without = try json(chat)
        #expect(without == #"{"id":"c","projectId":"p","title":"t"}"#)
        #expect(try decode(CompanionChat.self, without) == chat)
        let event = LiveEvent(.turnStarted, at: date, chatId: "c", turnId: "t", mode: mode)
        let sent = try json(event)
        #expect(sent.contains(#""mode":"bypass permissions""#))
        #expect(try decode(LiveEvent.self, sent) == event)
    }

    @Test("Only the notice that a question was asked has it")
    func notices() throws {
        let question = Approval(
            id: "q",
            chatId: "c",
            turnId: "t",
            title: "Run it",
            kind: "execute",
            options: [],
            askedAt: date,
            expiresAt: date,
            mode: mode
        )
        for phase in ApprovalNotice.Phase.allCases {
            let frame = TurnFrames.encode(.question(ApprovalNotice(phase, of: question)))
            #expect(frame.contains(#""mode":"bypass permissions""#) == (phase == .asked))
            var decoder = ContinueChatStreamDecoder()
            #expect(try decoder.feed(frame.utf8) == [.event(.question(ApprovalNotice(phase, of: question)))])
        }
    }

    @Test(
        "What is no name of a mode is none, and the rest is read",
        arguments: ["7", "null", #""""#, #"" \n ""#, #"{"id":"x"}"#]
    )
    func strange(value: String) throws {
        let chat = try decode(CompanionChat.self, #"{"id":"c","mode":\#(value)}"#)
        #expect(chat.id == "c" && chat.mode == nil)
        let event = try decode(
            LiveEvent.self,
            #"{"type":"turn.started","at":"2026-11-21T09:30:00.000Z","chatId":"c","mode":\#(value)}"#
        )
        #expect(event.chatId == "c" && event.mode == nil)
        var decoder = ContinueChatStreamDecoder()
        let outputs = try decoder.feed("data: {\"type\":\"agent_mode\",\"name\":\(value)}\n\n".utf8)
        #expect(outputs == [.event(.unknown(type: "agent_mode"))])
    }

    @Test("Lone halves of surrogate pairs in a notice become U+FFFD")
    func loneSurrogates() throws {
        var decoder = ContinueChatStreamDecoder()
        let frame = #"{"type":"approval_asked","approvalId":"q","title":"t\ud83d","kind":"k\ud83d","mode":"m\ud83d"}"#
        let outputs = try decoder.feed("data: \(frame)\n\n".utf8)
        let notice = ApprovalNotice(
            .asked,
            id: "q",
            title: "t\u{FFFD}",
            kind: "k\u{FFFD}",
            state: .open,
            mode: AgentMode("m\u{FFFD}")
        )
        #expect(outputs == [.event(.question(notice))])
    }

    @Test("A name is one line")
    func line() {
        #expect(AgentMode(" x\nThe agent continues.\u{2028}")?.name == "x The agent continues.")
    }

    @Test("A long name is cut")
    func long() throws {
        let name = String(repeating: "é", count: 100_000)
        let chat = try decode(CompanionChat.self, #"{"id":"c","mode":"\#(name)"}"#)
        let mode = try #require(chat.mode)
        #expect(mode.name.unicodeScalars.count == AgentMode.maximumLength)
        var decoder = ContinueChatStreamDecoder()
        let outputs = try decoder.feed("data: {\"type\":\"agent_mode\",\"name\":\"\(name)\"}\n\n".utf8)
        #expect(outputs == [.event(.mode(mode))])
    }
}
