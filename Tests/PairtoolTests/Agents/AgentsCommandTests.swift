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
            #expect(await user.run("lumi", "agents", "search", "nothing like it").status == 3)
            #expect(await user.run("lumi", "agents", "show", "ada").out.contains("Be brief."))
            #expect(await user.run("lumi", "agents", "--starred").status == 3)
            #expect(await user.run("lumi", "agents", "star", "Ada").status == 0)
            #expect(await user.run("lumi", "agents", "--starred", "-q").out == LumiStore.id(sample.agent) + "\n")
            #expect(await user.run("lumi", "agents", "star", "Ada", "--remove").status == 0)
            #expect(await user.run("lumi", "agents", "--starred").status == 3)
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
            for arguments in [["lumi", "agents"], ["lumi", "automations"], ["search", "x"], ["projects"], ["chats"]] {
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
            #expect(result.err.contains("next: pull it anew: pairtool lumi sync"))
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
