import CompanionClient
import CompanionWire
import Testing

/// Questions of the agent, by the state machine alone.
@Suite struct AICLITurnQuestionTests {
    @Test("A question that comes twice is asked once; the next one is asked again")
    func questions() {
        var bench = AICLIBench()
        bench.run()
        func ask(_ time: Int, _ prompt: String) {
            bench.frame(
                #"{"type":"permissionRequired","timestamp":\#(time),"data":{"sessionId":"s1","prompt":"\#(prompt)"}}"#,
                at: time
            )
        }
        ask(1, "Run it?")
        ask(2, "Run it?")
        bench.frame(
            #"{"type":"assistantMessage","timestamp":3,"data":{"type":"permission_request","prompt":"Run it?"}}"#
        )
        #expect(bench.asked.map(\.prompt) == ["Run it?"])
        bench.reply(to: "claudeCommand", as: "claudeResponse", #"{"content":"Run it?"}"#, time: 4)
        #expect(bench.summary == nil, "the question is open")
        bench.feed(.permission(bench.asked[0], answer: "y"))
        #expect(bench.sent.last?.type == "claudeCommand" && bench.sent.last?.data["command"] == "y")
        #expect(bench.sent.last?.data["sessionId"] == "s1" && bench.sent.last?.data["projectPath"] == "/web")
        ask(3, "Run it?")
        #expect(bench.asked.count == 1, "a copy that is late")
        ask(9, "Run it?")
        #expect(bench.asked.count == 2)
        bench.reply(to: "claudeCommand", as: "claudeResponse", #"{"content":"Again?"}"#, time: 10)
        bench.feed(.permission(bench.asked[1], answer: nil))
        #expect(bench.sent.last?.data["command"] == "n")
        bench.reply(to: "claudeCommand", as: "claudeResponse", #"{"content":"Left it."}"#, time: 11)
        #expect(bench.summary?.answer == "Run it?\n\nAgain?\n\nLeft it." && bench.text == bench.summary?.answer)
        #expect(
            bench.said == [
                "user: why?", "assistant: Run it?", "user: y", "assistant: Again?", "user: n", "assistant: Left it.",
            ]
        )
    }

    @Test("An answer that comes before the reply waits for it; a server that keeps silent gets it within the turn")
    func earlyAnswer() {
        var bench = AICLIBench(tools: ["Bash"])
        func ask() {
            bench.frame(
                #"{"type":"permissionRequired","timestamp":1,"data":{"sessionId":"s1","prompt":"x","toolName":"Bash"}}"#,
                at: 10
            )
        }
        bench.run()
        ask()
        #expect(bench.sent.last?.data["command"] == "why?")
        bench.reply(to: "claudeCommand", as: "claudeResponse", #"{"content":"x"}"#, at: 11)
        #expect(bench.sent.last?.data["command"] == "y")
        bench = AICLIBench(tools: ["Bash"])
        bench.run()
        ask()
        bench.frame(#"{"type":"processStderr","timestamp":2,"data":{"sessionId":"s1"}}"#, at: 14)
        bench.feed(.timer(bench.timers.last?.0 ?? 0), at: 15)
        #expect(bench.sent.last?.type == "claudeCommand", "it has just said something")
        bench.feed(.timer(bench.timers.last?.0 ?? 0), at: 19)
        #expect(bench.sent.last?.type == "permission" && bench.sent.last?.data["response"] == "y")
        bench.reply(to: "claudeCommand", as: "claudeResponse", #"{"content":"Done."}"#, at: 20)
        #expect(bench.summary?.answer == "Done.")
    }

    @Test("The user may think for as long as it takes")
    func slowAnswer() {
        var bench = AICLIBench()
        bench.run()
        bench.frame(#"{"type":"permissionRequired","timestamp":1,"data":{"sessionId":"s1","prompt":"Run it?"}}"#)
        bench.reply(to: "claudeCommand", as: "claudeResponse", #"{"content":"Run it?"}"#)
        bench.feed(.timer(bench.timers.last?.0 ?? 0), at: 86_400)
        #expect(bench.error == nil && bench.summary == nil)
        bench.feed(.permission(bench.asked[0], answer: "y"), at: 86_401)
        #expect(bench.sent.last?.data["command"] == "y" && bench.timers.last?.1 == .seconds(30 * 60))
    }

    @Test("Several questions before one reply have one answer: a denial, if there is one")
    func severalQuestions() {
        var bench = AICLIBench()
        bench.run()
        for (time, prompt) in [(1, "Run it?"), (2, "Write it?")] {
            bench.frame(
                #"{"type":"permissionRequired","timestamp":\#(time),"data":{"sessionId":"s1","prompt":"\#(prompt)"}}"#
            )
        }
        bench.reply(to: "claudeCommand", as: "claudeResponse", #"{"content":""}"#)
        bench.feed(.permission(bench.asked[1], answer: "n"))
        #expect(bench.prompts == 1)
        bench.feed(.permission(bench.asked[0], answer: "y"))
        #expect(bench.prompts == 2 && bench.sent.last?.data["command"] == "n")
    }

    @Test("An answer that is no option is no consent")
    func oddAnswer() {
        for answer in ["sudo", nil] {
            var bench = AICLIBench()
            bench.run()
            bench.frame(
                #"{"type":"permissionRequired","data":{"sessionId":"s1","prompt":"x","options":["Allow","Deny"]}}"#
            )
            bench.reply(to: "claudeCommand", as: "claudeResponse", #"{"content":"x"}"#)
            bench.feed(.permission(bench.asked[0], answer: answer))
            #expect(bench.sent.last?.data["command"] == "Deny")
        }
    }

    @Test("A question that is answered while there is no connection is answered on the next one")
    func lateAnswer() {
        var bench = AICLIBench()
        bench.run()
        bench.frame(#"{"type":"permissionRequired","timestamp":1,"data":{"sessionId":"s1","prompt":"Run it?"}}"#)
        bench.lose()
        let before = bench.sent.count
        bench.feed(.permission(bench.asked[0], answer: "y"))
        #expect(bench.sent.count == before)
        bench.welcome()
        bench.feed(.verified(.continued, sessionID: "s1"))
        bench.reply(to: "ping", as: "pong", "{}")
        // No stored message comes any more.
        bench.expire()
        #expect(bench.sent.last?.type == "claudeCommand" && bench.sent.last?.data["command"] == "y")
    }

    @Test("An answer whose session is gone is not followed by the prompt again")
    func lostAnswer() {
        var bench = AICLIBench()
        bench.run()
        bench.frame(#"{"type":"permissionRequired","timestamp":1,"data":{"sessionId":"s1","prompt":"Run it?"}}"#)
        bench.reply(to: "claudeCommand", as: "claudeResponse", #"{"content":"Run it?"}"#)
        bench.feed(.permission(bench.asked[0], answer: "y"))
        let id = bench.sent.last?.requestID ?? ""
        bench.frame(#"{"type":"error","requestId":"\#(id)","error":{"code":"INVALID_SESSION","message":"gone"}}"#)
        #expect(bench.error?.code == .notFound)
        #expect(bench.sent.compactMap { $0.data["command"]?.string } == ["why?", "y"])
    }
}
