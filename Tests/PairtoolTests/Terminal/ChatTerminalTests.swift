import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Identity
import Testing

@testable import pairtool

/// `pairtool chat` at a terminal, key by key.
@Suite(.serialized, .timeLimit(.minutes(15))) struct ChatTerminalTests {
    @Test(
        "Ctrl-C during an answer stops waiting for it and no more: the next prompt is answered, and the chat ends well"
    )
    func interrupt() async throws {
        var script = FakeMacScript()
        script.turns = [
            FakeMacTurn(
                steps: [.frame(FakeMacTurn.text("begun")), .hold("turn"), .store, .end],
                answer: "begun and done"
            )
        ]
        try await withFakeMac(script) { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                try await user.atTerminal(["chat", "c-login"]) { terminal in
                    try await terminal.shows("› ")
                    try await terminal.type("first\r")
                    try await terminal.shows("begun")
                    try await mac.reached("turn")
                    try await terminal.type("\u{3}")
                    try await terminal.shows("Stopped waiting. The host finishes the answer;")
                    try await terminal.shows("› ")
                    mac.release("turn")
                    try await terminal.type("second\r")
                    try await terminal.shows("You said: second")
                    try await terminal.shows("› ")
                    try await terminal.type("\u{4}")
                    // The shell's prompt comes in a line of its own.
                    try await terminal.shows("\n")
                    #expect(try await terminal.status == 0)
                }
                #expect(
                    mac.messages(of: "c-login").map(\.text) == [
                        "first", "begun and done", "second", "You said: second",
                    ]
                )
            }
        }
    }

    /// Types a prompt while a Mac is away, and has it kept.
    private static func keep(_ prompt: String, _ terminal: Terminal, _ mac: FakeMac) async throws {
        mac.change { $0.faults = [FakeMacFault(.close)] }
        try await terminal.type(prompt + "\r")
        try await terminal.shows("Keep the prompt")
        try await terminal.type("y\r")
        try await terminal.shows("The prompt waits as ")
        try await terminal.shows("› ")
    }

    @Test("A prompt for a host that is away waits if the user wants that, and the next chat sends it once")
    func kept() async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                try await user.atTerminal(["chat", "c-login"]) { terminal in
                    try await terminal.shows("› ")
                    try await Self.keep("hello", terminal, mac)
                    try await terminal.type("\u{4}")
                    #expect(try await terminal.status == 0)
                }
                let waiting = try await user.run("outbox", "--json").json
                #expect(waiting.map { $0["prompt"] } == [.text("hello")])
                #expect(waiting.map { $0["state"] } == [.text("waiting")])
                #expect(mac.prompts == 0)
                mac.change { $0.faults = [] }
                for _ in 1...2 {
                    try await user.atTerminal(["chat", "c-login", "--last", "0"]) { terminal in
                        try await terminal.shows("› ")
                        try await terminal.type("\u{4}")
                        #expect(try await terminal.status == 0)
                    }
                    #expect(await user.run("outbox").isEmptyList)
                    #expect(mac.prompts == 1)
                }
                #expect(mac.messages(of: "c-login").filter { $0.role == .user }.map(\.text) == ["hello"])
            }
        }
    }

    @Test("A prompt that the host may get yet is kept as uncertain, and sent again only if the user says so")
    func keptUncertain() async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                try await user.atTerminal(["chat", "c-login"]) { terminal in
                    try await terminal.shows("› ")
                    mac.change { $0.faults = [FakeMacFault(.reset, on: "/companion/chats/c-login/continue")] }
                    try await terminal.type("hello\r")
                    try await terminal.shows("may still get the prompt. Keep it")
                    try await terminal.type("y\r")
                    try await terminal.shows("and is marked uncertain")
                    try await terminal.shows("› ")
                    mac.change { $0.faults = [] }
                    try await terminal.type("/retry\r")
                    try await terminal.shows("may run twice")
                    try await terminal.type("n\r")
                    try await terminal.shows("› ")
                    try await terminal.type("\u{4}")
                    #expect(try await terminal.status == 0)
                }
                #expect(await user.run("projects").status == 0)
                let waiting = try await user.run("outbox", "--json").json
                #expect(waiting.map { $0["state"] } == [.text("uncertain")])
                #expect(mac.prompts == 1)
            }
        }
    }

    @Test("A prompt that cannot be kept comes back to be changed, and the chat goes on")
    func fullOutbox() async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                let host = try #require(try PairedHostStore(directory: user.data).load().hosts.first)
                let path = "\(user.data)/outbox/\(DeviceIdentity.shortHash(host.id)).json"
                try OutboxStore(path: path).update { outbox in
                    while let added = outbox.add("x", in: "", allowedTools: nil, at: .now) {
                        outbox.refuse(added.id, because: "no")
                    }
                }
                try await user.atTerminal(["chat", "c-login", "--no-history"]) { terminal in
                    try await terminal.shows("› ")
                    mac.change { $0.faults = [FakeMacFault(.close)] }
                    try await terminal.type("hello\r")
                    try await terminal.shows("Keep the prompt")
                    try await terminal.type("y\r")
                    try await terminal.shows("too many prompts wait")
                    try await terminal.shows("› hello")
                    mac.change { $0.faults = [] }
                    try await terminal.type(" again\r")
                    try await terminal.shows("You said: hello again")
                    try await terminal.shows("› ")
                    try await terminal.type("\u{4}")
                    #expect(try await terminal.status == 0)
                }
            }
        }
    }

    @Test("What is typed while an answer is drawn is not shown in it, and what is typed after it is")
    func typedDuringSend() async throws {
        var script = FakeMacScript()
        script.turns = [
            FakeMacTurn(steps: [.frame(FakeMacTurn.text("begun")), .hold("turn"), .store, .end], answer: "begun, done")
        ]
        try await withFakeMac(script) { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                try await user.atTerminal(["send", "c-login", "hello"]) { terminal in
                    try await terminal.shows("begun")
                    try await mac.reached("turn")
                    try await terminal.type("junk\n\u{3}")
                    let shown = try await terminal.shows("Stopped waiting.")
                    #expect(!shown.contains("junk"), "\(shown)")
                    #expect(try await terminal.status == 130)
                    #expect(try await terminal.echoesAtEnd)
                }
                mac.release("turn")
                try await user.atTerminal(["send", "c-login", "hello"]) { terminal in
                    try await terminal.shows("You said: hello")
                    #expect(try await terminal.status == 0)
                    #expect(try await terminal.echoesAtEnd)
                }
            }
        }
    }

    /// The tools that each prompt for a Mac allowed.
    private static func allowedTools(_ mac: FakeMac) throws -> [[String]?] {
        try mac.requests("POST", "/companion/chats/c-login/continue").map {
            try JSONDecoder().decode(ContinueChatRequest.self, from: Data($0.body)).allowedTools
        }
    }

    @Test("What is allowed once is allowed for a prompt that waits, and for no later one")
    func keptWithTool() async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                try await user.atTerminal(["chat", "c-login"]) { terminal in
                    try await terminal.shows("› ")
                    try await terminal.type("/allow shell once\r")
                    try await terminal.shows("shell is allowed for the next prompt.")
                    try await terminal.shows("› ")
                    try await Self.keep("hello", terminal, mac)
                    mac.change { $0.faults = [] }
                    try await terminal.type("again\r")
                    try await terminal.shows("You said: again")
                    try await terminal.shows("› ")
                    try await terminal.type("\u{4}")
                    #expect(try await terminal.status == 0)
                }
                let allowed = try Self.allowedTools(mac)
                #expect(allowed == [["shell"], []])
                let texts = mac.messages(of: "c-login").map(\.text)
                #expect(texts == ["hello", "You said: hello", "again", "You said: again"])
            }
        }
    }

    @Test("Arrow-Up brings back the prompt before, to be changed and sent again")
    func history() async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                try await user.atTerminal(["chat", "c-login"]) { terminal in
                    for prompt in ["one", "two"] {
                        try await terminal.shows("› ")
                        try await terminal.type(prompt + "\r")
                        try await terminal.shows("You said: \(prompt)")
                    }
                    try await terminal.shows("› ")
                    try await terminal.type("\u{1B}[A")
                    try await terminal.shows("two")
                    try await terminal.type("\u{1B}[A")
                    try await terminal.shows("one")
                    try await terminal.type(" more\r")
                    try await terminal.shows("You said: one more")
                    try await terminal.shows("› ")
                    try await terminal.type("/quit\r")
                    #expect(try await terminal.status == 0)
                }
                let prompts = mac.messages(of: "c-login").filter { $0.role == .user }.map(\.text)
                #expect(prompts == ["one", "two", "one more"])
            }
        }
    }
}
