import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Testing

@testable import pairtool

/// Commands for several hosts.
@Suite(.timeLimit(.minutes(15))) struct AllHostsTests {
    /// Two hosts: the second one has a project and a chat of its own, and a chat with a title of the first one's.
    private func withTwoMacs(_ body: (FakeMac, FakeMac, Sandbox) async throws -> Void) async throws {
        var other = FakeMacScript()
        other.projects = [
            CompanionProject(
                id: "p-shop",
                name: "shop",
                localPath: "/srv/shop",
                lastUpdatedAt: FakeMacScript.epoch + 60
            )
        ]
        other.chats = [
            CompanionChat(id: "c-cart", projectId: "p-shop", title: "Cart", lastUpdatedAt: FakeMacScript.epoch - 30),
            CompanionChat(id: "c-login-2", projectId: "p-shop", title: "Fix the login", lastUpdatedAt: nil),
        ]
        try await withFakeMac { first in
            try await withFakeMac(other) { second in
                try await Sandbox.with { user in
                    await user.pair(first)
                    await user.pair(second)
                    try await body(first, second, user)
                }
            }
        }
    }

    private func column(_ key: String, _ user: Sandbox, _ arguments: [String]) async throws -> [String] {
        let rows = try await user.run(arguments + ["--all-hosts", "--json"]).json
        return rows.compactMap { $0[key]?.string }
    }

    @Test("Lists of all hosts are merged, the newest first, and each row names its host")
    func lists() async throws {
        try await withTwoMacs { first, second, user in
            let projects = try await column("name", user, ["projects"])
            #expect(projects == ["shop", "web", "api"])
            let hosts = try await column("hostName", user, ["projects"])
            #expect(hosts.count == 3)
            #expect(hosts.first == second.endpointText)
            #expect(hosts.last == first.endpointText)
            let chats = try await column("title", user, ["chats"])
            #expect(chats == ["Fix the login", "Cart", "CORS", "Pagination", "Fix the login"])
            let shop = try await column("title", user, ["chats", "shop"])
            #expect(shop.count == 2)
            let text = await user.run("projects", "--all-hosts")
            #expect(text.status == 0, "\(text)")
            #expect(text.out.contains("HOST"))
            #expect(text.out.contains(second.endpointText))
        }
    }

    @Test("Of a paste into a question, the first line is the answer; the rest answers no other question")
    func paste() async throws {
        try await withTwoMacs { _, _, user in
            let ids = try await user.run("hosts", "--json").json.compactMap { $0["id"]?.string }
            let shell = #"for id; do "$TOOL" hosts forget $id; done; echo ended"#
            let tool = ["TOOL": BuiltTool.path]
            try await user.atTerminal(["-c", shell, "sh"] + ids, environment: tool, program: "/bin/sh") { terminal in
                try await terminal.shows("[y/N] ")
                try await terminal.type("y\ny\n")
                try await terminal.shows("Forgot ")
                try await terminal.shows("[y/N] ")
                try await terminal.type("n\n")
                try await terminal.shows("ended")
            }
            #expect(try await user.run("hosts", "--json").json.map { $0["id"]?.string } == [ids[1]])
        }
    }

    @Test("What no host has, and options that contradict each other")
    func refusals() async throws {
        try await withTwoMacs { first, _, user in
            #expect(await user.run("chats", "nothing", "--all-hosts").status == 3)
            #expect(await user.run("projects", "--all-hosts", "--host", first.endpointText).status == 2)
            #expect(await user.run("projects", "--timeout", "1s").status == 2)
        }
    }

    @Test("A host that does not answer in time is a line, or what was known of it, and not a wait for all")
    func late() async throws {
        try await withTwoMacs { first, second, user in
            second.change { $0.faults = [FakeMacFault(.stall(gate: "never"))] }
            let arguments = ["projects", "--all-hosts", "--timeout", "10s", "--json"]
            let some = await user.run(arguments)
            #expect(some.status == 0 && some.err.contains("host.timed_out"), "\(some.err)")
            #expect(try some.json.allSatisfy { $0["hostName"]?.string == first.endpointText })
            second.change { $0.faults = [] }
            #expect(await user.run("projects", "--all-hosts").status == 0)
            second.change { $0.faults = [FakeMacFault(.stall(gate: "never"))] }
            let known = await user.run(arguments)
            let stored = try #require(try known.json.first { $0["name"] == .text("shop") })
            #expect(stored["source"] == .text("cache") && stored["asOf"] != nil)
            #expect(try known.json.last?["source"] == nil)
            first.change { $0.faults = [FakeMacFault(.stall(gate: "never"))] }
            let status = await user.run("status", "--all-hosts", "--timeout", "0.3s", "--json")
            #expect(try status.json.map { $0["reachable"] } == [.bool(false), .bool(false)])
            #expect(status.status == 4 && status.failed(with: "hosts.none_answered"), "\(status.err)")
            #expect(await user.run("chats", "--all-hosts", "--timeout", "0.3s").status == 4)
        }
    }

    @Test("What is wrong in config.toml is said once, however many hosts are asked")
    func faults() async throws {
        try await withTwoMacs { _, _, user in
            let directory = user.directory + "/.config/pairtool"
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            try Data("[history]\nkep = \"90d\"\n".utf8).write(to: URL(filePath: directory + "/config.toml"))
            for arguments in [["chats", "--all-hosts"], ["status", "--all-hosts"], ["send", "cart", "why?"]] {
                let result = await user.run(arguments)
                #expect(result.status == 0, "\(result)")
                #expect(result.err.ranges(of: "config.toml").count <= 1, "\(result.err)")
            }
            #expect(await user.run("chats", "--all-hosts").err.contains("config.toml"))
        }
    }

    @Test("To watch all hosts sends what waits for each")
    func watch() async throws {
        try await withTwoMacs { first, second, user in
            let listed = await user.run("chats", "--all-hosts")
            #expect(listed.status == 0 && listed.err.isEmpty, "\(listed)")
            for mac in [first, second] { mac.change { $0.faults = [FakeMacFault(.close)] } }
            for (mac, chat) in [(first, "CORS"), (second, "Cart")] {
                let sent = await user.run("send", chat, "why?", "--queue", "--host", mac.endpointText)
                #expect(sent.status == 0, "\(sent)")
            }
            for mac in [first, second] { mac.change { $0.faults = [] } }
            let (_, result) = try await user.follow(["watch", "--all-hosts", "--json"]) { watch in
                try await watch.messages.has("has the prompt written", times: 2)
                try watch.interrupt()
            }
            #expect(result.status == 130, "\(result)")
            #expect(first.prompts == 1 && second.prompts == 1)
        }
    }

    @Test("The state of all hosts is a row each; one that answers is enough")
    func status() async throws {
        try await withTwoMacs { _, second, user in
            let both = try await user.run("status", "--all-hosts", "--json").json
            #expect(both.count == 2)
            second.change { $0.faults = [FakeMacFault(.stall(gate: "never"))] }
            let some = await user.run("status", "--all-hosts", "--timeout", "10s")
            #expect(some.status == 0 && some.out.contains("ready") && some.out.contains("unreachable"), "\(some)")
        }
    }

    @Test("Requests of all daemons are listed together")
    func approvals() async throws {
        try await withPairedJarvis { jarvis, user in
            let before = try await column("hostName", user, ["approvals"])
            jarvis.change { script in
                script.approvals.append(
                    FakeJarvisApproval(
                        id: "00000000-0000-4000-8000-000000000001",
                        action: "restart",
                        reason: "it hangs",
                        requestedBy: "gardener",
                        requestedAt: "2026-11-21T09:40:00Z"
                    )
                )
            }
            let actions = try await column("action", user, ["approvals"])
            #expect(actions.contains("restart"))
            let hosts = try await column("hostName", user, ["approvals"])
            #expect(hosts.count == before.count + 1)
            jarvis.change { $0.faults = [FakeJarvisFault(.reset)] }
            #expect(await user.run("approvals", "--all-hosts").status == 10)
        }
    }

    @Test("A chat is found by its title on any host; a title of several hosts sends nothing")
    func chats() async throws {
        try await withTwoMacs { first, second, user in
            let sent = await user.run("send", "cart", "empty it")
            #expect(sent.status == 0 && sent.err.contains("The chat is on \(second.endpointText)"), "\(sent)")
            #expect(first.prompts == 0 && second.prompts == 1)
            let ambiguous = await user.run("send", "Fix the login", "why?", "--json")
            #expect(ambiguous.status == 2 && ambiguous.failed(with: "chat.ambiguous"))
            #expect(ambiguous.err.contains(first.endpointText) && ambiguous.err.contains(second.endpointText))
            #expect(await user.run("send", "nothing", "why?").status == 3)
            #expect(first.prompts == 0 && second.prompts == 1)
            let named = ["send", "Fix the login", "why?", "--host", first.endpointText]
            #expect(await user.run(named).status == 0)
            #expect(await user.run("send", "c-login-2", "why?").status == 0)
            #expect(first.prompts == 1 && second.prompts == 2)
        }
    }

    @Test("A title that one host is known to have is not sent while another one was never listed")
    func neverListed() async throws {
        try await withTwoMacs { first, second, user in
            let list = await user.run("chats", "--host", second.endpointText)
            #expect(list.status == 0)
            first.change { $0.faults = [FakeMacFault(.close)] }
            let result = await user.run("send", "Fix the login", "why?", "--json")
            #expect(result.status == 10 && result.failed(with: "host.unreachable"), "\(result)")
            #expect(result.err.contains(first.endpointText) && result.err.contains("--host"), "\(result.err)")
            #expect(second.prompts == 0)
            #expect(await user.run("send", "c-login-2", "why?").status == 0)
            #expect(second.prompts == 1)
            // The other host answers: now the title is of two.
            first.change { $0.faults = [] }
            #expect(await user.run("send", "Fix the login", "why?").status == 2)
            #expect(await user.run("send", "Cart", "why?").status == 0)
            #expect(first.prompts == 0 && second.prompts == 2)
        }
    }

    @Test("What is known counts while hosts are away: a title of a host that does not answer is still one")
    func awayHosts() async throws {
        try await withTwoMacs { first, second, user in
            #expect(await user.run("chats", "--all-hosts").status == 0)
            second.change { $0.faults = [FakeMacFault(.close)] }
            let ambiguous = await user.run("send", "Fix the login", "why?")
            #expect(ambiguous.status == 2 && first.prompts == 0)
            // Only the first one has it, as far as is known: nobody else is asked.
            let count = second.requests.count
            #expect(await user.run("send", "Pagination", "why?").status == 0)
            #expect(first.prompts == 1 && second.requests.count == count)
            // A title that begins like this can be that host's alone: the other one has none.
            let queued = await user.run("send", "Car", "later", "--queue")
            #expect(queued.status == 0 && queued.err.contains("The prompt waits as "), "\(queued)")
            let missing = await user.run("send", "nothing", "why?", "--json")
            #expect(missing.status == 10 && missing.failed(with: "host.unreachable"), "\(missing)")
            let told = await user.run("send", "nothing", "why?")
            #expect(told.err.ranges(of: "closed the connection").count == 1, "\(told.err)")
        }
    }

    @Test("Events of all hosts name their hosts")
    func events() async throws {
        try await withTwoMacs { first, second, user in
            let arguments = ["watch", "--all-hosts", "--json", "--interval", "0.02s"]
            let (_, result) = try await user.follow(arguments) { watch in
                for mac in [first, second] {
                    let before = mac.requests("GET", "/companion/status").count
                    try await mac.asked("GET", "/companion/status", times: before + 2)
                    mac.connect(name: "Tablet")
                    let name = ShownJSON.text(mac.endpointText)
                    let event = try await watch.events.first("device.connected") { $0["hostName"] == name }
                    #expect(event["hostId"] != nil)
                }
                try watch.interrupt()
            }
            #expect(result.status == 130)
        }
    }
}
