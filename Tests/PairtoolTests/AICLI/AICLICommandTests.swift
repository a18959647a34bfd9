import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Identity
import NIOConcurrencyHelpers
import QRCodec
import Testing

@testable import pairtool

@Suite struct AICLICommandTests {
    private func withPaired(
        _ script: FakeAICLIScript = FakeAICLIScript(),
        _ body: (FakeAICLI, Sandbox) async throws -> Void
    ) async throws {
        try await withFakeAICLI(script) { server in
            try await Sandbox.with { user in
                try await user.pair(server)
                try await body(server, user)
            }
        }
    }

    private static func script(_ turns: FakeAICLITurn...) -> FakeAICLIScript {
        var script = FakeAICLIScript()
        script.turns = turns
        return script
    }

    @Test("A prompt is answered in the project's session, and the chat is kept here")
    func send() async throws {
        try await withPaired(Self.script(.answering("One.\n\nTwo.", pieces: ["One.", "Two."]))) { server, user in
            let result = await user.run("send", "web", "why?")
            #expect(result.status == 0 && result.out == "One.\n\nTwo.\n", "\(result)")
            #expect(await user.run("send", "--new", "--project", "web", "again").status == 0)
            #expect(server.sessions.count == 1)
            let messages = try await user.run("messages", "web", "--json").json
            #expect(messages.compactMap { $0["text"]?.string } == ["why?", "One.\n\nTwo.", "again", "You said: again"])
            let projects = try await user.run("projects", "--json").json
            #expect(projects.compactMap { $0["name"]?.string } == ["web", "api", "garden"])
            #expect(try await user.run("chats", "api", "--json").json.count == 1)
        }
    }

    @Test("JSON is one event a line and ends with the whole answer")
    func json() async throws {
        try await withPaired { _, user in
            let lines = try await user.run("send", "web", "hi", "--json").json
            #expect(lines.last?["type"]?.string == "finished" && lines.last?["answer"]?.string == "You said: hi")
            #expect(lines.contains { $0["type"]?.string == "usage" })
        }
    }

    @Test("At a terminal the agent's question is answered by a key, and without one it is denied")
    func permissionKey() async throws {
        let ask = FakeAICLITurn([
            .ask("Run \u{1B}[31mrm?\nrm -r build", options: ["n", "yes"], tool: "Bash", copies: 2), .reply("Done."),
        ])
        try await withPaired(Self.script(ask, ask)) { server, user in
            try await user.atTerminal(["send", "web", "go", "--plain"]) { terminal in
                try await terminal.shows("The agent asks: Run ␛[31mrm? (Bash)")
                try await terminal.shows("rm -r build")
                try await terminal.shows("[n] n (reject once)  [y] yes (allow once)  [v] show again: ")
                try await terminal.type("\r")
                try await terminal.shows("[v] show again: ")
                try await terminal.type("y")
                try await terminal.shows("Done.")
                #expect(try await terminal.status == 0)
            }
            let unanswered = await user.run("send", "web", "go", "--plain", stdin: "", terminal: true)
            #expect(unanswered.status == 0 && unanswered.err.contains("Denied: Run"), "\(unanswered)")
            #expect(server.prompts == ["go", "yes", "go", "n"])
        }
    }

    @Test("Where there is no terminal, the agent's question is denied, and an allowed tool needs none")
    func permission() async throws {
        let ask = FakeAICLITurn([
            .ask("Run \u{1B}[31mrm?", options: ["y", "n"], tool: "Bash", copies: 2), .reply("Done."),
        ])
        try await withPaired(Self.script(ask, ask)) { server, user in
            let denied = await user.run("send", "web", "go")
            #expect(denied.err.contains("Denied: Run") && !denied.err.contains("\u{1B}"))
            let allowed = await user.run("send", "web", "go", "--allow-tool", "Bash")
            #expect(allowed.err.contains("Allowed: Run") && allowed.out.hasSuffix("\n\nDone.\n"), "\(allowed)")
            #expect(server.prompts == ["go", "n", "go", "y"])
        }
    }

    @Test("--deny-questions denies at a terminal too, and for a prompt that waited")
    func denyQuestions() async throws {
        let ask = FakeAICLITurn([.ask("Run rm?", options: ["y", "n"], tool: "Bash", copies: 1), .reply("Done.")])
        try await withPaired(Self.script(ask, ask, ask, ask)) { server, user in
            let options = ["--deny-questions", "--allow-tool", "Read", "--plain"]
            let denied = await user.run(["send", "web", "go"] + options, stdin: "y\n", terminal: true)
            #expect(denied.status == 0 && denied.err.contains("Denied: Run rm?"), "\(denied)")
            #expect(!denied.err.contains("The agent asks"), "\(denied)")
            server.change { $0.faults = [.resetBeforeWelcome] }
            #expect(await user.run(["send", "web", "later", "--queue"] + options).status == 0)
            let late = await user.run("outbox", "send", "--plain", stdin: "y\n", terminal: true)
            #expect(late.status == 0 && late.err.contains("Denied: Run rm?"), "\(late)")
            #expect(!late.err.contains("The agent asks"), "\(late)")
            #expect(await user.run("send", "web", "all", "--allow-all-tools", "--queue").status == 0)
            let nobody = await user.run("send", "web", "none", "--queue")
            #expect(nobody.err.contains("To allow it next time: pairtool send --allow-tool NAME"), "\(nobody)")
            #expect(server.prompts == ["go", "n", "later", "n", "all", "y", "none", "n"])
        }
    }

    @Test("The inbox says that it does not list AICLI hosts, and sends them nothing")
    func notInInbox() async throws {
        try await withPaired { server, user in
            let rows = try await user.run("status", "--json").json.first?["capabilities"]?.array
            let row = try #require(rows?.first { $0["capability"] == .text("approvals") })
            #expect(row["available"] == .bool(false) && row["note"]?.string?.contains("sent the prompt") == true)
            let count = server.requests.count
            let alone = await user.run("approvals")
            #expect(alone.status == 5 && alone.err.contains("Not listed: "), "\(alone)")
            #expect(await user.run("approvals", "--json").err.contains("Not listed") == false)
            try await withFakeJarvis { jarvis in
                await user.pair(jarvis)
                let both = await user.run("approvals")
                #expect(both.status == 0 && both.err.contains("Agents there ask only in the command"), "\(both)")
                let one = await user.run("approvals", "--host", jarvis.endpointText)
                #expect(one.status == 0 && !one.err.contains("Not listed"), "\(one)")
            }
            #expect(server.requests.count == count)
        }
    }

    @Test("A question that names its tool in words only is covered by that tool, and by no other")
    func permissionByName() async throws {
        let ask = FakeAICLITurn([
            .ask("May I use the Bash tool to run ls?", options: ["y", "n"], tool: nil, copies: 1), .reply("Done."),
        ])
        try await withPaired(Self.script(ask, ask)) { server, user in
            #expect(await user.run("send", "web", "go", "--allow-tool", "Read").status == 0)
            #expect(await user.run("send", "web", "go", "--allow-tool", "Bash").status == 0)
            #expect(server.prompts == ["go", "n", "go", "y"])
        }
    }

    @Test("Failures have exit codes and a next step")
    func failures() async throws {
        try await withPaired(Self.script(FakeAICLITurn([.error("COMMAND_FAILED", "overloaded", copies: 2)]))) {
            server,
            user in
            let failed = await user.run("send", "web", "go", "--json")
            #expect(failed.status == 1 && failed.err.contains("overloaded"))
            server.change { $0.mostSessions = 1 }
            let full = await user.run("send", "api", "go", "--json")
            #expect(full.status == 1 && full.err.contains("pairtool aicli sessions"))
            server.change { $0.token = FakeAICLIScript.newToken() }
            let refused = await user.run("send", "web", "go", "--json")
            #expect(refused.status == 5, "\(refused)")
            server.change {
                $0.token = nil
                $0.generation = .http
            }
            let newest = await user.run("send", "web", "go")
            #expect(newest.status == 12 && newest.err.contains("Apple's push service"))
        }
    }

    @Test("What a command cannot do with an AICLI host is said")
    func cannot() async throws {
        try await withPaired { _, user in
            for arguments in [["models"], ["devices"], ["worktrees"], ["changes", "web"]] {
                let result = await user.run(arguments + ["--json"])
                #expect(result.status != 0, "\(arguments)")
                let code = try result.errorCode
                #expect(code == "host.cannot", "\(result.err)")
            }
        }
    }

    @Test("Pictures are refused plainly, at the beginning and in the chat; the prompt goes out without")
    func noPictures() async throws {
        try await withPaired { server, user in
            let picture = try user.file("picture", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
            let refused = await user.run("chat", "web", "--image", picture, "--json", stdin: "hi\n")
            #expect(refused.status == 1 && refused.failed(with: "host.cannot"), "\(refused.err)")
            #expect(server.prompts.isEmpty)
            let chat = await user.run("chat", "web", stdin: "/image \(picture)\nhi\n")
            #expect(chat.status == 0 && chat.err.contains("does not accept pictures"), "\(chat.err)")
            #expect(server.prompts == ["hi"])
        }
    }

    // MARK: Going on by itself

    @Test("The agent continues by itself up to the number of messages")
    func messageCount() async throws {
        let turns = (0..<9).map { FakeAICLITurn.answering("Part \($0).") }
        var script = FakeAICLIScript()
        script.turns = turns
        try await withPaired(script) { server, user in
            let result = await user.run(
                "chat",
                "web",
                "--auto",
                "message-count",
                "--auto-messages",
                "2",
                stdin: "go\n"
            )
            #expect(result.status == 0, "\(result.err)")
            #expect(server.prompts.count == 3 && server.prompts.first == "go")
            #expect(result.out == "Part 0.\nPart 1.\nPart 2.\n")
            #expect(result.err.contains("auto mode, 2 of at most 2") && result.err.contains("which is the limit"))
        }
    }

    @Test("The agent's own word ends it, and each new prompt begins anew")
    func completion() async throws {
        let script = Self.script(
            .answering("Half."),
            .answering("The rest.\n\nTASK COMPLETE"),
            .answering("Which colour?"),
            .answering("And which shade?"),
            .answering("Blue.")
        )
        try await withPaired(script) { server, user in
            let result = await user.run(
                "chat",
                "web",
                "--auto",
                "hybrid",
                stdin: "go\nmore\n/auto off\nlast\n/auto\n"
            )
            #expect(server.prompts.count == 5 && server.prompts[2] == "more" && server.prompts[4] == "last")
            #expect(server.prompts[3].hasPrefix("Decide that yourself"))
            #expect(result.err.contains("says that it is done") && result.err.contains("asks something"))
            #expect(result.err.contains("auto mode: off"))
        }
    }

    @Test("Words of being done in the middle of a task do not end it")
    func stillAtWork() async throws {
        let script = Self.script(
            .answering("I will report when everything is done."),
            .answering("Step 1 of 12: the parser, completed successfully. Now step 2."),
            .answering("I did not finish: 4 files remain. All done with parsing."),
            .answering("Everything is done."),
            .answering("Too much.")
        )
        try await withPaired(script) { server, user in
            let result = await user.run("chat", "web", "--auto", "smart-stop", stdin: "go\n")
            #expect(server.prompts.count == 4 && result.err.contains("says that it is done"), "\(result)")
        }
    }

    @Test("The time of a mode runs from the prompt on: an answer that takes longer is the last")
    func timeSincePrompt() async throws {
        let clock = NIOLockedValueBox(Date())
        var script = Self.script(
            FakeAICLITurn([.text("Slow."), .hold("answer"), .reply("Slow.")]),
            .answering("More.")
        )
        script.token = nil
        try await withPaired(script) { server, user in
            async let chat = user.run(
                "chat",
                "web",
                "--auto",
                "timed",
                "--auto-time",
                "5m",
                stdin: "go\n",
                now: { clock.withLockedValue(\.self) }
            )
            try await server.reached("answer")
            clock.withLockedValue { $0 += 301 }
            server.release("answer")
            let result = await chat
            #expect(server.prompts == ["go"] && result.err.contains("the time is over"), "\(result)")
        }
    }

    @Test("A turn that fails ends it")
    func failedTurn() async throws {
        let script = Self.script(.answering("Half."), FakeAICLITurn([.error("COMMAND_FAILED", "no", copies: 1)]))
        try await withPaired(script) { server, user in
            let result = await user.run("chat", "web", "--auto", "timed", "--auto-time", "5m", stdin: "go\n")
            #expect(server.prompts.count == 2 && result.err.contains("the turn failed"))
        }
    }

    @Test(
        "Its limits are checked",
        arguments: [["--auto-messages", "5"], ["--auto", "ever"], ["--auto", "timed", "--auto-time", "0m"]]
    )
    func autoUsage(_ arguments: [String]) async throws {
        try await Sandbox.with { user in
            #expect(await user.run(["chat", "web"] + arguments).status == 2)
        }
    }

    // MARK: Sessions

    @Test("A session ends by its project's name or id, which makes room; new session begins another one")
    func endAndBegin() async throws {
        try await withPaired { server, user in
            server.change { $0.mostSessions = 1 }
            _ = await user.run("send", "web", "hi")
            let first = try #require(server.sessions.first?.key)
            let full = await user.run("send", "api", "hi")
            #expect(full.status == 1 && full.err.contains("pairtool aicli sessions"), "\(full)")
            let ended = await user.run("aicli", "sessions", "end", "web")
            #expect(ended.status == 0 && ended.out.contains("/Users/ada/web"), "\(ended)")
            #expect(server.sessions.isEmpty && server.frames("streamClose").count == 1)
            #expect(await user.run("send", "api", "hi").status == 0)
            let id = try #require(server.sessions.first?.key)
            #expect(await user.run("aicli", "sessions", "end", String(id.prefix(8)), "-q").out == "\(id)\n")
            #expect(await user.run("aicli", "sessions", "end", "nothing").status == 3)
            let refused = await user.run("projects", "new", "shed", "--json")
            #expect(refused.status == 1 && refused.failed(with: "host.cannot"), "\(refused.err)")
            let begun = await user.run("aicli", "sessions", "new", "web", "-q")
            let second = try #require(server.sessions.first?.key)
            #expect(begun.out == "\(second)\n" && second != first, "\(begun)")
            let third = await user.run("aicli", "sessions", "new", "web", "-q")
            #expect(third.status == 0 && third.out != begun.out, "\(third)")
            #expect(server.sessions.count == 1)
            #expect(await user.run("send", "web", "hi").status == 0)
            #expect(server.frames("claudeCommand").last?.data["sessionId"]?.string == server.sessions.first?.key)
        }
    }

    @Test("Sessions are listed with their state, and those that are gone are cleaned up")
    func sessions() async throws {
        try await withPaired { server, user in
            #expect(await user.run("aicli", "sessions").isEmptyList)
            _ = await user.run("send", "web", "hi")
            _ = await user.run("send", "api", "hi")
            server.change { script in
                script.sessions = script.sessions.filter { $0.value.hasSuffix("web") }
                script.sessions["other-device"] = "/Users/ada/garden"
            }
            let rows = try await user.run("aicli", "sessions", "--json").json
            #expect(rows.compactMap { $0["state"]?.string }.sorted() == ["active", "foreign", "gone"])
            let cleaned = try await user.run("aicli", "sessions", "cleanup", "--json").json
            #expect(cleaned.compactMap { $0["workingDirectory"]?.string } == ["/Users/ada/api"])
            #expect(try await user.run("aicli", "sessions", "--json").json.count == 2)
        }
    }
}

extension Sandbox {
    /// Pairs with a fake AICLI server, so that it is the default host.
    func pair(_ server: FakeAICLI) async throws {
        var arguments = ["pair", "--family", "aicli", "--url", "http://\(server.endpointText)", "--allow-legacy"]
        if let token = server.token {
            arguments += ["--token-file", try file("token", Array("\(token)\n".utf8))]
        }
        let result = await run(arguments)
        #expect(result.status == 0, "\(result.err)")
    }
}
