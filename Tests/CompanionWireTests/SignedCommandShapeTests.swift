import CompanionWire
import FoundationEssentials
import Testing

/// The shape of commands and session requests; signatures are tested where the keys are.
@Suite struct SignedCommandShapeTests {
    private static let signature = Base64.encode([UInt8](repeating: 7, count: 64))
    private static let members: [String: JSONValue] = [
        "commandId": "5f2c3a10-0000-4000-8000-00000000000A", "issuedAt": "2026-11-21T09:30:00.000Z",
        "expiresAt": "2026-11-21T09:31:00.000Z", "deviceId": "0011223344556677", "audience": "8899aabbccddeeff",
        "nonce": .string(Base64URL.encode([UInt8](repeating: 1, count: 16))),
        "payload": ["type": "session.create", "projectId": "p"], "signature": .string(signature),
    ]

    private func parse(_ members: [String: JSONValue]) throws -> SignedCommand {
        try SignedCommand.parse(JSONValue.object(members).json)
    }

    @Test("A well-shaped command is read, and what it signs covers members that nobody knows")
    func wellShaped() throws {
        var members = Self.members
        members["zz"] = [1, "new"]
        let command = try parse(members)
        #expect(command.commandId == "5f2c3a10-0000-4000-8000-00000000000a")
        #expect(command.expiresAt.timeIntervalSince(command.issuedAt) == 60)
        #expect(command.signatureBytes == [UInt8](repeating: 7, count: 64))
        #expect(try CommandPayload(command.payload) == .sessionCreate(projectID: "p"))
        members["signature"] = nil
        #expect(command.signedBytes == Array("copilotforge-command-v2\n".utf8) + JSONValue.object(members).json)
    }

    @Test("A command without one of its members is refused", arguments: members.keys.sorted())
    func missing(name: String) {
        var members = Self.members
        members[name] = nil
        let error = #expect(throws: SignedCommandError.self) { try parse(members) }
        #expect(error?.code == .commandBadShape)
        #expect(error?.message.contains(name) == true)
    }

    @Test(
        "A member of the wrong form is refused",
        arguments: [
            ("commandId", "x"), ("commandId", 7), ("commandId", ""),
            ("commandId", "5f2c3a10-0000-4000-8000-00000000000"),
            ("issuedAt", "2026-11-21T09:30:00Z"), ("issuedAt", "2026-11-21T10:30:00.000+01:00"),
            ("issuedAt", 1_795_253_400), ("issuedAt", "2026-11-21T09:30:00.0000Z"),
            ("expiresAt", "2026-11-21 09:30:00.000Z"),
            ("expiresAt", "2026-13-21T09:30:00.000Z"), ("expiresAt", .null),
            ("deviceId", ""), ("deviceId", ["x"]), ("audience", .string(String(repeating: "a", count: 129))),
            ("nonce", "AAAAAAAAAAAAAAAAAAAA"), ("nonce", "AAAAAAAAAAAAAAAAAAAAAA=="),
            ("nonce", "AAAAAAAAAAAAAAAAAAAAAB"),
            ("payload", "x"), ("payload", [:]), ("payload", ["type": 1]),
            ("signature", "AAAA"), ("signature", .string(signature.replacing("=", with: ""))), ("signature", true),
        ] as [(String, JSONValue)]
    )
    func malformed(name: String, value: JSONValue) {
        var members = Self.members
        members[name] = value
        let error = #expect(throws: SignedCommandError.self) { try parse(members) }
        #expect(error?.code == .commandBadShape)
    }

    @Test(
        "A body that is no object of signable JSON is refused",
        arguments: ["", "[]", "7", #"{"a":1,"a":1}"#, #"{"a":1.5}"#]
    )
    func noObject(body: String) {
        let error = #expect(throws: SignedCommandError.self) { try SignedCommand.parse(Array(body.utf8)) }
        #expect(error?.code == .commandBadShape)
        let session = #expect(throws: SignedCommandError.self) { try SessionRequest.parse(Array(body.utf8)) }
        #expect(session?.code == .requestInvalid)
    }

    private static let payloads: [(CommandPayload, String)] = [
        (.projectCreate(name: "n", localPath: nil), #"{"name":"n","type":"project.create"}"#),
        (.projectCreate(name: "n", localPath: "/p"), #"{"localPath":"/p","name":"n","type":"project.create"}"#),
        (.sessionCreate(projectID: "p"), #"{"projectId":"p","type":"session.create"}"#),
        (.chatCreate(projectID: "p", title: "t"), #"{"projectId":"p","title":"t","type":"chat.create"}"#),
        (
            .chatSend(chatID: "c", prompt: "q", model: "m", allowedTools: []),
            #"{"allowedTools":[],"chatId":"c","model":"m","prompt":"q","type":"chat.send"}"#
        ),
        (
            .chatSend(chatID: "c", prompt: "", model: nil, allowedTools: nil),
            #"{"chatId":"c","prompt":"","type":"chat.send"}"#
        ),
        (.chatCancel(chatID: "c", turnID: "t"), #"{"chatId":"c","turnId":"t","type":"chat.cancel"}"#),
        (.sessionRemove(chatID: "c", isForced: false), #"{"chatId":"c","type":"session.remove"}"#),
        (.sessionRemove(chatID: "c", isForced: true), #"{"chatId":"c","force":true,"type":"session.remove"}"#),
        (
            .approvalDecide(approvalID: "a", optionID: "y", content: nil),
            #"{"approvalId":"a","optionId":"y","type":"approval.decide"}"#
        ),
        (
            .approvalDecide(approvalID: "a", optionID: nil, content: nil),
            #"{"approvalId":"a","type":"approval.decide"}"#
        ),
        (
            .approvalDecide(approvalID: "a", optionID: "accept", content: ["n": 3, "t": ["x"], "u": "1.5"]),
            #"{"approvalId":"a","content":{"n":3,"t":["x"],"u":"1.5"},"optionId":"accept","type":"approval.decide"}"#
        ),
    ]

    @Test("Payloads are written as the protocol says, and read back", arguments: payloads)
    func payload(payload: CommandPayload, text: String) throws {
        #expect(String(decoding: payload.json.json, as: UTF8.self) == text)
        #expect(try CommandPayload(payload.json) == payload)
    }

    @Test(
        "A payload with a missing or wrong field, or of an unknown type, is refused",
        arguments: [
            #"{"type":"chat.delete"}"#, #"{"type":"project.create"}"#, #"{"type":"project.create","name":null}"#,
            #"{"type":"project.create","name":"n","localPath":7}"#, #"{"type":"session.create"}"#,
            #"{"type":"chat.create","title":"t"}"#, #"{"type":"chat.send","chatId":"c"}"#,
            #"{"type":"chat.send","chatId":"c","prompt":"p","allowedTools":"all"}"#,
            #"{"type":"chat.send","chatId":"c","prompt":"p","allowedTools":["a",1]}"#,
            #"{"type":"chat.cancel","chatId":"c"}"#, #"{"type":"approval.decide","optionId":"y"}"#, #"{"name":"n"}"#,
            #"[]"#,
        ]
    )
    func wrongPayload(text: String) throws {
        let json = try CanonicalJSON(parsing: Array(text.utf8)).value
        let error = #expect(throws: SignedCommandError.self) { try CommandPayload(json) }
        #expect(error?.code == .commandBadShape)
    }
}
