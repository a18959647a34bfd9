import CompanionClient
import CompanionWire
import Testing

/// What builds of the server do differently, by the state machine alone.
@Suite struct AICLITurnBuildTests {
    @Test("A server that greets nobody is spoken to once its WebSocket has stood for a while, and only then")
    func ungreeted() {
        var bench = AICLIBench()
        bench.feed(.timer(bench.timers.last?.0 ?? 0), at: 10)
        #expect(bench.error?.code == .timedOut && bench.error?.delivery == .notSent, "there is no WebSocket")
        bench = AICLIBench()
        bench.feed(.opened(connection: bench.connection))
        #expect(bench.timers.last?.1 == .seconds(3) && bench.sent.isEmpty)
        bench.feed(.timer(bench.timers.last?.0 ?? 0), at: 3)
        bench.reply(to: "streamStart", #"{"sessionId":"s1"}"#)
        bench.welcome()
        bench.reply(to: "ping", as: "pong", "{}")
        bench.reply(to: "claudeCommand", as: "claudeResponse", #"{"content":"Because."}"#)
        #expect(bench.summary?.answer == "Because." && bench.prompts == 1)
    }

    @Test("The newest kind is told by its first frame, also when that is late")
    func lateConnected() {
        var bench = AICLIBench()
        bench.feed(.opened(connection: bench.connection))
        bench.feed(.timer(bench.timers.last?.0 ?? 0), at: 3)
        bench.frame(#"{"type":"connected","data":{"clientId":"c"}}"#)
        #expect(bench.error?.code == .unsupportedVersion && bench.prompts == 0)
    }

    @Test("A build of late July gets a prompt that begins the session, and its result ends the turn")
    func july() {
        var bench = AICLIBench()
        bench.welcome()
        #expect(bench.sent.last?.data["prompt"]?.text != nil && bench.sent.last?.data["prompt"] != "why?")
        bench.reply(to: "streamStart", as: "streamStarted", #"{"sessionId":"theirs"}"#)
        bench.reply(to: "ping", as: "pong", "{}")
        #expect(bench.sent.last?.data["sessionId"] == "theirs")
        let blocks = #"[{"type":"text","text":"Because."},{"type":"tool_use","name":"Read","id":"t"}]"#
        bench.frame(#"{"type":"assistantMessage","data":{"type":"assistant_response","content":\#(blocks)}}"#)
        #expect(bench.summary == nil)
        bench.frame(#"{"type":"conversationResult","data":{"type":"final_result","success":true}}"#)
        #expect(bench.summary?.answer == "Because." && bench.summary?.wasRecovered == false)
        #expect(bench.shown.contains(.toolStart(name: "Read", id: "t")))
    }

    @Test("A connection that breaks before any text has no answer, whatever came in the place of text")
    func brokenBeforeText() {
        var bench = AICLIBench()
        bench.run()
        let chunk = #"{"type":"session_id","content":"0f1e2d3c-4b5a-4697-8877-665544332211"}"#
        bench.frame(#"{"type":"streamChunk","timestamp":1,"data":{"sessionId":"s1","chunk":\#(chunk)}}"#)
        bench.lose()
        bench.welcome()
        bench.feed(.verified(.continued, sessionID: "s1"))
        bench.reply(to: "ping", as: "pong", "{}")
        bench.frame(#"{"type":"conversationResult","timestamp":9,"data":{"sessionId":"s1","success":true}}"#)
        bench.expire()
        #expect(bench.summary == nil && bench.error?.code == .streamInterrupted)
        #expect(bench.text.isEmpty && bench.said == ["user: why?"])
    }
}
