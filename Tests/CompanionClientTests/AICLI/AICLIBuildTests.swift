import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Testing

/// What builds of the server do differently, over real sockets.
@Suite(.timeLimit(.minutes(15))) struct AICLIBuildTests {
    @Test("Only text of the assistant is shown and kept, whatever else comes in chunks")
    func otherChunks() async throws {
        let turn = FakeAICLITurn([
            .sessionID, .text("thinking hard", type: "status"), .text("One."), .sessionID,
            .text("x", type: "unheard-of"),
            .push(
                "assistantMessage",
                #""type":"tool_use","content":[{"type":"text","text":"One."},{"type":"tool_use","id":"t","name":"Read"}]"#
            ), .text("Two."), .result, .reply("One.\n\nTwo."),
        ])
        try await withAICLI(.turns(turn)) { peers in
            let shown = try await peers.send("go")
            #expect(shown.text == "One.\n\nTwo." && shown.tools == ["Read"])
            #expect(try await peers.transcript() == ["user: go", "assistant: One.\n\nTwo."])
        }
    }

    @Test("A connection that breaks when nothing but an id has come has no answer")
    func brokenBeforeText() async throws {
        let turn = FakeAICLITurn([.sessionID, .untilJoined, .sessionID, .result, .reply("lost")])
        try await withAICLI(.fault(.resetAfterPrompt, turn)) { peers in
            let shown = try await peers.send("go")
            #expect(shown.error?.code == .streamInterrupted && shown.summary == nil && shown.text.isEmpty)
            #expect(try await !peers.transcript().contains { $0.hasPrefix("assistant: ") })
        }
    }

    @Test("A build of late July answers: sessions begin with a prompt, and the result is the end")
    func july() async throws {
        var script = FakeAICLIScript(.july)
        let whole = "I look at the login.\n\nIt works."
        script.turns = [FakeAICLITurn([.text("I look at the login."), .tool("Read"), .result, .reply(whole)])]
        try await withAICLI(script) { peers in
            let shown = try await peers.send("go")
            #expect(shown.error == nil && shown.text == whole && shown.tools == ["Read"], "\(shown)")
            let again = try await peers.send("more")
            #expect(again.text == "You said: more", "\(String(describing: again.error))")
            #expect(peers.server.prompts == ["go", "more"])
            #expect(peers.server.frames("streamStart").allSatisfy { $0.data["prompt"]?.string != "go" })
        }
    }

    @Test("A build that greets nobody is spoken to after a while")
    func noWelcome() async throws {
        try await withAICLI(.with { $0.greets = false }) { peers in
            var peers = peers
            peers.host.runner.configuration.greeting = .milliseconds(20)
            let shown = try await peers.send("go")
            #expect(shown.error == nil && shown.text == "You said: go")
            #expect(peers.server.prompts == ["go"])
        }
    }

    @Test("A session that is listed is kept where the server cannot be asked to continue it, and only then")
    func noContinue() async throws {
        try await withAICLI(.with { $0.canContinue = false }) { peers in
            for prompt in ["one", "two", "three"] { _ = try await peers.send(prompt) }
            #expect(peers.server.frames("streamStart").count == 1)
            #expect(Set(peers.server.frames("claudeCommand").map { $0.data["sessionId"]?.string }).count == 1)
            peers.server.change { $0.sessions = [:] }
            let shown = try await peers.send("four")
            #expect(shown.text == "You said: four" && shown.notices.contains { $0.contains("starting a new one") })
            #expect(peers.server.frames("streamStart").count == 2)
        }
    }

    @Test(
        "A token is checked where the server looks at it, whatever else anybody may see",
        // Both `/ws` and a page, `/ws` alone, a page alone.
        arguments: [FakeAICLIScript.Generation.ws, .july, .http]
    )
    func laxToken(_ generation: FakeAICLIScript.Generation) async throws {
        var script = FakeAICLIScript(generation)
        script.guardsEverything = false
        for token in [nil, "0123456789"] as [String?] {
            try await withAICLI(script, token: .some(token)) { peers in
                #expect(try await !peers.host.projects().isEmpty)
                let error = try await clientError { try await peers.host.client.checkToken() }
                #expect(error.code == .notPaired, "\(error)")
            }
        }
        try await withAICLI(script) { peers in try await peers.host.client.checkToken() }
    }

    @Test("TLS ends at the certificate that was pinned: answers, tools and sessions come through it")
    func tls() async throws {
        let certificate = try TestCertificate()
        try await withAICLI(certificate: certificate) { peers in
            let shown = try await peers.send("go")
            #expect(shown.error == nil && shown.text == "You said: go", "\(String(describing: shown.error))")
            try await peers.host.client.checkToken()
            #expect(try await peers.send("again").text == "You said: again")
        }
    }

    @Test("Another certificate than the pinned one gets nothing, over HTTP and over a WebSocket")
    func otherKey() async throws {
        try await withFakeAICLI(certificate: try TestCertificate()) { server in
            let pinned = try PinnedCertificate(der: try TestCertificate().der)
            let endpoint = try server.endpoint
            try await withTemporaryDirectory { folder in
                try await AICLIClient.withClient(
                    endpoint: endpoint,
                    security: .pinned(pinned),
                    token: server.token,
                    deviceID: "0123456789abcdef"
                ) { client in
                    let health = try? await client.aicliHealth()
                    #expect(health == nil)
                    let host = AICLIHost(client: client, store: AICLIStore(data: folder, hostID: "x"))
                    let error = try await clientError {
                        let request = TurnRequest(prompt: "x", projectPath: "/Users/ada/web")
                        for try await _ in host.turn(chatID: "x", request: request) {}
                    }
                    #expect(error.delivery == .notSent)
                    #expect(server.requests.isEmpty && server.frames.isEmpty)
                }
            }
        }
    }

    @Test("A session ends at the server, whether it closes streams or pauses them", arguments: [true, false])
    func end(_ closesStreams: Bool) async throws {
        try await withAICLI(.with { $0.closesStreams = closesStreams }) { peers in
            _ = try await peers.send("go")
            let id = try #require(peers.server.sessions.first?.key)
            let hasEnded = try await peers.host.client.endSession(id)
            #expect(hasEnded && peers.server.sessions.isEmpty)
            let close = try #require(peers.server.frames("streamClose").first)
            #expect(close.data["sessionId"]?.string == id && close.data["clearChat"] == .bool(true))
        }
    }

    @Test("A session that is begun anew is another one, and the one from before ends", arguments: [true, false])
    func begin(_ hasOneSessionPerProject: Bool) async throws {
        try await withAICLI(
            .with {
                $0.hasOneSessionPerProject = hasOneSessionPerProject
                $0.sessions = hasOneSessionPerProject ? ["theirs": "/Users/ada/web"] : [:]
            }
        ) { peers in
            let project = CompanionProject(id: "web", name: "web", localPath: "/Users/ada/web", lastUpdatedAt: nil)
            let first = try await peers.host.beginSession(in: project)
            #expect(first != "theirs" && Array(peers.server.sessions.keys) == [first])
            let second = try await peers.host.beginSession(in: project)
            #expect(second != first && Array(peers.server.sessions.keys) == [second])
            _ = try await peers.send("go")
            #expect(peers.server.frames("claudeCommand").first?.data["sessionId"]?.string == second)
        }
    }
}
