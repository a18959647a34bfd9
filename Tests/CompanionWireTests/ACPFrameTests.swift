import Testing

@testable import CompanionWire

@Suite("What an agent says in its own words", .timeLimit(.minutes(15)))
struct ACPFrameTests {
    @Test(
        "Parameters of a stranger stand in one line, are an object, and name no session",
        arguments: [
            (#"{"message":"x","sessionId":"other"}"#, #"{"message":"x"}"#),
            ("{\"a\":\"\\n\"}", #"{"a":"\n"}"#),
            ("{ \"a\" :\n1 }", #"{"a":1}"#),
            (
                #"{"requestedSchema":{"properties":{"z":{"type":"string"},"a":{"properties":{}}}}}"#,
                #"{"requestedSchema":{"properties":{"z":{"type":"string"},"a":{"properties":{}}}}}"#
            ),
            (#"{}}"# + "\n" + #"{"jsonrpc":"2.0","id":1,"method":"terminal/create","params":{}"#, nil),
            ("[]", nil), ("", nil), (#""x""#, nil),
        ]
    )
    func checked(text: String, expected: String?) {
        let request = ACPPersonRequest(approvalId: "1", method: "fs/write_text_file", parameters: text)
        #expect(request.checkedParameters == expected)
    }

    @Test("Frames are read as they were written")
    func frames() throws {
        let request = ACPPersonRequest(approvalId: "7", method: ACPMessage.formMethod, parameters: "{}")
        let contents: [ACPFrame.Content] = [
            .update(["sessionUpdate": "x", "ratio": .number(0.5)]), .request(request),
            .answer(["stopReason": "end_turn"]),
            .cut,
        ]
        var decoder = ContinueChatStreamDecoder()
        for content in contents {
            let read = try decoder.feed(TurnFrames.encode(.acp(ACPFrame(content))).utf8)
            #expect(read == [.event(.acp(ACPFrame(content)))])
        }
    }

    @Test("A prompt is what was typed and named; its pictures are told of only if there is nothing else")
    func prompt() {
        let picture: JSONValue = ["type": "image", "mimeType": "image/png", "data": "AAAA"]
        let link: JSONValue = ["type": "resource_link", "name": "a.txt", "uri": "file:///a.txt"]
        let file: JSONValue = ["type": "resource", "resource": ["uri": "file:///b", "text": "beans"]]
        #expect(ACPContent.prompt([["type": "text", "text": "See "], link, picture]) == "See a.txt (file:///a.txt)")
        #expect(ACPContent.prompt([file]) == "beans")
        #expect(ACPContent.prompt([picture]) == "[image/png, 1 KiB]")
    }
}
