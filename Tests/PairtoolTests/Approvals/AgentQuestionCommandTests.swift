import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Identity
import Testing

@testable import pairtool

/// What an agent asks, answered by the built binary: at a terminal, by options, and from elsewhere.
@Suite(.serialized, .timeLimit(.minutes(15))) struct AgentQuestionCommandTests {
    /// Runs a host with an agent that asks when its prompt is “ask”, and a user who has paired with it.
    func withAgent(
        _ host: [String] = [],
        pair: [String] = [],
        _ body: @escaping @Sendable (_ host: Sandbox, _ user: Sandbox, HostEvents) async throws -> Void
    ) async throws {
        try await withProject { owner, user in
            let agent = try FakeACPAgent.command(in: owner.directory).joined(separator: " ")
            let arguments = [
                "--name", "Shed", "--project", owner.directory + "/garden", "--agent-command", agent, "--acp",
            ]
            try await withRunningHost(owner, arguments + host) { events in
                try await user.pair(try await events.payload.text, pair)
                try await body(owner, user, events)
            }
        }
    }

    private static let ask = ["send", "--new", "ask"]

    /// The id of the question that the host was asked last.
    private static func question(_ events: HostEvents) async throws -> String {
        try #require(try await events.first("question_asked")["questionId"]?.string)
    }

    @Test(
        "Without a terminal, options answer: by name, by kind, all, or no",
        arguments: [
            (["--allow-tool", "execute"], "y"), (["--allow-tool", "Run it"], "y"), (["--allow-all-tools"], "y"),
            (["--deny-questions"], "n"), (["--allow-tool", "edit", "--deny-questions"], "n"),
            (["--queue", "--allow-tool", "execute"], "y"), (["--queue", "--deny-questions"], "n"),
        ]
    )
    func options(options: [String], answer: String) async throws {
        try await withAgent { _, user, _ in
            let result = try await user.spawn(Self.ask + options + ["--json"])
            #expect(result.status == 0, "\(result)")
            let lines = try result.json
            #expect(lines.last?["answer"] == .text("chosen: \(answer)"))
            let types = lines.compactMap { $0["type"]?.string }.filter { $0.hasPrefix("approval_") }
            #expect(types == ["approval_asked", "approval_decided", "approval_continued"])
        }
    }

    @Test("What an agent thinks, plans and changes, and its pictures, are lines of JSON of their own")
    func reports() async throws {
        try await withAgent { _, user, _ in
            let lines = try await user.spawn(["send", "--new", "think", "--json"]).json
            let thoughts = lines.filter { $0["type"] == .text("thought") }.compactMap { $0["text"]?.string }
            #expect(thoughts == ["Let me ", "see."])
            let plan = try #require(lines.first { $0["type"] == .text("plan") })
            let steps = [("Look", "completed"), ("Do it", "in_progress")].map { text, status in
                ShownJSON.object(["text": .text(text), "status": .text(status)])
            }
            #expect(plan["steps"] == .list(steps))
            let shown = try await user.spawn(["send", "--new", "show 100000", "--json"]).json
            let tools = Self.lines(of: "tool", in: shown)
            #expect(tools.compactMap { $0["state"]?.string } == ["pending", "completed"])
            #expect(tools.allSatisfy { $0["kind"] == .text("edit") && $0["toolCallId"] == .text("t") })
            #expect(tools.first?["locations"] == .list([.object(["path": .text("a.txt"), "line": .number(2)])]))
            let diff = try #require(Self.diff(tools.last))
            #expect(diff.hasPrefix("--- a.txt\n+++ a.txt\n@@ ") && diff.contains("\n-two\n+2\n"), "\(diff.prefix(200))")
            #expect(diff.utf8.count == 64 << 10, "no more than readers can take")
            let media = try #require(shown.first { $0["type"] == .text("media") })
            #expect(media["mimeType"] == .text("image/png") && media["data"] == .text("AAAA"))
            #expect(shown.last?["answer"] == .text("[image/png, 1 KiB]"))
        }
    }

    private static func lines(of type: String, in all: [[String: ShownJSON]]) -> [[String: ShownJSON]] {
        all.filter { $0["type"]?.string == type }
    }

    /// The first change of a tool.
    private static func diff(_ tool: [String: ShownJSON]?) -> String? {
        guard case .list(let changes)? = tool?["changes"] else { return nil }
        return changes.first?["diff"]?.string
    }

    @Test("At a terminal, thoughts are folded, and the plan and the changes are shown")
    func reportsAtTerminal() async throws {
        try await withAgent { _, user, _ in
            try await user.atTerminal(["send", "--new", "think"]) { terminal in
                try await terminal.shows("✻ Thought for ")
                try await terminal.shows("☑ Look")
                try await terminal.shows("☐ Do it")
                try await terminal.shows("Done.")
                #expect(try await terminal.status == 0)
            }
            try await user.atTerminal(["send", "--new", "show 30"]) { terminal in
                try await terminal.shows("⚙ Edit done: a.txt +31 −1")
                try await terminal.shows("-two")
                try await terminal.shows("+2")
                try await terminal.shows("… 14 more lines: pairtool changes ")
                try await terminal.shows("[image/png, 1 KiB]")
                #expect(try await terminal.status == 0)
            }
        }
    }

    @Test("Without a terminal and options, send says that it waits; somebody else answers, and watch tells of it")
    func waits() async throws {
        try await withAgent { host, user, events in
            let (_, watched) = try await user.follow(["watch", "--json"]) { watch in
                _ = try await watch.events.first("hello")
                let (_, result) = try await user.follow(Self.ask + ["--json"]) { run in
                    let asked = try await run.events.first("approval_asked")
                    #expect(asked["title"] == .text("Run it") && asked["kind"] == .text("execute"))
                    let id = try #require(asked["approvalId"]?.string)
                    try await run.messages.has("pairtool approvals approve \(id.prefix(8))")
                    #expect(try await watch.events.first("approval.asked")["approvalId"] == .text(id))
                    let shown = try await user.spawn(["approvals", "show", String(id.prefix(8)), "--json"])
                    #expect(try shown.json[0]["arguments"]?.string?.hasPrefix("rm -r build\n") == true, "\(shown)")
                    let always = try await user.spawn(["approvals", "approve", id, "--always", "--json"])
                    #expect(always.status == 9 && always.err.contains("Only the host's owner"), "\(always)")
                    let approved = try await user.spawn(["approvals", "approve", String(id.prefix(8)), "--json"])
                    #expect(try approved.json[0]["status"] == .text("approved"), "\(approved)")
                    let desk = ShownJSON.text("Device “desk”")
                    #expect(try approved.json[0]["decidedBy"] == desk)
                    #expect(try approved.json[0]["continuedAt"]?.string?.isEmpty == false, "\(approved)")
                    let after = try await user.spawn(["approvals", "show", id])
                    #expect(after.out.contains("\nwent on  2"), "\(after)")
                    #expect(try await run.events.first("approval_decided")["decidedBy"] == desk)
                    _ = try await run.events.first("approval_continued")
                    #expect(try await run.events.first("finished")["answer"] == .text("chosen: y"))
                    let second = try await user.spawn(["approvals", "reject", id, "--json"])
                    #expect(second.status == 1 && second.failed(with: "approval.already_decided"), "\(second)")
                    #expect(second.err.contains("Device “desk” answered first"))
                }
                #expect(result.status == 0, "\(result)")
                let desk = ShownJSON.text("Device “desk”")
                let decided = try await watch.events.first("approval.decided")
                #expect(decided["decidedBy"] == desk)
                let continued = try await watch.events.first("approval.continued")
                #expect(continued["approvalId"] == decided["approvalId"] && continued["decidedBy"] == desk)
                try watch.interrupt()
            }
            #expect(watched.status == 130)
            #expect(try await events.first("question_ended")["by"] == .text("Device “desk”"))
            #expect(try await events.first("question_continued")["outcome"] == .text("approved"))
            #expect(try await events.first("always_refused")["deviceName"] == .text("desk"))
        }
    }

    @Test(
        "What answers the questions about a prompt is applied when it has waited; no command sends it along the way",
        arguments: [(["--allow-tool", "execute"], "y"), (["--allow-all-tools"], "y"), (["--deny-questions"], "n")]
    )
    func waited(options: [String], answer: String) async throws {
        try await withAgent { _, user, events in
            try await withCutRelay(before: try await events.ports.secure) { relay in
                let first = try await user.spawn(["send", "--new", "say hello", "--json"])
                let chat = try #require(try first.json.last?["chatId"]?.string)
                #expect(try await user.spawn(["chats"]).status == 0)
                let endpoint = try #require(CompanionEndpoint("127.0.0.1:\(relay.port)"))
                try PairedHostStore(directory: user.data).update {
                    ($0.hosts[0].endpoint, $0.hosts[0].namedEndpoint) = (endpoint, nil)
                }
                // Else the host is found past its tunnel, by its adverts.
                let blind = ["PAIRTOOL_INTERFACE": "none0"]
                for sending in [["outbox", "send"], ["send", chat, "say more"]] {
                    relay.close()
                    let kept = try await user.spawn(["send", chat, "ask", "--queue"] + options, environment: blind)
                    #expect(kept.status == 0 && kept.err.contains("back: pairtool outbox send"), "\(kept)")
                    let behind = try await user.spawn(["send", chat, "say two", "--queue"], environment: blind)
                    #expect(behind.status == 0, "\(behind)")
                    relay.open()
                    let other = try await user.spawn(["projects"], environment: blind)
                    #expect(other.status == 0, "\(other)")
                    #expect(other.err.contains("2 prompts wait for Shed: pairtool outbox send"), "\(other)")
                    let sent = try await user.spawn(sending, environment: blind)
                    #expect(sent.status == 0 && (sent.out + sent.err).contains("chosen: \(answer)"), "\(sent)")
                    #expect(try await user.spawn(["outbox"]).isEmptyList, "\(sent)")
                }
            }
        }
    }

    @Test("--deny-questions of a chat holds in the chats that are begun in it")
    func deniesInNewChat() async throws {
        try await withAgent { _, user, _ in
            let words = ["chat", "--deny-questions"]
            let chat = try await user.spawn(words, stdin: "say hello\n/new\nask\n/chats\n/chats 1\nask\n")
            #expect(chat.status == 0 && chat.out.components(separatedBy: "chosen: n").count == 3, "\(chat)")
        }
    }

    @Test("A question about a queued prompt is asked at a terminal; without one, a line says where to answer")
    func queued() async throws {
        try await withAgent { _, user, _ in
            let (_, sent) = try await user.follow(Self.ask + ["--queue", "--json"]) { run in
                let id = try #require(try await run.events.first("approval_asked")["approvalId"]?.string)
                try await run.messages.has("pairtool approvals approve \(id.prefix(8))")
                #expect(try await user.spawn(["approvals", "reject", String(id.prefix(8))]).status == 0)
                #expect(try await run.events.first("finished")["answer"] == .text("chosen: n"))
            }
            #expect(sent.status == 0, "\(sent)")
            try await user.atTerminal(Self.ask + ["--queue"]) { terminal in
                try await terminal.shows("[y] Yes (allow once)  [n] No (reject once)  [v] show again: ")
                try await terminal.type("y")
                try await terminal.shows("chosen: y")
                #expect(try await terminal.status == 0)
            }
        }
    }

    @Test("At a terminal, a key answers; Enter does not, and only offered keys do")
    func key() async throws {
        try await withAgent { _, user, _ in
            try await user.atTerminal(Self.ask) { terminal in
                try await terminal.shows("The agent asks: Run it (execute)")
                try await terminal.shows("rm -r build")
                try await terminal.shows("[y] Yes (allow once)  [n] No (reject once)  [v] show again: ")
                try await terminal.type("\r")
                try await terminal.shows("[y] Yes (allow once)  [n] No (reject once)  [v] show again: ")
                try await terminal.type("a")
                try await terminal.shows("[y] Yes (allow once)  [n] No (reject once)  [v] show again: ")
                try await terminal.type("y")
                try await terminal.shows("chosen: y")
                #expect(try await terminal.status == 0)
            }
        }
    }

    @Test("Where the host lets devices, there are keys for always and never")
    func alwaysKey() async throws {
        try await withAgent(["--always-by", "devices"]) { _, user, _ in
            try await user.atTerminal(Self.ask + ["--plain"]) { terminal in
                try await terminal.shows("[n] No (reject once)\n[N] Never (reject always)\n[v] show again: ")
                try await terminal.type("N")
                try await terminal.shows("chosen: N")
                #expect(try await terminal.status == 0)
            }
        }
    }

    @Test("In a chat, a question that is answered elsewhere goes away, and the next one is answered by a key")
    func chat() async throws {
        try await withAgent { host, user, events in
            try await user.atTerminal(["chat"]) { terminal in
                try await terminal.shows("› ")
                try await terminal.type("ask\r")
                try await terminal.shows("[y] Yes")
                let id = try await Self.question(events)
                #expect(try await host.spawn(["host", "approvals", "reject", id]).status == 0)
                try await terminal.shows("The owner answered “No” (rejected)")
                try await terminal.shows("chosen: n")
                try await terminal.shows("› ")
                try await terminal.type("ask\r")
                try await terminal.shows("[v] show again: ")
                try await terminal.type("y")
                try await terminal.shows("chosen: y")
                try await terminal.shows("› ")
                try await terminal.type("\u{4}")
                #expect(try await terminal.status == 0)
                #expect(try await terminal.echoesAtEnd)
            }
        }
    }

    @Test("A device without the permission is told who answers; the owner can give it the permission")
    func noPermission() async throws {
        try await withAgent(pair: ["--permission", "chat.create", "--permission", "chat.send"]) { host, user, events in
            try await user.atTerminal(Self.ask) { terminal in
                try await terminal.shows("This device may not answer; the host's owner may")
                let id = try await Self.question(events)
                #expect(try await user.spawn(["approvals", "approve", id]).status == 9)
                let granted = try await host.spawn(["host", "permissions", "desk", "--add", "approve"])
                #expect(granted.out.contains("approve"), "\(granted)")
                #expect(try await user.spawn(["approvals", "approve", id]).status == 0)
                try await terminal.shows("chosen: y")
                #expect(try await terminal.status == 0)
            }
            #expect(try await host.spawn(["host", "devices"]).out.contains("approve"))
            let removed = try await host.spawn(["host", "permissions", "desk", "--remove", "approve", "--json"])
            #expect(try removed.json[0]["permissions"] == .list([.text("chat.create"), .text("chat.send")]))
        }
    }

    @Test("One inbox has the questions of agents and the requests of daemons")
    func inbox() async throws {
        try await withAgent { host, user, events in
            try await withFakeJarvis { jarvis in
                await user.pair(jarvis)
                let (_, watched) = try await user.follow(["approvals", "--watch", "--json", "--interval", "0.05s"]) {
                    watch in
                    _ = try await watch.events.first("added") { $0["hostName"] != .text("Shed") }
                    let (_, sent) = try await user.follow(Self.ask + ["--host", "Shed", "--json"]) { run in
                        let id = try #require(try await run.events.first("approval_asked")["approvalId"]?.string)
                        let added = try await watch.events.first("added") { $0["hostName"] == .text("Shed") }
                        #expect(added["approval"]?["id"] == .text(id) && added["approval"]?["kind"] == .text("execute"))
                        let rows = try await user.spawn(["approvals", "--json"]).json
                        #expect(rows.count == 4 && Set(rows.compactMap { $0["hostName"]?.string }).count == 2)
                        #expect(rows.last?["action"] == .text("Run it") && rows.last?["status"] == .text("pending"))
                        // The owner sees the same row.
                        let own = try await host.spawn(["host", "approvals", "--json"]).json
                        #expect(own.count == 1 && own.first?["daemon"] == .text("localhost"))
                        for key in ["id", "action", "kind", "status", "chatId", "turnId", "requestedAt", "expiresAt"] {
                            #expect(own.first?[key] == rows.last?[key] && own.first?[key] != nil, "\(key)")
                        }
                        let shown = try await host.spawn(["host", "approvals", "show", id])
                        let next =
                            "To answer: pairtool host approvals approve \(id.prefix(8)), or reject \(id.prefix(8))"
                        #expect(shown.out.contains("Run it") && shown.err == next + "\n", "\(shown)")
                        let text = try await user.spawn(["approvals"])
                        #expect(text.out.contains("HOST") && text.out.contains("Shed"), "\(text)")
                        // Each by its id alone: who has it is found.
                        let rejected = try await user.spawn(["approvals", "reject", String(id.prefix(8))])
                        #expect(rejected.out.hasPrefix("Rejected: Run it"), "\(rejected)")
                        let needsReason = try await user.spawn(["approvals", "reject", "C4D8"])
                        #expect(needsReason.status == 2 && needsReason.err.contains("--reason"), "\(needsReason)")
                        #expect(try await user.spawn(["approvals", "approve", "7b0e4a"]).status == 0)
                        #expect(jarvis.status(of: FakeJarvisScript.deploy) == "approved")
                        #expect(try await run.events.first("finished")["answer"] == .text("chosen: n"))
                    }
                    #expect(sent.status == 0, "\(sent)")
                    let decided = try await watch.events.first("decided") { $0["hostName"] == .text("Shed") }
                    #expect(decided["approval"]?["decidedBy"] == .text("Device “desk”"))
                    #expect(decided["approval"]?["status"] == .text("rejected"))
                    try watch.interrupt()
                }
                #expect(watched.status == 130, "\(watched)")
                let only = try await user.spawn(["approvals", "--host", "Shed"])
                #expect(only.isEmptyList, "\(only)")
            }
        }
    }

    @Test("A watch of a verified host shows questions as they come and go, however long its interval is")
    func live() async throws {
        try await withAgent { host, user, _ in
            let watching = ["approvals", "--watch", "--json", "--interval", "86400s"]
            let (_, watched) = try await user.follow(watching) { watch in
                for answer in ["y", "n"] {
                    let (_, sent) = try await user.follow(Self.ask + ["--json"]) { run in
                        let id = try #require(try await run.events.first("approval_asked")["approvalId"]?.string)
                        _ = try await watch.events.first("added") { $0["approval"]?["id"] == .text(id) }
                        let word = answer == "y" ? "approve" : "reject"
                        let done = try await host.spawn(["host", "approvals", word, id])
                        #expect(done.status == 0 && done.err.contains("The agent continues.") == (answer == "y"))
                        let decided = try await watch.events.first("decided") { $0["approval"]?["id"] == .text(id) }
                        #expect(decided["approval"]?["decidedBy"] == .text("The owner"))
                        _ = try await watch.events.first("continued") { $0["approval"]?["id"] == .text(id) }
                        #expect(try await run.events.first("finished")["answer"] == .text("chosen: \(answer)"))
                    }
                    #expect(sent.status == 0, "\(sent)")
                }
                try watch.interrupt()
            }
            #expect(watched.status == 130, "\(watched)")
        }
    }

    @Test("A notification about a question has buttons that answer it", .enabled(if: PrivateBus.missing.isEmpty))
    func notification() async throws {
        try await withAgent { _, user, _ in
            try await PrivateBus.with(["notifications", "--can", "actions", "--can", "body"]) { desktop in
                let (_, sent) = try await user.follow(Self.ask + ["--json"]) { run in
                    _ = try await run.events.first("approval_asked")
                    let watching = ["approvals", "--watch", "--notify", "--json", "--interval", "0.05s"]
                    let (_, _) = try await user.follow(watching, environment: desktop.environment) { watch in
                        let call = try await desktop.call("Notify")
                        #expect(call["title"] == .text("Approve? Run it"))
                        #expect(call["body"]?.string?.hasPrefix("execute\nrm -r build") == true, "\(call)")
                        guard case .number(let number)? = call["number"] else { throw CancellationError() }
                        try await desktop.tell("choose \(Int(number)) approve")
                        _ = try await watch.events.first("decided")
                        try watch.interrupt()
                    }
                    #expect(try await run.events.first("finished")["answer"] == .text("chosen: y"))
                }
                #expect(sent.status == 0)
            }
        }
    }

    @Test(
        "A button that is pressed before the service has told the notification's number answers the question",
        .enabled(if: PrivateBus.missing.isEmpty)
    )
    func earlyButton() async throws {
        try await withAgent { _, user, _ in
            let service = ["notifications", "--can", "actions", "--can", "body", "--choose", "reject"]
            try await PrivateBus.with(service) { desktop in
                let (_, sent) = try await user.follow(Self.ask + ["--json"]) { run in
                    _ = try await run.events.first("approval_asked")
                    let watching = ["approvals", "--watch", "--notify", "--json", "--interval", "0.05s"]
                    let (_, _) = try await user.follow(watching, environment: desktop.environment) { watch in
                        let decided = try await watch.events.first("decided")
                        #expect(decided["approval"]?["status"] == .text("rejected"), "\(decided)")
                        try watch.interrupt()
                    }
                    #expect(try await run.events.first("finished")["answer"] == .text("chosen: n"))
                }
                #expect(sent.status == 0)
            }
        }
    }
}
