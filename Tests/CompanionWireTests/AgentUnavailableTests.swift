import Testing

@testable import CompanionWire

@Suite("The end of a turn whose agent does not work") struct AgentUnavailableTests {
    @Test(
        "It is an error with a code, which is read back",
        arguments: [nil, 0, 3],
        [CompanionErrorCode.hostAgentUnavailable, .hostAgentSignIn]
    )
    func frame(files: Int?, code: CompanionErrorCode) throws {
        let event = TurnEvent.failed(TurnFailure("Sign in", files: files, code: code))
        let frame = TurnFrames.encode(event)
        #expect(frame.hasPrefix(#"data: {"type":"error","error":"Sign in","code":"\#(code.rawValue)""#))
        var decoder = ContinueChatStreamDecoder()
        #expect(try decoder.feed(Array(frame.utf8)) == [.event(event)])
    }

    @Test("Another code is an error like any other")
    func other() throws {
        var decoder = ContinueChatStreamDecoder()
        let frame = "data: {\"type\":\"error\",\"error\":\"No\",\"code\":\"x\"}\n\n"
        #expect(try decoder.feed(Array(frame.utf8)) == [.event(.failed(TurnFailure("No")))])
    }
}
