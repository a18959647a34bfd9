import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Testing

@testable import pairtool

/// Prompts that wait for AICLI servers.
@Suite(.timeLimit(.minutes(15))) struct AICLIOutboxTests {
    private func withPaired(_ body: (FakeAICLI, Sandbox) async throws -> Void) async throws {
        try await withFakeAICLI { server in
            try await Sandbox.with { user in
                try await user.pair(server)
                try await body(server, user)
            }
        }
    }

    @Test("A prompt for a host that is off waits, is listed, and goes out once")
    func outbox() async throws {
        try await withPaired { server, user in
            server.change { $0.faults = [.closedHandshake, .closedHandshake] }
            let first = await user.run("send", "web", "one", "--queue")
            #expect(first.status == 0 && first.err.contains("is back: pairtool outbox send"), "\(first)")
            #expect(await user.run("send", "api", "two", "--queue").status == 0)
            let waiting = try await user.run("outbox", "--json").json
            #expect(waiting.compactMap { $0["prompt"]?.string } == ["one", "two"])
            let id = try #require(waiting.last?["id"]?.string)
            #expect(await user.run("outbox", "remove", id).status == 0)
            let sent = await user.run("outbox", "send")
            #expect(sent.status == 0 && sent.out == "You said: one\n", "\(sent)")
            #expect(server.prompts == ["one"])
            #expect(await user.run("outbox").isEmptyList)
        }
    }

    @Test("A host that is switched off and comes back gets what was written meanwhile, once and in order")
    func switchedOff() async throws {
        try await Sandbox.with { user in
            var script = FakeAICLIScript()
            let port = try await withFakeAICLI(script) { server in
                script.token = server.token
                try await user.pair(server)
                #expect(await user.run("send", "web", "zero").status == 0)
                return server.port
            }
            for (prompt, chat) in [("one", "web"), ("two", "api"), ("2b", "web")] {
                let result = await user.run("send", chat, prompt, "--queue")
                #expect(result.status == 0 && result.err.contains("The prompt waits as"), "\(result)")
            }
            // At a terminal, what is drawn must not hide why it failed.
            let failed = await user.run(["outbox", "send"], terminal: true)
            #expect(failed.status == 10 && failed.err.contains("pairtool: "), "\(failed)")
            try await withFakeAICLI(script, port: port) { server in
                let result = await user.run("send", "web", "three")
                #expect(result.status == 0 && result.out == "You said: three\n", "\(result)")
                #expect(server.prompts == ["one", "two", "2b", "three"])
                #expect(result.err.contains("Its answer: You said: two"), "\(result)")
                #expect(await user.run("outbox").isEmptyList)
            }
        }
    }

    @Test("The projects of a host that is off are shown as what was known, with their age, and as nothing newer")
    func offProjects() async throws {
        try await Sandbox.with { user in
            try await withFakeAICLI { server in
                try await user.pair(server)
                let listed = try await user.run("projects", "--json").json
                #expect(listed.count == 3 && listed.allSatisfy { $0["source"] == nil })
            }
            let later = Date().addingTimeInterval(208 * 86_400)
            for words in [["projects"], ["projects", "--offline"], ["chats", "web"]] {
                let known = await user.run(words + ["--json"], now: { later })
                #expect(known.status == 0 && known.err.contains("this is what was known 208 days ago."), "\(known)")
                let rows = try known.json
                #expect(!rows.isEmpty && rows.allSatisfy { $0["source"]?.string == "cache" }, "\(known)")
                let ages = rows.compactMap { $0["asOf"]?.string.flatMap(CompanionTimestamp.date) }
                #expect(ages.count == rows.count && ages.allSatisfy { $0 < later.addingTimeInterval(-200 * 86_400) })
            }
        }
    }

    @Test("A prompt that fails at the host does not hold up those behind it")
    func failedWaiting() async throws {
        try await Sandbox.with { user in
            var script = FakeAICLIScript()
            script.turns = [FakeAICLITurn([.error("COMMAND_FAILED", "no", copies: 2)])]
            script.projects.append(.init("gone", "/gone"))
            let port = try await withFakeAICLI(script) { server in
                script.token = server.token
                try await user.pair(server)
                #expect(await user.run("projects").status == 0)
                return server.port
            }
            for (prompt, chat) in [("one", "web"), ("lost", "gone"), ("two", "web")] {
                #expect(await user.run("send", chat, prompt, "--queue").status == 0)
            }
            script.projects.removeLast()
            try await withFakeAICLI(script, port: port) { server in
                let sent = await user.run("outbox", "send")
                #expect(sent.status != 0 && sent.out == "You said: two\n", "\(sent)")
                #expect(server.prompts == ["one", "two"])
                let left = try await user.run("outbox", "--json").json
                #expect(left.map { $0["prompt"] } == [.text("lost")], "\(left)")
                #expect(left.map { $0["state"] } == [.text("refused")], "\(left)")
            }
        }
    }

    @Test("Without --queue, a prompt for a host that is off is not kept, and no later one sends it")
    func notKept() async throws {
        try await withPaired { server, user in
            server.change { $0.faults = [.closedHandshake] }
            let failed = await user.run("send", "web", "one", "--json")
            #expect(failed.status == 10 && failed.failed(with: "host.unreachable"), "\(failed)")
            #expect(await user.run("outbox").isEmptyList)
            #expect(await user.run("send", "web", "two").out == "You said: two\n")
            #expect(server.prompts == ["two"])
        }
    }

    @Test("A prompt whose connection broke before its answer began stays until the user decides about it")
    func uncertain() async throws {
        try await withPaired { server, user in
            server.change { $0.faults = [.closedHandshake] }
            #expect(await user.run("send", "web", "one", "--queue").status == 0)
            server.change {
                $0.faults = [.resetAfterPrompt]
                $0.turns = [FakeAICLITurn([.forgetSessions])]
            }
            let sent = await user.run("outbox", "send", "--json")
            #expect(sent.status == 14 && sent.failed(with: "host.stream_interrupted"), "\(sent)")
            let rows = try await user.run("outbox", "--json").json
            #expect(rows.map { $0["state"] } == [.text("uncertain")], "\(sent)")
            #expect(await user.run("outbox", "send").isEmptyList)
            #expect(server.prompts == ["one"])
            let id = try #require(rows.first?["id"]?.string)
            let again = await user.run("outbox", "send", "--again", id)
            #expect(again.status == 0 && again.out == "You said: one\n", "\(again)")
            #expect(server.prompts == ["one", "one"])
            #expect(await user.run("outbox").isEmptyList)
        }
    }

    @Test("A command that reaches the host says what waits, and leaves its answer to a command that shows it")
    func notAlongTheWay() async throws {
        try await withPaired { server, user in
            server.change { $0.faults = [.closedHandshake] }
            #expect(await user.run("send", "web", "one", "--queue").status == 0)
            let listed = await user.run("projects")
            #expect(
                listed.err.contains("1 prompt waits for ") && listed.err.contains("pairtool outbox send"),
                "\(listed)"
            )
            #expect(server.prompts.isEmpty)
        }
    }
}
