import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Identity
import Testing

@testable import pairtool

@Suite(.timeLimit(.minutes(15))) struct SendTests {
    private func withPairedMac(
        turns: [FakeMacTurn] = [],
        _ body: (FakeMac, Sandbox) async throws -> Void
    ) async throws {
        var script = FakeMacScript()
        script.turns = turns
        try await PairtoolTests.withPairedMac(script, body)
    }

    private func prompts(_ mac: FakeMac) -> [FakeMac.Request] {
        mac.requests.filter { $0.path.hasSuffix("/continue") }
    }

    @Test("The answer is on standard output alone, tools and status are on standard error")
    func answer() async throws {
        let text = String(repeating: "An answer with 🚀 in it. ", count: 40)
        let turn = FakeMacTurn.answering(
            text,
            unitsPerFrame: 17,
            prelude: [
                #"{"type":"status","label":"Thinking"}"#, #"{"type":"tool_start","toolName":"grep","toolCallID":"1"}"#,
                #"{"type":"tool_complete","toolName":"grep","toolCallID":"1","success":true,"details":"3 hits"}"#,
            ]
        )
        try await withPairedMac(turns: [turn]) { mac, user in
            let result = await user.run("send", "Fix the login", "why?")
            #expect(result.status == 0)
            #expect(result.out == text + "\n")
            #expect(result.err.contains("Thinking") && result.err.contains("grep") && result.err.contains("3 hits"))
            let sent = try #require(prompts(mac).first?.text)
            #expect(sent.contains(#""allowedTools":[]"#))
            #expect(sent.contains(#""model":"gpt-test""#))
            #expect(sent.contains(#""projectPath":"/Users/ada/web""#))
        }
    }

    @Test("Tools, model and standard input are passed on")
    func options() async throws {
        try await withPairedMac { mac, user in
            let named = await user.run(
                "send",
                "c-login",
                "-",
                "--allow-tool",
                "grep",
                "--allow-tool",
                "ls",
                "--model",
                "other",
                stdin: "line 1\nline 2\n"
            )
            #expect(named.status == 0)
            #expect(await user.run("send", "c-login", "x", "--allow-all-tools").status == 0)
            let sent = prompts(mac).map(\.text)
            #expect(sent[0].contains(#""allowedTools":["grep","ls"]"#))
            #expect(sent[0].contains(#""model":"other""#))
            #expect(sent[0].contains(#"line 1\nline 2\n"#))
            #expect(!sent[1].contains("allowedTools"))
        }
    }

    @Test("A new chat is made in the named project, and its id is told")
    func newChat() async throws {
        try await withPairedMac { mac, user in
            let unclear = await user.run("send", "--new", "hello")
            #expect(unclear.status == 2)
            #expect(unclear.err.contains("--project"))
            let result = await user.run("send", "--new", "--project", "api", "hello", "--json")
            #expect(result.status == 0)
            let id = try result.json.last?["chatId"]?.string ?? ""
            #expect(mac.messages(of: id).map(\.text) == ["hello", "You said: hello"])
            #expect(prompts(mac)[0].text.contains(#""projectPath":"/Users/ada/api""#))
        }
    }

    @Test("-q prints the answer alone")
    func quiet() async throws {
        try await withPairedMac { _, user in
            let result = await user.run("send", "c-login", "hello", "-q")
            #expect(result.out == "You said: hello\n" && result.err == "", "\(result)")
            let new = await user.run("send", "--new", "--project", "api", "hello", "-q")
            #expect(new.out == "You said: hello\n" && new.err == "", "\(new)")
        }
    }

    @Test("JSON is one event a line and ends with the whole answer")
    func json() async throws {
        try await withPairedMac { _, user in
            let lines = try await user.run("send", "c-login", "hello", "--json").json
            #expect(lines.last?["type"]?.string == "finished")
            #expect(lines.last?["answer"]?.string == "You said: hello")
            let text = lines.filter { $0["type"]?.string == "text" }.compactMap { $0["text"]?.string }.joined()
            #expect(text == "You said: hello")
        }
    }

    @Test("A stream that breaks is followed up from the history: the answer is whole, the prompt is sent once")
    func brokenStream() async throws {
        let turn = FakeMacTurn(
            steps: [.frame(FakeMacTurn.text("The first half, ")), .reset, .store],
            answer: "The first half, and the second."
        )
        try await withPairedMac(turns: [turn]) { mac, user in
            let result = await user.run("send", "c-login", "go")
            #expect(result.status == 0)
            #expect(result.out == "The first half, and the second.\n")
            #expect(prompts(mac).count == 1)
        }
    }

    @Test(
        "An error frame is an error after the text that came before it, whether the body ends, breaks off or stays open",
        .timeLimit(.minutes(15)),
        arguments: [[.finish], [.hold("shown"), .eof], [.hold("shown"), .reset]] as [[FakeMacTurn.Step]]
    )
    func errorFrame(_ ending: [FakeMacTurn.Step]) async throws {
        let turn = FakeMacTurn(
            steps: [
                .frame(FakeMacTurn.text("Some text")), .frame(#"{"type":"error","error":"quota \u001b[31mused up"}"#),
            ] + ending
        )
        try await withPairedMac(turns: [turn]) { mac, user in
            // The host holds on until the command has ended: it does not need the connection's end to know.
            defer { mac.release("shown") }
            let result = await user.run("send", "c-login", "go")
            #expect(result.status == 1)
            #expect(result.out == "Some text\n")
            #expect(result.err.contains("quota ␛[31mused up"))
        }
    }

    @Test("What is no prompt is refused before anything is sent", arguments: ["", "  \n", "-"])
    func emptyPrompt(prompt: String) async throws {
        try await withPairedMac { mac, user in
            #expect(await user.run("send", "c-login", prompt, stdin: " \n").status == 2)
            #expect(prompts(mac).isEmpty)
        }
    }

    @Test("A picture for a host that takes none is refused before anything is sent, and makes no chat")
    func picture() async throws {
        try await withPairedMac { mac, user in
            let picture = try user.file("a.gif", Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0, 0x3B])
            let before = mac.requests.count { $0.method != "GET" }
            let result = await user.run("send", "--new", "--project", "web", "See", "--image", picture, "--json")
            #expect(try result.errorCode == "host.cannot", "\(result)")
            #expect(mac.requests.count { $0.method != "GET" } == before)
        }
    }

    @Test("A verified host takes no picture either, and has no chat more for it")
    func verifiedPicture() async throws {
        try await withVerifiedHost { _, _, user in
            let picture = try user.file("a.gif", Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0, 0x3B])
            let result = await user.run("send", "--new", "--project", "garden", "See", "--image", picture, "--json")
            #expect(try result.errorCode == "host.cannot", "\(result)")
            let chats = await user.run("chats", "--json")
            #expect(chats.isEmptyList, "\(chats)")
        }
    }

    @Test("Two prompts to one chat at a time take turns")
    func turnLock() async throws {
        let first = FakeMacTurn(
            steps: [.frame(FakeMacTurn.text("one")), .hold("first"), .store, .end],
            answer: "one"
        )
        try await withPairedMac(turns: [first, .answering("two")]) { mac, user in
            async let one = user.run("send", "c-login", "first")
            try await mac.reached("first")
            async let two = user.run("send", "c-login", "second")
            // The second cannot have begun while the first holds the chat, however long this is watched.
            #expect(prompts(mac).count == 1)
            mac.release("first")
            #expect(await one.out == "one\n")
            #expect(await two.out == "two\n")
            #expect(prompts(mac).count == 2)
        }
    }

    @Test("The interactive chat shows history, answers, obeys commands and ends with the input")
    func chat() async throws {
        try await withPairedMac { mac, user in
            mac.change { $0.fill("c-login", count: 3) }
            let result = await user.run(
                "chat",
                "c-login",
                stdin: "hello\n/model other\n/nothing\nagain\n/quit\nnever\n"
            )
            #expect(result.status == 0)
            #expect(result.out.contains("message 2"))
            #expect(result.out.contains("You said: hello\nYou said: again\n"))
            #expect(result.err.contains("There is no command /nothing."))
            #expect(prompts(mac).map { $0.text.contains(#""model":"other""#) } == [false, true])
        }
    }

    @Test("Ctrl-C while another turn of the chat is waited for sends nothing, and a prompt that was kept waits on")
    func cancelBefore() async throws {
        try await Sandbox.with { place in
            let pipe = try await place.pipe("gate")
            try await withVerifiedHost(["--agent-command", "/bin/cat \(pipe)"]) { events, _, user in
                let words = ["send", "--new", "--project", "garden", "dig"]
                let (_, first) = try await user.follow(words) { first in
                    let turn = try await events.first("turn_started")
                    let chat = try #require(turn["chatId"]?.string)
                    for (options, words) in [([], "Stopped; nothing was sent."), (["--queue"], "The prompt waits as ")]
                    {
                        let (_, result) = try await user.follow(["send", chat, "more"] + options) { run in
                            try await run.messages.has("Another pairtool is using this chat.")
                            try run.interrupt()
                        }
                        #expect(result.status == 130 && result.err.contains(words), "\(result)")
                        #expect(!result.err.contains("Asking the host"), "\(result)")
                    }
                    try first.interrupt()
                }
                #expect(first.status == 130)
                #expect(try await user.run("outbox", "--json").json.map { $0["state"]?.string } == ["waiting"])
            }
        }
    }

    @Test("Whoever has a waiting prompt cancelled at the host has no other one sent", arguments: ["outbox", "send"])
    func cancelWaiting(command: String) async throws {
        try await Sandbox.with { place in
            let pipe = try await place.pipe("gate")
            try await withVerifiedHost(["--agent-command", "/bin/cat \(pipe)"]) { events, _, user in
                let chat = await user.run("chats", "new", "garden", "-q").out.trimmingWhitespace()
                #expect(await user.run("chats").status == 0)
                let host = try #require(try PairedHostStore(directory: user.data).load().hosts.first)
                // As if the host had been away.
                try OutboxStore(path: "\(user.data)/outbox/\(DeviceIdentity.shortHash(host.id)).json").update {
                    outbox in
                    for prompt in ["one", "two"] {
                        let added = outbox.add(prompt, in: "", allowedTools: nil, at: Date())
                        outbox.change(added?.id ?? "") { ($0.chatID, $0.commandID) = (chat, UUID()) }
                    }
                }
                let words = command == "outbox" ? ["outbox", "send"] : ["send", chat, "three"]
                let (_, result) = try await user.follow(words) { run in
                    _ = try await events.first("turn_started")
                    try run.interrupt()
                }
                #expect(result.status == 130 && result.err.contains("Cancelled at the host."), "\(result)")
                #expect(result.err.contains("This prompt was not sent.") == (command == "send"), "\(result)")
                let waiting = try await user.run("outbox", "--json").json
                #expect(waiting.map { $0["prompt"]?.string } == ["two"])
            }
        }
    }

    @Test(
        "Ctrl-C asks a host that can to cancel the answer, and ends the command",
        arguments: [[], ["--queue"]]
    )
    func cancel(options: [String]) async throws {
        try await Sandbox.with { place in
            let pipe = try await place.pipe("gate")
            try await withVerifiedHost(["--agent-command", "/bin/cat \(pipe)"]) { events, _, user in
                let words = ["send", "--new", "--project", "garden", "dig"] + options
                let (_, result) = try await user.follow(words) { run in
                    let started = try await events.first("turn_started")
                    try run.interrupt()
                    #expect(try await events.first("turn_finished")["turnId"] == started["turnId"])
                }
                #expect(result.status == 130 && result.err.contains("Cancelled at the host."), "\(result)")
            }
        }
    }

    @Test("An error in the interactive chat does not end it")
    func chatError() async throws {
        let failing = FakeMacTurn(steps: [.frame(#"{"type":"error","error":"no"}"#), .finish])
        try await withPairedMac(turns: [failing]) { _, user in
            let result = await user.run("chat", "c-login", stdin: "one\ntwo\n")
            #expect(result.status == 0)
            #expect(result.out.contains("You said: two"))
        }
    }
}
