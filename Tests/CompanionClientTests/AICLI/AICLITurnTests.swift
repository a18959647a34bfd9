import CompanionClient
import CompanionWire
import FoundationEssentials
import Testing

/// The state machine by itself: no clock, no socket, no file.
@Suite struct AICLITurnTests {
    @Test("A turn opens a session, subscribes, sends the prompt once, and ends with the reply")
    func plain() {
        var bench = AICLIBench()
        bench.run()
        #expect(bench.sent.map(\.type) == ["streamStart", "subscribe", "ping", "claudeCommand"])
        #expect(bench.sent.last?.data["sessionId"] == "s1" && bench.sent.last?.data["projectPath"] == "/web")
        bench.reply(to: "claudeCommand", as: "claudeResponse", #"{"content":"Because.","success":true}"#)
        #expect(bench.summary?.answer == "Because." && bench.text == "Because.")
        #expect(bench.said == ["user: why?", "assistant: Because."])
    }

    @Test("An earlier session is verified before it is used")
    func verified() {
        var bench = AICLIBench(session: AICLIBench.session)
        bench.welcome()
        #expect(bench.sent.isEmpty && bench.verified == ["s0"])
        bench.feed(.verified(.continued, sessionID: "s0"))
        #expect(bench.sent.map(\.type) == ["subscribe", "ping"])
        #expect(bench.sent.first?.data["sessionIds"]?.array == ["s0"])
    }

    @Test(
        "A host that cannot be asked about the session knows nothing of the prompt, however the question fared",
        arguments: [(.timedOut, .unknown), (.unreachable, .unknown), (.server, .answered)]
            as [(CompanionClientError.Code, CompanionClientError.Delivery)]
    )
    func unverified(_ code: CompanionClientError.Code, _ delivery: CompanionClientError.Delivery) {
        var bench = AICLIBench(session: AICLIBench.session)
        bench.welcome()
        bench.feed(.verificationFailed(CompanionClientError(code, message: "no", delivery: delivery)))
        #expect(bench.error?.code == code && bench.error?.delivery == .notSent && bench.prompts == 0)
    }

    @Test(
        "A host that cannot be asked about the session after a break may have the prompt: it does not count as unsent",
        arguments: [(.unreachable, .notSent), (.timedOut, .unknown), (.notPaired, .answered)]
            as [(CompanionClientError.Code, CompanionClientError.Delivery)]
    )
    func unverifiedAfterBreak(_ code: CompanionClientError.Code, _ delivery: CompanionClientError.Delivery) {
        var bench = AICLIBench()
        bench.run()
        bench.lose()
        bench.welcome()
        bench.feed(.verificationFailed(CompanionClientError(code, message: "no", delivery: delivery)))
        #expect(bench.error?.code == .streamInterrupted && bench.error?.delivery == .unknown && bench.prompts == 1)
    }

    @Test("A host whose answer had begun has the prompt; one that broke before may have it", arguments: [false, true])
    func begunBeforeBreak(_ hasBegun: Bool) {
        var bench = AICLIBench()
        bench.run()
        if hasBegun {
            bench.frame(#"{"type":"streamChunk","data":{"sessionId":"s1","chunk":{"type":"text","content":"Half."}}}"#)
        }
        bench.lose()
        bench.welcome()
        bench.feed(.verified(.unknown, sessionID: "s1"))
        #expect(bench.error?.code == .streamInterrupted && bench.prompts == 1)
        #expect(bench.error?.delivery == (hasBegun ? .answered : .unknown))
    }

    @Test("A session that is gone is replaced by a new one, and the user is told")
    func replaced() {
        var bench = AICLIBench(session: AICLIBench.session)
        bench.welcome()
        bench.feed(.verified(.unknown, sessionID: "s0"))
        #expect(bench.sent.map(\.type) == ["streamStart"])
        #expect(bench.notices.contains { $0.contains("starting a new one") })
    }

    @Test("The reply's id is the session, also where another one was asked for")
    func deduplicated() {
        var bench = AICLIBench()
        bench.run()
        #expect(bench.sent.first?.data["sessionId"] != "s1")
        #expect(bench.sent.last?.data["sessionId"] == "s1")
    }

    @Test("Kept messages are shown in the order in which they were sent, each once, with their delay")
    func keptMessages() {
        var bench = AICLIBench(session: AICLIBench.session)
        bench.welcome()
        bench.feed(.verified(.continued, sessionID: "s0"))
        let early = AICLIBench.kept("first", secondsAgo: 600, session: "s0")
        let late = AICLIBench.kept("second", secondsAgo: 300, session: "s0")
        for frame in [late, early, late, early, AICLIBench.kept("foreign", secondsAgo: 1, session: "other")] {
            bench.frame(frame)
        }
        #expect(bench.notices.isEmpty)
        bench.reply(to: "ping", as: "pong", "{}")
        #expect(bench.notices == ["Late by 10 min: first", "Late by 5 min: second"])
        #expect(bench.said == ["assistant: first", "assistant: second", "user: why?"])
    }

    @Test("Kept messages that were shown by an earlier turn are not shown again")
    func keptAgain() throws {
        var bench = AICLIBench(session: AICLIBench.session)
        bench.welcome()
        bench.feed(.verified(.continued, sessionID: "s0"))
        let text = AICLIBench.kept("first", secondsAgo: 600, session: "s0")
        let identity = try #require(AICLIFrame(json: Array(text.utf8))?.identity)
        var known = AICLIBench.session
        known.seen = [identity]
        bench = AICLIBench(session: known)
        bench.welcome()
        bench.feed(.verified(.continued, sessionID: "s0"))
        bench.frame(text)
        bench.reply(to: "ping", as: "pong", "{}")
        #expect(bench.notices.isEmpty && bench.prompts == 1)
    }

    @Test("What was stored in earlier turns comes behind the pong, and is no part of the answer")
    func keptBehindPong() {
        var bench = AICLIBench(session: AICLIBench.session)
        bench.welcome()
        bench.feed(.verified(.continued, sessionID: "s0"))
        bench.reply(to: "ping", as: "pong", "{}")
        #expect(bench.prompts == 1)
        let prompt = bench.sent.last?.requestID
        func kept(_ type: String, _ data: String, id: String? = nil) -> String {
            AICLIBench.kept(type, data: data, secondsAgo: 600, session: "s0", requestID: id)
        }
        let usage = #""usage":{"input_tokens":1000,"output_tokens":2000}"#
        for _ in 0..<2 {
            bench.frame(AICLIBench.kept("Old words.", secondsAgo: 600, session: "s0"))
            bench.frame(kept("assistantMessage", #""type":"tool_use","content":[{"type":"tool_use","name":"Bash"}]"#))
            bench.frame(kept("permissionRequired", #""prompt":"Run it?","options":["y","n"]"#))
            bench.frame(kept("conversationResult", #""success":true,\#(usage)"#))
            bench.frame(kept("claudeResponse", #""content":"Old answer.","success":true"#, id: prompt))
        }
        #expect(bench.summary == nil && bench.error == nil && bench.asked.isEmpty && bench.text.isEmpty)
        #expect(
            bench.notices == [
                "Late by 10 min: Old words.", "Late by 10 min: the agent used Bash",
                "Late by 10 min: a question from the agent",
                "Late by 10 min: Old answer.",
            ]
        )
        #expect(!bench.shown.contains { if case .toolStart = $0 { true } else { false } })
        #expect(!bench.shown.contains { if case .usage = $0 { true } else { false } })
        #expect(bench.saw.count == 5)
        bench.reply(to: "claudeCommand", as: "claudeResponse", #"{"content":"Because.","success":true}"#)
        #expect(bench.summary?.answer == "Because." && bench.summary?.usage == nil)
    }

    @Test("Stored messages that come before the subscription are not lost", arguments: ["connecting", "verifying"])
    func keptEarly(_ phase: String) {
        var bench = AICLIBench(session: AICLIBench.session)
        let text = AICLIBench.kept("first", secondsAgo: 600, session: "s0")
        if phase == "connecting" { bench.frame(text) }
        bench.welcome()
        bench.frame(text)
        bench.feed(.verified(.continued, sessionID: "s0"))
        bench.frame(text)
        bench.reply(to: "ping", as: "pong", "{}")
        bench.frame(text)
        #expect(bench.notices == ["Late by 10 min: first"] && bench.saw.count == 1)
    }

    @Test("After a break, what was stored before the prompt is of an earlier turn")
    func keptBeforePrompt() {
        var bench = AICLIBench(session: AICLIBench.session)
        bench.welcome()
        bench.feed(.verified(.continued, sessionID: "s0"))
        bench.reply(to: "ping", as: "pong", "{}", time: Int(AICLIBench.start.timeIntervalSince1970 * 1000) - 60_000)
        bench.lose()
        bench.welcome()
        bench.feed(.verified(.continued, sessionID: "s0"))
        bench.reply(to: "ping", as: "pong", "{}")
        bench.frame(AICLIBench.kept("New words.", secondsAgo: 30, session: "s0"))
        bench.frame(AICLIBench.kept("Old words.", secondsAgo: 90, session: "s0"))
        bench.expire()
        #expect(bench.text == "New words." && bench.notices.contains { $0.hasSuffix(": Old words.") })
    }

    @Test("A server that does not answer the ping is not waited for")
    func noPong() {
        var bench = AICLIBench()
        bench.welcome()
        bench.reply(to: "streamStart", #"{"sessionId":"s1"}"#)
        bench.feed(.timer(bench.timers.last?.0 ?? 0), at: 3)
        #expect(bench.prompts == 1)
    }

    @Test("Two errors for one request are one failure")
    func twoErrors() {
        var bench = AICLIBench()
        bench.run()
        let id = bench.sent.last?.requestID ?? ""
        bench.frame(#"{"type":"error","requestId":"\#(id)","error":{"code":"COMMAND_FAILED","message":"first"}}"#)
        bench.frame(#"{"type":"error","requestId":"\#(id)","error":{"code":"HANDLER_ERROR","message":"second"}}"#)
        #expect(bench.error?.code == .hostError && bench.error?.hostText == "first")
    }

    @Test("Errors for what nobody waits for are no failure of the turn")
    func foreignErrors() {
        var bench = AICLIBench()
        bench.run()
        bench.frame(#"{"type":"error","requestId":"somebody","error":{"code":"ROUTING_ERROR","message":"x"}}"#)
        bench.frame(#"{"type":"error","requestId":null,"error":{"code":"HANDLER_ERROR","message":"disk full"}}"#)
        #expect(bench.error == nil && bench.notices == ["HANDLER_ERROR: disk full"])
    }

    @Test("A prompt that was refused for its session goes out again in a new one, and only then, and only once")
    func renewed() {
        var bench = AICLIBench(session: AICLIBench.session)
        bench.welcome()
        bench.feed(.verified(.continued, sessionID: "s0"))
        bench.reply(to: "ping", as: "pong", "{}")
        func refuse() {
            let id = bench.sent.last { $0.type == "claudeCommand" }?.requestID ?? ""
            let error = #"{"code":"INVALID_SESSION","message":"gone"}"#
            bench.frame(#"{"type":"error","requestId":"\#(id)","error":\#(error)}"#)
            bench.frame(#"{"type":"error","requestId":"\#(id)","error":\#(error)}"#)
        }
        refuse()
        #expect(bench.error == nil)
        bench.reply(to: "streamStart", #"{"sessionId":"s2"}"#)
        bench.reply(to: "ping", as: "pong", "{}")
        #expect(bench.prompts == 2 && bench.sent.last?.data["sessionId"] == "s2")
        #expect(bench.said == ["user: why?"])
        refuse()
        #expect(bench.error?.code == .notFound && bench.prompts == 2)
    }

    @Test("A wrong token ends the turn at once, whenever the server says so")
    func refused() {
        var bench = AICLIBench()
        bench.lose(1008)
        #expect(bench.error?.code == .notPaired && bench.error?.delivery == .notSent)
        #expect(bench.waits == [.zero])
    }

    @Test("A host that was never there is not waited for")
    func neverThere() {
        var bench = AICLIBench()
        bench.lose()
        #expect(bench.error?.code == .unreachable && bench.error?.delivery == .notSent)
    }

    @Test("Waits for new connections double from 1 s to 300 s, and then it is over")
    func waits() {
        var bench = AICLIBench()
        bench.run()
        for _ in 0..<13 { bench.lose() }
        let seconds = bench.waits.map(\.components.seconds)
        #expect(seconds == [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300])
        #expect(bench.error?.code == .streamInterrupted && bench.prompts == 1)
    }

    @Test("The random part of a wait is at most half of it, and never leads beyond 300 s")
    func jitter() throws {
        var configuration = AICLITurn.Configuration()
        configuration.random = { 0.999 }
        var turn = AICLITurn(
            prompt: "x",
            workingDirectory: "/web",
            session: nil,
            allowedTools: nil,
            configuration: configuration
        )
        var waits: [Duration] = []
        func note(_ actions: [AICLITurn.Action]) {
            for case .connect(_, let wait) in actions { waits.append(wait) }
        }
        let moment = AICLITurn.Moment(date: AICLIBench.start, elapsed: .zero)
        note(turn.handle(.begin, at: moment))
        let welcome = try #require(AICLIFrame(json: Array(#"{"type":"welcome","data":{}}"#.utf8)))
        _ = turn.handle(.frame(welcome, connection: 1), at: moment)
        for number in 1...12 { note(turn.handle(.closed(AICLIClosure(), connection: number), at: moment)) }
        #expect(waits[1] > .seconds(1) && waits[1] < .milliseconds(1501))
        #expect(waits.allSatisfy { $0 <= .seconds(300) } && waits.last == .seconds(300))
    }

    @Test("After a break the session is verified and subscribed to again; the prompt does not go out twice")
    func reconnected() {
        var bench = AICLIBench()
        bench.run()
        bench.frame(#"{"type":"streamChunk","timestamp":1,"data":{"sessionId":"s1","chunk":{"content":"Half of it"}}}"#)
        bench.lose()
        bench.welcome()
        #expect(bench.verified == ["s1"])
        bench.feed(.verified(.continued, sessionID: "s1"))
        bench.reply(to: "ping", as: "pong", "{}")
        // The result comes live, before what was stored.
        bench.frame(#"{"type":"conversationResult","timestamp":9e12,"data":{"sessionId":"s1","success":true}}"#)
        bench.frame(AICLIBench.kept("and the rest", secondsAgo: 2))
        #expect(bench.summary == nil && bench.timers.last?.1 == .seconds(1))
        bench.expire()
        #expect(bench.prompts == 1)
        #expect(bench.summary?.answer == "Half of it\n\nand the rest" && bench.summary?.wasRecovered == true)
        #expect(bench.notices.contains { $0.hasPrefix("Late by 2 s") })
    }

    @Test("A server that was restarted in the middle has lost the turn: that is said, and nothing is sent again")
    func restarted() {
        var bench = AICLIBench()
        bench.run()
        bench.lose()
        bench.welcome()
        bench.feed(.verified(.unknown, sessionID: "s1"))
        #expect(bench.error?.code == .streamInterrupted && bench.prompts == 1)
        #expect(bench.error?.message.contains("restarted") == true)
    }

    @Test("A server that was restarted before the prompt went out gets a new session")
    func restartedBefore() {
        var bench = AICLIBench()
        bench.welcome()
        bench.reply(to: "streamStart", #"{"sessionId":"s1"}"#)
        bench.lose()
        bench.welcome()
        bench.feed(.verified(.unknown, sessionID: "s1"))
        bench.reply(to: "streamStart", #"{"sessionId":"s2"}"#)
        bench.reply(to: "ping", as: "pong", "{}")
        #expect(bench.prompts == 1 && bench.sent.last?.data["sessionId"] == "s2")
    }

    @Test("An answer that does not come after a break is given up after a while, counted from the last sign of life")
    func lost() {
        var bench = AICLIBench()
        bench.run()
        bench.lose()
        bench.welcome()
        bench.feed(.verified(.continued, sessionID: "s1"))
        bench.reply(to: "ping", as: "pong", "{}", at: 10)
        bench.expire(at: 11)
        bench.frame(#"{"type":"assistantMessage","timestamp":5,"data":{"type":"tool_use","name":"Read"}}"#, at: 100)
        bench.feed(.timer(bench.timers.last?.0 ?? 0), at: 160)
        #expect(bench.error == nil && bench.timers.last?.1 == .seconds(90))
        bench.feed(.timer(bench.timers.last?.0 ?? 0), at: 250)
        #expect(
            bench.error?.code == .streamInterrupted && bench.error?.message.contains("the next one continues") == true
        )
    }

    @Test("Words that the server would take for itself go to the agent")
    func metaCommands() throws {
        var configuration = AICLITurn.Configuration()
        configuration.random = { 0 }
        for word in ["status", "Sessions", "test"] {
            var turn = AICLITurn(
                prompt: word,
                workingDirectory: "/web",
                session: nil,
                allowedTools: nil,
                configuration: configuration
            )
            let moment = AICLITurn.Moment(date: AICLIBench.start, elapsed: .zero)
            var command: JSONValue?
            var inputs: [String] = [#"{"type":"welcome","data":{}}"#]
            _ = turn.handle(.begin, at: moment)
            while !inputs.isEmpty {
                let frame = try #require(AICLIFrame(json: Array(inputs.removeFirst().utf8)))
                for case .send(let request) in turn.handle(.frame(frame, connection: 1), at: moment) {
                    switch request.type {
                    case "streamStart", "ping":
                        inputs.append(
                            #"{"type":"\#(request.type)","requestId":"\#(request.requestID)","data":{"sessionId":"s"}}"#
                        )
                    case "claudeCommand": command = request.data["command"]
                    default: break
                    }
                }
            }
            #expect(command == .string(word + " "))
        }
    }

    @Test("Frames of an earlier connection, and after the end, do nothing")
    func stale() throws {
        var bench = AICLIBench()
        bench.run()
        let old = bench.connection
        bench.lose()
        let frame = try #require(AICLIFrame(json: Array(#"{"type":"welcome","data":{}}"#.utf8)))
        bench.feed(.frame(frame, connection: old))
        #expect(bench.verified.isEmpty)
        bench.lose(1008)
        bench.error = nil
        bench.lose()
        bench.run()
        #expect(bench.error == nil && bench.prompts == 1)
    }
}
