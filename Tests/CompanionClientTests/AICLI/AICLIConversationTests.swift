import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import NIOConcurrencyHelpers
import Testing

/// Whole turns, over real sockets.
@Suite(.timeLimit(.minutes(15))) struct AICLIConversationTests {
    @Test(
        "An answer comes in pieces, with tools, and is whole at the end",
        arguments: [FakeAICLIScript.Generation.wsEarly, .ws]
    )
    func answer(_ generation: FakeAICLIScript.Generation) async throws {
        let turn = FakeAICLITurn([
            .push("processStart", #""pid":1"#), .text("Let me look."), .tool("Read"), .tool(" "), .text(""),
            .chunk(#""type":"tool_use","content":"""#), .text("Plan", type: "header"), .text("It is fixed."), .result,
            .reply("Let me look.\n\n# Plan\n\nIt is fixed."),
        ])
        var script = FakeAICLIScript(generation)
        script.turns = [turn]
        try await withAICLI(script) { peers in
            let shown = try await peers.send("Fix it")
            #expect(shown.error == nil)
            #expect(shown.text == "Let me look.\n\n# Plan\n\nIt is fixed.")
            #expect(shown.tools == ["Read"])
            #expect(shown.summary?.usage?.totalTokens == 46)
            #expect(shown.summary?.wasRecovered == false)
            #expect(
                try await peers.transcript() == ["user: Fix it", "assistant: Let me look.\n\n# Plan\n\nIt is fixed."]
            )
        }
    }

    @Test("The second prompt goes to the same session, verified; the device says who it is")
    func sameSession() async throws {
        try await withAICLI { peers in
            _ = try await peers.send("one")
            _ = try await peers.send("two")
            #expect(peers.server.prompts == ["one", "two"])
            #expect(peers.server.frames("streamStart").count == 1)
            #expect(peers.server.requests.count { $0.path == "/api/sessions/continue" } == 1)
            #expect(Set(peers.server.frames.map(\.deviceID)) == ["0123456789abcdef"])
            #expect(peers.server.sessions.count == 1)
        }
    }

    @Test("Another process of the same user goes on with the session; a server that was restarted gets a new one")
    func restarts() async throws {
        try await withAICLI { peers in
            _ = try await peers.send("one")
            let again = AICLIHost(
                client: peers.host.client,
                store: AICLIStore(data: peers.folder, hostID: "feedfacefeedface")
            )
            var second = peers
            second.host = again
            _ = try await second.send("two")
            #expect(peers.server.sessions.count == 1)
            let old = peers.server.sessions.first?.key
            peers.server.change { $0.sessions = [:] }
            let shown = try await second.send("three")
            #expect(shown.text == "You said: three")
            #expect(shown.notices.contains { $0.contains("starting a new one") })
            #expect(peers.server.sessions.count == 1 && peers.server.sessions.first?.key != old)
            #expect(try peers.store.sessions().sessions.map(\.id) == Array(peers.server.sessions.keys))
        }
    }

    @Test("A session that the server has for the directory already is taken over")
    func takenOver() async throws {
        try await withAICLI(.with { $0.sessions = ["theirs": "/Users/ada/web"] }) { peers in
            let found = try await peers.send("hi").text
            #expect(found == "You said: hi")
            #expect(try peers.store.sessions().sessions.map(\.id) == ["theirs"])
        }
    }

    @Test("A server that has no room for another session says so, once")
    func noRoom() async throws {
        try await withAICLI(.with { $0.mostSessions = 0 }) { peers in
            let shown = try await peers.send("hi")
            #expect(shown.error?.code == .busy && shown.error?.delivery == .notSent)
            #expect(peers.server.prompts.isEmpty)
            #expect(try await peers.transcript().isEmpty)
        }
    }

    @Test(
        "Frames that are cut, dripped, doubled or mixed with garbage change nothing",
        arguments: [FakeAICLIFault.split, .drip, .duplicates, .garbage, .noPong, .wrongTypes]
    )
    func oddWire(_ fault: FakeAICLIFault) async throws {
        let turn = FakeAICLITurn([
            .text("One."), .tool("Read"), .text("Two. 🚀"), .result, .reply("One.\n\nTwo. 🚀"),
        ])
        try await withAICLI(.fault(fault, turn)) { peers in
            var peers = peers
            peers.host.runner.configuration.drain = .milliseconds(100)
            let shown = try await peers.send("go")
            #expect(shown.error == nil, "\(fault)")
            #expect(shown.text == "One.\n\nTwo. 🚀" && shown.tools == ["Read"])
        }
    }

    @Test(
        "A host that keeps silent, sends garbage or breaks at once is given up, and knows nothing of the prompt",
        arguments: [
            (FakeAICLIFault.silentHandshake, CompanionClientError.Code.timedOut), (.silent, .timedOut),
            (.closedHandshake, .unreachable), (.resetBeforeWelcome, .unreachable), (.onlyGarbage, .badAnswer),
            (.oversize, .tooLarge),
        ]
    )
    func deadWire(_ fault: FakeAICLIFault, _ code: CompanionClientError.Code) async throws {
        try await withAICLI(.fault(fault)) { peers in
            var peers = peers
            if code == .timedOut {
                peers.host.runner.configuration.welcome = .milliseconds(300)
                peers.host.runner.configuration.greeting = .milliseconds(50)
                peers.host.runner.configuration.reply = .milliseconds(300)
            }
            let shown = try await peers.send("go")
            #expect(shown.error?.code == code, "\(String(describing: shown.error))")
            #expect(shown.error?.delivery == .notSent)
            #expect(peers.server.prompts.isEmpty)
        }
    }

    @Test(
        "A token that is refused is told as such, whether the handshake is completed before or not",
        arguments: [nil, FakeAICLIFault.closedHandshake]
    )
    func wrongToken(_ fault: FakeAICLIFault?) async throws {
        try await withAICLI(.with { $0.faults = [fault] }, token: "wrong") { peers in
            let shown = try await peers.send("go")
            #expect(shown.error?.code == .notPaired)
            #expect(peers.waits.withLockedValue(\.self).isEmpty)
            #expect(try peers.store.outbox().prompts.isEmpty)
        }
    }

    @Test("The newest servers are told by their first frame, and their limits said plainly")
    func newest() async throws {
        try await withAICLI(FakeAICLIScript(.http)) { peers in
            let shown = try await peers.send("go")
            #expect(shown.error?.code == .unsupportedVersion)
            #expect(shown.error?.message.contains("Apple's push service") == true)
            #expect(try peers.store.outbox().prompts.isEmpty)
        }
    }

    @Test("Another service on the port is no host")
    func stranger() async throws {
        try await withFakeMac { mac in
            try await withTemporaryDirectory { folder in
                let endpoint = try #require(CompanionEndpoint(mac.endpointText))
                try await AICLIClient.withClient(endpoint: endpoint, token: nil, deviceID: "x") { client in
                    let host = AICLIHost(client: client, store: AICLIStore(data: folder, hostID: "x"))
                    let error = try await clientError {
                        let request = TurnRequest(prompt: "x", projectPath: "/x")
                        for try await _ in host.turn(chatID: "x", request: request) {}
                    }
                    #expect(error.code == .notACompanion)
                }
            }
        }
    }

    @Test("Failures of the turn are told with the host's words")
    func failures() async throws {
        let refused = FakeAICLITurn([.error("COMMAND_FAILED", "model overloaded", copies: 2)])
        let failed = FakeAICLITurn([.text("Well,"), .replyFailed("out of credit")])
        try await withAICLI(.turns(refused, failed)) { peers in
            #expect(try await peers.send("one").error?.hostText == "model overloaded")
            let shown = try await peers.send("two")
            #expect(shown.error?.hostText == "out of credit" && shown.text == "Well,")
            #expect(try await peers.transcript().filter { $0.hasPrefix("system: ") }.count == 2)
        }
    }

    @Test("A prompt is sent when the first output is asked for, and not before")
    func onDemand() async throws {
        try await withAICLI { peers in
            let request = TurnRequest(prompt: "x", projectPath: "/Users/ada/web")
            let stream = peers.host.turn(chatID: "x", request: request)
            _ = try await peers.host.projects()
            #expect(peers.server.prompts.isEmpty)
            for try await _ in stream {}
            #expect(peers.server.prompts == ["x"])
        }
    }

    @Test("Who stops waiting leaves a note, and the turn goes on at the host: the next one shows what came meanwhile")
    func stopped() async throws {
        let turn = FakeAICLITurn([
            .text("Half."), .hold("middle"), .untilAlone,
            .pushed(.seconds(120), "assistantMessage", #""type":"text","text":"The end.""#),
        ])
        try await withAICLI(.turns(turn)) { peers in
            let task = Task { try await peers.send("go") }
            try await peers.server.reached("middle")
            task.cancel()
            _ = try? await task.value
            #expect(try await peers.transcript().last?.hasPrefix("system: ") == true)
            peers.server.release("middle")
            let session = try #require(peers.server.sessions.first?.key)
            peers.server.keep(
                "assistantMessage",
                #""type":"text","text":"Kept.""#,
                sessionID: session,
                age: .seconds(300)
            )
            let shown = try await peers.send("next")
            #expect(shown.text == "You said: next")
            #expect(shown.notices.contains("Late by 5 min: Kept."))
            // The server gives it at every subscription: it is shown once.
            let again = try await peers.send("again")
            #expect(!again.notices.contains { $0.contains("Kept.") })
            #expect(try await peers.transcript().count { $0 == "assistant: Kept." } == 1)
        }
    }

    // MARK: Broken connections

    @Test(
        "A connection that breaks after the prompt is made again, and what was kept is the answer",
        arguments: [FakeAICLIFault.resetAfterPrompt, .closeAfterPrompt]
    )
    func broken(_ fault: FakeAICLIFault) async throws {
        let turn = FakeAICLITurn([
            .text("The first half,"), .text("and the second."), .untilJoined, .result, .reply("lost"),
        ])
        try await withAICLI(.fault(fault, turn)) { peers in
            let shown = try await peers.send("go")
            #expect(shown.error == nil)
            #expect(shown.summary?.answer == "The first half,\n\nand the second.")
            #expect(shown.summary?.wasRecovered == true)
            #expect(peers.server.prompts == ["go"])
            #expect(peers.waits.withLockedValue(\.self) == [.seconds(1)])
            #expect(peers.server.frames("subscribe").count == 2)
            #expect(shown.notices.contains { $0.hasPrefix("Late by") })
        }
    }

    @Test("A connection that breaks again and again is made again as often, each time with a longer wait")
    func brokenOften() async throws {
        var script = FakeAICLIScript.turns(FakeAICLITurn([.untilJoined, .hold("later")]))
        script.faults = [nil, .resetBeforeWelcome, .resetBeforeWelcome, nil]
        try await withAICLI(script) { peers in
            var peers = peers
            peers.host.runner.configuration.recovery = .milliseconds(200)
            let impatient = peers
            async let sending = impatient.send("go")
            try await peers.server.reached("later")
            peers.server.release("later")
            await peers.server.resetAll()
            let shown = try await sending
            #expect(shown.error?.code == .streamInterrupted)
            #expect(peers.waits.withLockedValue(\.self) == [.seconds(1), .seconds(2), .seconds(4)])
            #expect(peers.server.prompts == ["go"])
        }
    }

    @Test("A server that is restarted in the middle of a turn has lost it, and the next turn begins a new session")
    func restartedInTurn() async throws {
        let turn = FakeAICLITurn([.text("Half."), .forgetSessions, .resetAll])
        try await withAICLI(.turns(turn)) { peers in
            let shown = try await peers.send("go")
            #expect(shown.error?.code == .streamInterrupted)
            #expect(shown.error?.message.contains("restarted") == true)
            #expect(peers.server.prompts == ["go"])
            #expect(try await peers.send("next").text == "You said: next")
        }
    }

    // MARK: Prompts that wait

    @Test("A host that hangs when it is asked about a session has not got the prompt")
    func hangingHost() async throws {
        let timeouts = CompanionClientConfiguration.Timeouts(request: .milliseconds(300))
        let script = FakeAICLIScript.with {
            $0.sessions = ["s1": "/Users/ada/web"]
            $0.silentPaths = ["/api/sessions/continue"]
        }
        try await withAICLI(script, timeouts: timeouts) { peers in
            try peers.store.updateSessions { $0.started("s1", in: "/Users/ada/web", at: Date()) }
            let id = try peers.keep("one")
            let shown = try await peers.sendKept(id)
            #expect(shown.error?.delivery == .notSent, "\(String(describing: shown.error))")
            #expect(try peers.store.outbox().prompts.map(\.state) == [.waiting])
            #expect(peers.server.prompts.isEmpty)
        }
    }

    @Test("A prompt of unknown fate stays, marked, and is not sent again by itself")
    func uncertain() async throws {
        try await withAICLI { peers in
            let id = try peers.keep("one")
            var impatient = peers
            impatient.host.runner.configuration.recovery = .milliseconds(100)
            peers.server.change {
                $0.faults = [.resetAfterPrompt]
                $0.turns = [FakeAICLITurn([])]
            }
            let shown = try await impatient.sendKept(id)
            #expect(shown.error != nil)
            #expect(peers.server.prompts == ["one"])
            #expect(try peers.store.outbox().prompts.map(\.state) == [.uncertain])
            #expect(try await peers.sendKept(id).error?.code == .busy)
            #expect(peers.server.prompts == ["one"])
        }
    }
}

extension AICLIPeers {
    /// Lets a prompt wait.
    fileprivate func keep(_ prompt: String) throws -> String {
        let added = try store.updateOutbox { $0.add(prompt, in: "/Users/ada/web", allowedTools: nil, at: Date()) }
        return try #require(added).id
    }

    /// Sends a prompt that waits.
    fileprivate func sendKept(_ id: String) async throws -> AICLIShown {
        let waiting = try #require(try store.outbox().prompts.first { $0.id == id })
        let journal = PromptJournal(waiting, in: store.outboxStore)
        let request = TurnRequest(prompt: waiting.prompt, projectPath: waiting.workingDirectory)
        var shown = AICLIShown()
        do {
            for try await output in host.turn(chatID: waiting.chat ?? "", request: request, journal: journal) {
                shown.outputs.append(output)
            }
        } catch let error as CompanionClientError {
            shown.error = error
        }
        return shown
    }
}
