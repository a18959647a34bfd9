import CompanionClient
import CompanionTestSupport
import FoundationEssentials
import Identity
import LocalState
import Testing

@testable import pairtool

@Suite struct AgentsCommandTests {
    @Test func agentsAreListedSearchedShownAndMarked() async throws {
        try await Sandbox.with { user in
            let (_, sample) = try user.pullSample()
            let listed = await user.run("lumi", "agents", "--json")
            #expect(listed.status == 0, "\(listed.err)")
            let row = try #require(try listed.json.first)
            #expect(row["id"]?.string == LumiStore.id(sample.agent))
            #expect(row["model"]?.string == "gpt-x")
            #expect(row["systemPrompt"] == nil)
            #expect(
                await user.run("lumi", "agents", "search", "BE BRIEF", "-q").out == LumiStore.id(sample.agent) + "\n"
            )
            #expect(await user.run("lumi", "agents", "search", "nothing like it").isEmptyList)
            #expect(await user.run("lumi", "agents", "show", "ada").out.contains("Be brief."))
            #expect(await user.run("lumi", "agents", "--starred").isEmptyList)
            #expect(await user.run("lumi", "agents", "star", "Ada").status == 0)
            #expect(await user.run("lumi", "agents", "--starred", "-q").out == LumiStore.id(sample.agent) + "\n")
            #expect(await user.run("lumi", "agents", "star", "Ada", "--remove").status == 0)
            #expect(await user.run("lumi", "agents", "--starred").isEmptyList)
        }
    }

    @Test func hostileNamesReachNoTerminal() async throws {
        try await Sandbox.with { user in
            _ = try user.pullSample(name: #"A\u001b[2Jda\u202e"#)
            for arguments in [
                ["lumi", "agents"], ["lumi", "agents", "--json"], ["lumi", "agents", "show", "A"], ["projects"],
            ] {
                let result = await user.run(arguments)
                #expect(result.status == 0, "\(result.err)")
                #expect(!result.out.unicodeScalars.contains("\u{1B}"))
                #expect(!result.out.unicodeScalars.contains("\u{202E}"))
            }
        }
    }

    @Test func whatWasNeverPulledIsSaidWithTheWayToIt() async throws {
        try await Sandbox.with { user in
            _ = try user.recordLumiHost()
            for arguments in [["lumi", "agents"], ["lumi", "automations"], ["projects"], ["chats"]] {
                let result = await user.run(arguments)
                #expect(result.status == 3, "\(arguments) \(result.err)")
                #expect(result.err.contains("next: pairtool lumi sync"))
            }
        }
    }

    @Test func otherHostsHaveNoAgents() async throws {
        try await Sandbox.with { user in
            #expect(await user.run("lumi", "agents").status == 5)
            try await withFakeMac { mac in
                await user.pair(mac)
                let result = await user.run("lumi", "agents", "--json")
                #expect(result.status == 1)
                #expect(try result.errorCode == "host.cannot")
                // With one Lumi host besides, it is clear which one is meant.
                _ = try user.pullSample()
                #expect(await user.run("lumi", "agents").status == 0)
                let hosts = try await user.run("hosts", "--json").json
                let id = try #require(hosts.first { $0["family"]?.string == "copilotforge" }?["id"]?.string)
                let other = await user.run("lumi", "agents", "--host", id, "--json")
                #expect(other.status == 1, "\(other)")
            }
        }
    }

    @Test func aDamagedFileIsSaid() async throws {
        try await Sandbox.with { user in
            let (store, _) = try user.pullSample()
            try Array("oops".utf8).withUnsafeBytes { try PrivateFile.write($0, to: store.path(of: .agents)) }
            let result = await user.run("lumi", "agents")
            #expect(result.status == 1)
            #expect(result.err.contains("next: pull it again: pairtool lumi sync"))
        }
    }

    @Test func conversationsAreBrowsedAndSearched() async throws {
        try await Sandbox.with { user in
            let (_, sample) = try user.pullSample()
            #expect(await user.run("projects", "-q").out == LumiStore.id(sample.agent) + "\n")
            #expect(await user.run("chats", "Ada", "-q").out == LumiStore.id(sample.conversation) + "\n")
            let messages = await user.run("messages", "Tides")
            #expect(messages.out.contains("Why?"))
            #expect(messages.out.contains("The moon."))
            let found = await user.run("search", "MOON", "--json")
            #expect(try found.json.count == 1)
            #expect(try found.json.first?["chatTitle"]?.string == "Tides")
            #expect(await user.run("search", "sun").status == 3)
        }
    }

    @Test func automationsAreListedWithTheirAgents() async throws {
        try await Sandbox.with { user in
            let (store, sample) = try user.pullSample()
            let content = """
                {"items":[{"id":"\(UUID().uuidString)","title":"Morning","notes":"","trigger":{"type":"schedule","hour":7.5},\
                "agentId":"\(sample.agent.uuidString)","isEnabled":true,"createdAt":700000000}],"updatedAt":700000000}
                """
            try store.replace(.automations, with: Array(content.utf8))
            let row = try #require(try await user.run("lumi", "automations", "--json").json.first)
            #expect(row["trigger"]?.string == "schedule")
            #expect(row["agentName"]?.string == "Ada")
        }
    }
}

@Suite struct AgentChangeTests {
    @Test func anAgentIsMadeHereAndAnswersWithWhatItWasSetTo() async throws {
        try await Sandbox.with { user in
            // Nothing was ever pulled.
            _ = try user.recordLumiHost()
            let prompt = try user.file("prompt.md", Array("Be a gardener.\n".utf8))
            let made = await user.run(
                "lumi",
                "agents",
                "create",
                "Kit",
                "--provider",
                "OpenAI",
                "--model",
                "gpt-y",
                "--prompt-file",
                prompt,
                "--temperature",
                "0.5",
                "--json"
            )
            #expect(made.status == 0, "\(made.err)")
            let row = try made.json[0]
            #expect(row["origin"]?.string == "here" && row["systemPrompt"]?.string == "Be a gardener.")
            #expect(row["provider"]?.string == "OpenAI" && row["model"]?.string == "gpt-y")
            try await withFakeProviders { fake in
                let sent = try await user.spawn(
                    ["send", "--new", "--project", "Kit", "Hello"],
                    environment: fake.environment(key: madeKeyText())
                )
                #expect(sent.status == 0, "\(sent.err)")
                let asked = try #require(fake.requests.last).text
                #expect(asked.contains("Be a gardener.") && asked.contains(#""temperature":0.5"#))
            }
            #expect(await user.run("lumi", "agents", "delete", "kit").status == 2)
            #expect(await user.run("lumi", "agents", "delete", "kit", "--yes").out == "Deleted Kit.\n")
            #expect(await user.run("lumi", "agents").isEmptyList)
            #expect(await user.run("chats").out.contains("Hello"), "the chat stays")
            #expect(await user.run("lumi", "agents", "restore", "Kit").status == 3)
        }
    }

    @Test func aPulledAgentIsCopiedAndTheMacsOwnStays() async throws {
        try await Sandbox.with { user in
            let (store, sample) = try user.pullSample()
            let file = store.directory + "/agents.json"
            let pulled = try Data(contentsOf: URL(filePath: file))
            let edited = await user.run(
                "lumi",
                "agents",
                "edit",
                "Ada",
                "--name",
                "Eva",
                "--model",
                "gpt-z",
                "--temperature",
                "default",
                "--json"
            )
            #expect(edited.status == 0, "\(edited.err)")
            let row = try edited.json[0]
            #expect(row["id"]?.string == LumiStore.id(sample.agent) && row["origin"]?.string == "edited")
            #expect(row["name"]?.string == "Eva" && row["temperature"] == nil)
            #expect(row["systemPrompt"]?.string == "Be brief.", "what was not changed is the same")
            #expect(try Data(contentsOf: URL(filePath: file)) == pulled)
            // The next sync does not undo it.
            try store.replace(.agents, with: Array("[\(sample.agents())]".utf8))
            #expect(await user.run("lumi", "agents").out.contains("Eva"))
            #expect(await user.run("lumi", "agents", "show", "Eva").out.contains("edited here"))
            #expect(await user.run("lumi", "agents", "restore", "Ada").out == "Ada is as it was pulled.\n")
            #expect(await user.run("lumi", "agents", "show", "Ada").out.contains("gpt-x"))

            let deleted = await user.run("lumi", "agents", "delete", "Ada")
            #expect(deleted.status == 0 && deleted.out.contains("hidden here"))
            try store.replace(.agents, with: Array("[\(sample.agents())]".utf8))
            #expect(await user.run("lumi", "agents").isEmptyList)
            #expect(await user.run("lumi", "agents", "restore", "Ada").status == 0)
            #expect(await user.run("lumi", "agents", "-q").out == LumiStore.id(sample.agent) + "\n")
        }
    }

    @Test func aPromptComesFromStandardInputOrTheEditor() async throws {
        try await Sandbox.with { user in
            let (store, _) = try user.pullSample()
            let piped = try await user.spawn(
                ["lumi", "agents", "edit", "Ada", "--prompt-file", "-"],
                stdin: "From a pipe.\n"
            )
            #expect(piped.status == 0, "\(piped.err)")
            #expect(try store.loadAgents()?.items[0].configuration.systemPrompt == "From a pipe.")
            let written = try await user.spawn(
                ["lumi", "agents", "edit", "Ada", "--editor"],
                environment: ["EDITOR": "sed -i s/pipe/hand/"]
            )
            #expect(written.status == 0, "\(written.err)")
            #expect(try store.loadAgents()?.items[0].configuration.systemPrompt == "From a hand.")
        }
    }

    @Test(
        arguments: [
            (["edit", "Ada"], 2, "agent.nothing_to_change"), (["edit", "Bob", "--model", "m"], 3, "agent.unknown"),
            (["create", "ADA", "--provider", "openai", "--model", "m"], 2, "agent.exists"),
            (["create", "Kit", "--provider", "nobody", "--model", "m"], 2, "provider.unknown"),
            (["create", "Kit", "--model", "m"], 2, "usage"),
            (["create", "A\u{1b}[2J", "--provider", "openai", "--model", "m"], 2, "usage"),
            (["edit", "Ada", "--prompt", "a", "--editor"], 2, "usage"),
            (["edit", "Ada", "--temperature", "3"], 2, "usage"),
            (["delete", "Bob"], 3, "agent.unknown"), (["restore", "Ada"], 3, "agent.unknown"),
        ] as [([String], Int32, String)]
    )
    func whatCannotBeDoneIsSaid(arguments: [String], status: Int32, code: String) async throws {
        try await Sandbox.with { user in
            let (store, _) = try user.pullSample()
            let result = await user.run(["lumi", "agents"] + arguments + ["--json"])
            #expect(result.status == status, "\(result.err)")
            #expect(try result.errorCode == code)
            #expect(try store.loadAgents()?.items.map(\.name) == ["Ada"])
        }
    }

    @Test func aDamagedFileIsSaidWithTheWayOut() async throws {
        try await Sandbox.with { user in
            let (store, _) = try user.pullSample()
            #expect(await user.run("lumi", "agents", "edit", "Ada", "--model", "m").status == 0)
            try Array("{".utf8).withUnsafeBytes { try PrivateFile.write($0, to: store.directory + "/agents_here.json") }
            let result = await user.run("lumi", "agents")
            #expect(result.status == 1 && result.err.contains("next: move it away: mv"))
            #expect(store.damagedLocalFiles() == [store.directory + "/agents_here.json"])
        }
    }

    @Test func aFileOfANewerVersionIsRefusedAndLeftAsItIs() async throws {
        try await Sandbox.with { user in
            let (store, sample) = try user.pullSample()
            let path = store.directory + "/agents_here.json"
            let content = Array(#"{"version":2,"agents":{}}"#.utf8)
            try content.withUnsafeBytes { try PrivateFile.write($0, to: path) }
            for arguments in [["lumi", "agents"], ["lumi", "agents", "delete", "Ada"]] {
                let result = await user.run(arguments)
                #expect(result.status == 1, "\(result.err)")
                #expect(result.err.contains("\(path) was written by a newer version of pairtool"), "\(result.err)")
                #expect(result.err.contains("next: update pairtool"), "\(result.err)")
            }
            #expect(try await user.run("lumi", "agents", "--json").errorCode == "store.newer")
            #expect(throws: LumiStoreError.self) { try store.delete(sample.agent) }
            #expect(try PrivateFile.read(path) == content)
            #expect(store.damagedLocalFiles().isEmpty)
        }
    }

    @Test func aCopyThatWasDeletedStaysSoWhenTheMacListsItsOriginalAgain() async throws {
        try await Sandbox.with { user in
            let (store, sample) = try user.pullSample()
            #expect(await user.run("lumi", "agents", "edit", "Ada", "--model", "gpt-z").status == 0)
            try store.replace(.agents, with: Array("[]".utf8))
            #expect(await user.run("lumi", "agents", "-q").out == LumiStore.id(sample.agent) + "\n")
            #expect(await user.run("lumi", "agents", "delete", "Ada", "--yes").status == 0)
            try store.replace(.agents, with: Array("[\(sample.agents())]".utf8))
            #expect(await user.run("lumi", "agents").isEmptyList)
            #expect(await user.run("lumi", "agents", "restore", "Ada").status == 0)
            #expect(await user.run("lumi", "agents", "show", "Ada").out.contains("gpt-x"))
        }
    }
}
