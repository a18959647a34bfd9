import CompanionWire
import Testing

@testable import CompanionHost

/// Forms and pages of an agent, as messages.
@Suite("An agent's forms", .timeLimit(.minutes(15)))
struct ACPFormTests {
    /// A client in the middle of a prompt.
    private static func client() -> ACPClient {
        var client = ACPClient()
        _ = client.call(.prompt("go", session: "s"))
        _ = client.takeOutput()
        return client
    }

    private static func take(_ line: String, by client: inout ACPClient) -> [ACPClient.Event] {
        ACPMessage.all(in: Array(line.utf8)).flatMap { client.take($0) }
    }

    private static func output(of client: inout ACPClient) -> String {
        String(decoding: client.takeOutput(), as: UTF8.self)
    }

    private static func request(_ members: String) -> String {
        #"{"jsonrpc":"2.0","id":"f","method":"elicitation/create","params":{\#(members)}}"#
    }

    private static func form(_ properties: String, required: String = "") -> String {
        request(
            #""sessionId":"s","mode":"form","message":"Which?","requestedSchema":{"type":"object","properties":{\#(properties)},"required":[\#(required)]}"#
        )
    }

    private static func form(in events: [ACPClient.Event]) -> ACPForm? {
        events.lazy.compactMap { if case .form(let form) = $0 { form } else { nil } }.first
    }

    @Test("Every shape of a field is read, in the agent's order")
    func shapes() throws {
        var client = Self.client()
        let properties = """
            "z":{"type":"string","title":"Name","description":"Of the branch","minLength":1,"maxLength":9,"pattern":"^x","format":"email","default":"x@y"},\
            "n":{"type":"number","minimum":0.5,"maximum":2,"default":1.5},"i":{"type":"integer","default":99,"maximum":3},\
            "b":{"type":"boolean","default":true},"e":{"type":"string","enum":["a","b"]},\
            "o":{"type":"string","oneOf":[{"const":"a","title":"A","description":"first"},{"const":"b","title":"B"}]},\
            "l":{"type":"array","items":{"type":"string","enum":["p","q"]},"minItems":1,"maxItems":2,"default":["p"]},\
            "t":{"type":"array","items":{"anyOf":[{"const":"p","title":"P"}]}},"x":{"type":"matrix"}
            """
        let form = try #require(Self.form(in: Self.take(Self.form(properties, required: #""z","b""#), by: &client)))
        let fields = try #require(form.question.form).fields
        #expect(fields.map(\.name) == ["z", "n", "i", "b", "e", "o", "l", "t", "x"])
        #expect(fields.map(\.isRequired) == [true, false, false, true, false, false, false, false, false])
        #expect(fields[0].title == "Name" && fields[0].description == "Of the branch")
        #expect(fields[0].minLength == 1 && fields[0].maxLength == 9 && fields[0].pattern == "^x")
        #expect(fields[0].defaultValue == "x@y" && fields[1].defaultValue == .number(1.5))
        #expect(fields[2].defaultValue == nil, "one that breaks the form's own rules")
        #expect(fields[4].choices?.map(\.value) == ["a", "b"] && fields[5].choices?.first?.description == "first")
        #expect(fields[6].kind == .choices && fields[6].maxItems == 2 && fields[7].choices?.map(\.title) == ["P"])
        #expect(fields[8].kind == .unknown && form.question.refusal == nil)
        let text = form.question.text
        #expect(
            text.hasPrefix("Name [z] (email, 1 to 9 characters, matches ^x, required)\n  Of the branch\n"),
            "\(text)"
        )
        #expect(text.contains("o (one of these, optional)\n  1) A [a]: first\n  2) B [b]\n"), "\(text)")
    }

    @Test(
        "An answer, a refusal and neither are told apart",
        arguments: [
            (ApprovalAnswer.filled(["n": 1]), #""result":{"action":"accept","content":{"n":1}}"#),
            (.filled([:]), #""result":{"action":"accept","content":{}}"#),
            (.option("decline"), #""result":{"action":"decline"}"#),
            (.option("cancel"), #""result":{"action":"cancel"}"#), (.cancelled, #""result":{"action":"cancel"}"#),
        ]
    )
    func answers(answer: ApprovalAnswer, expected: String) throws {
        var client = Self.client()
        let form = try #require(Self.form(in: Self.take(Self.form(#""n":{"type":"integer"}"#), by: &client)))
        let isTaken = client.decide(form.key, with: answer)
        let said = Self.output(of: &client)
        #expect(isTaken && said.contains(expected) && said.contains(#""id":"f""#), "\(said)")
        let isTakenAgain = client.decide(form.key, with: answer)
        #expect(!isTakenAgain)
    }

    @Test("A form outside of a prompt, behind its cancellation and at its end is dismissed")
    func nobody() throws {
        var client = ACPClient()
        #expect(Self.take(Self.form(""), by: &client).isEmpty)
        #expect(Self.output(of: &client).contains(#""action":"cancel""#))
        client = Self.client()
        _ = Self.take(Self.form(""), by: &client)
        let withdrawn = client.cancel(session: "s")
        #expect(withdrawn == [0])
        #expect(Self.output(of: &client).contains(#""action":"cancel""#))
        #expect(Self.take(Self.form(""), by: &client).isEmpty)
        #expect(Self.output(of: &client).contains(#""action":"cancel""#))
    }

    @Test("A form that belongs to the prompt's request is the prompt's")
    func ofRequest() throws {
        var client = Self.client()
        let line = Self.request(#""requestId":0,"mode":"form","message":"m","requestedSchema":{}"#)
        #expect(Self.form(in: Self.take(line, by: &client))?.session == "s")
        let other = Self.request(#""requestId":7,"mode":"form","message":"m","requestedSchema":{}"#)
        #expect(Self.take(other, by: &client).isEmpty)
    }

    @Test(
        "What is no form is refused with the reason",
        arguments: [
            (#""properties":7"#, "properties is no object"),
            (#""properties":{"":{}}"#, "name is empty"),
            (#""properties":{"a":{"type":"string","enum":[]}}"#, "no choices"),
            (#""properties":{"a":{"type":"string","enum":[1]}}"#, "no text"),
            (#""properties":{"a":{},"a":{}}"#, "used twice"),
        ]
    )
    func malformed(schema: String, reason: String) {
        var client = Self.client()
        let line = Self.request(#""sessionId":"s","mode":"form","message":"m","requestedSchema":{\#(schema)}"#)
        #expect(Self.take(line, by: &client).isEmpty)
        let said = Self.output(of: &client)
        #expect(said.contains("-32602") && said.contains(reason), "\(said)")
    }

    @Test(
        "A form that wants a secret is declined by the host",
        arguments: [
            (#""password":{"type":"string"}"#, true), (#""apiKey":{"type":"string"}"#, true),
            (#""api_key":{"type":"string"}"#, true), (#""x":{"type":"string","title":"Your API Key"}"#, true),
            (#""GITHUB_TOKEN":{"type":"string"}"#, true), (#""x":{"type":"string","format":"password"}"#, true),
            (#""x":{"type":"secretstuff","title":"Passphrase"}"#, true), (#""tokens":{"type":"string"}"#, false),
            (#""maxTokens":{"type":"integer"}"#, false), (#""PGPASSWORD":{"type":"string"}"#, true),
            (#""keys":{"type":"string","title":"API keys"}"#, true), (#""otp":{"type":"integer"}"#, true),
            (#""x":{"type":"string","writeOnly":true}"#, true), (#""authtoken":{"type":"string"}"#, true),
            (#""maxTokens":{"type":"string"}"#, false), (#""savePassword":{"type":"boolean"}"#, false),
            (#""token":{"type":"string","enum":["a"]}"#, false), (#""secretary":{"type":"string"}"#, false),
        ]
    )
    func secrets(property: String, isSecret: Bool) throws {
        var client = Self.client()
        let form = try #require(Self.form(in: Self.take(Self.form(property), by: &client)))
        #expect((form.question.refusal != nil) == isSecret)
    }

    @Test("A page is opened by a person, and the agent's word that it is done is passed on once")
    func page() throws {
        var client = Self.client()
        let line = Self.request(
            #""sessionId":"s","mode":"url","elicitationId":"e","url":"https://login.example/x?y=1","message":"Sign in""#
        )
        let form = try #require(Self.form(in: Self.take(line, by: &client)))
        #expect(form.question.link == "https://login.example/x?y=1" && form.question.refusal == nil)
        #expect(form.question.text == "Server: login.example\nhttps://login.example/x?y=1\n")
        let done = #"{"jsonrpc":"2.0","method":"elicitation/complete","params":{"elicitationId":"e"}}"#
        #expect(Self.take(done, by: &client).isEmpty, "nobody has opened it")
        _ = client.decide(form.key, with: .option("accept"))
        #expect(Self.output(of: &client).contains(#""result":{"action":"accept"}"#))
        guard case .linkDone("s")? = Self.take(done, by: &client).first else {
            Issue.record("not told")
            return
        }
        #expect(Self.take(done, by: &client).isEmpty, "once")
        let bad = Self.request(
            #""sessionId":"s","mode":"url","elicitationId":"e","url":"https://bank.example@evil.example","message":"m""#
        )
        #expect(Self.form(in: Self.take(bad, by: &client))?.question.refusal != nil)
    }
}
