import CompanionWire
import FoundationEssentials
import Testing

@Suite("Requests for approval on the wire")
struct ApprovalTests {
    private let question = Approval(
        id: "q",
        chatId: "c",
        turnId: "t",
        title: "Run “it”",
        kind: "execute",
        options: [ApprovalOption(id: "y", name: "Yes", kind: .allowOnce)],
        askedAt: Date(timeIntervalSince1970: 1_800_000_000),
        expiresAt: Date(timeIntervalSince1970: 1_800_001_800),
        state: .approved,
        option: "y",
        decidedBy: "Laptop"
    )

    @Test("A question is read as it was written, and an option of an unknown kind is another one")
    func roundTrip() throws {
        let json = try CompanionJSON.encoder(sorted: true).encode(question)
        #expect(
            String(decoding: json, as: UTF8.self)
                == #"{"askedAt":"2027-01-15T08:00:00.000Z","chatId":"c","decidedBy":"Laptop","expiresAt":"2027-01-15T08:30:00.000Z","id":"q","kind":"execute","option":"y","options":[{"id":"y","kind":"allow_once","name":"Yes"}],"state":"approved","title":"Run “it”","turnId":"t"}"#
        )
        #expect(try CompanionJSON.decoder().decode(Approval.self, from: json) == question)
        let other = #"{"id":"s","name":"Session","kind":"allow_session"}"#
        let option = try JSONDecoder().decode(ApprovalOption.self, from: Data(other.utf8))
        #expect(option.kind == .other && option.kind.mayLast && !option.kind.isRefusal)
    }

    @Test(
        "Members of a daemon's request are no members of a host's, and a state that the protocol does not have is none"
    )
    func strict() throws {
        let json = String(decoding: try CompanionJSON.encoder().encode(question), as: UTF8.self)
        func read(_ replaced: String, _ by: String) throws -> Approval {
            let text = json.replacing(replaced, with: by)
            return try CompanionJSON.decoder().decode(Approval.self, from: Data(text.utf8))
        }
        #expect(try read(#""id":"q""#, #""id":"q","reason":{"a":1},"requestedBy":[2],"details":"text""#) == question)
        #expect(throws: DecodingError.self) { try read(#""approved""#, #""pending""#) }
        #expect(throws: DecodingError.self) { try read(#""options":"#, #""others":"#) }
        var decoder = ContinueChatStreamDecoder()
        let frame = TurnFrames.encode(.question(ApprovalNotice(.decided, of: question)))
            .replacing(#""approved""#, with: #""superseded""#)
        guard case .event(.question(let notice))? = try decoder.feed(frame.utf8).first else {
            throw DecodingError.valueNotFound(Approval.self, .init(codingPath: [], debugDescription: frame))
        }
        #expect(notice.state == .interrupted)
    }

    @Test("The frames about a question are read as they were written", arguments: ApprovalNotice.Phase.allCases)
    func frames(phase: ApprovalNotice.Phase) throws {
        let event = TurnEvent.question(ApprovalNotice(phase, of: question))
        let frame = TurnFrames.encode(event)
        #expect(frame.hasPrefix(#"data: {"type":"approval_"#))
        var decoder = ContinueChatStreamDecoder()
        #expect(try decoder.feed(frame.utf8) == [.event(event)])
    }

    @Test("A frame about a question without its id is unknown")
    func noID() throws {
        var decoder = ContinueChatStreamDecoder()
        let frame = "data: {\"type\":\"approval_asked\",\"title\":\"x\"}\n\n"
        #expect(try decoder.feed(frame.utf8) == [.event(.unknown(type: "approval_asked"))])
    }
}
