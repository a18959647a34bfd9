import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Glibc
import Testing

@testable import pairtool

/// What is typed in `pairtool chat` at a terminal.
@Suite(.serialized, .timeLimit(.minutes(15))) struct ChatInputTests {
    private static let chat = ["chat", "c-login", "--last", "0"]

    static func prompts(_ mac: FakeMac) -> [String] {
        mac.messages(of: "c-login").filter { $0.role == .user }.map(\.text)
    }

    /// Ends the chat, and sees that the terminal is as it was before.
    private static func end(_ terminal: Terminal) async throws {
        try await terminal.shows("› ")
        try await terminal.type("\u{4}")
        #expect(try await terminal.status == 0)
        #expect(try await terminal.echoesAtEnd)
    }

    @Test("A paste of several lines is one prompt, and so are lines that end with a backslash or Alt-Enter")
    func severalLines() async throws {
        try await withPairedMac { mac, user in
            try await user.atTerminal(Self.chat) { terminal in
                try await terminal.shows("\u{1B}[?2004h")
                try await terminal.paste("one\r\ntwo\u{1B}[31m\u{3}")
                try await terminal.type("!\r")
                try await terminal.shows("You said: one")
                try await terminal.shows("› ")
                try await terminal.type("a\\\rb\u{1B}\rc\r")
                try await terminal.shows("You said: a")
                try await Self.end(terminal)
            }
            #expect(Self.prompts(mac) == ["one\ntwo[31m!", "a\nb\nc"])
        }
    }

    @Test("A large paste is shown abbreviated and sent in full")
    func largePaste() async throws {
        try await withPairedMac { mac, user in
            let text = (1...400).map { "line \($0) of the paste" }.joined(separator: "\n")
            try await user.atTerminal(Self.chat) { terminal in
                try await terminal.shows("› ")
                try await terminal.paste(text)
                try await terminal.shows("[pasted 400 lines, \(text.utf8.count) bytes]")
                try await terminal.type("\r")
                try await terminal.shows("You said: line 1")
                try await Self.end(terminal)
            }
            #expect(Self.prompts(mac) == [text])
        }
    }

    @Test("When the window changes its size in the middle of a line, the line is whole")
    func resize() async throws {
        try await withPairedMac { mac, user in
            try await user.atTerminal(Self.chat, columns: 60) { terminal in
                try await terminal.shows("› ")
                try await terminal.type("the quick brown fox jumps over the lazy dog")
                try await terminal.shows("lazy dog")
                try await terminal.resize(columns: 20)
                try await terminal.shows("› the quick brown fo\nx jumps over the laz\ny dog")
                try await terminal.resize(columns: 80)
                try await terminal.shows("› the quick brown fox jumps over the lazy dog")
                try await terminal.type("\r")
                try await terminal.shows("You said: the quick")
                try await Self.end(terminal)
            }
            #expect(Self.prompts(mac) == ["the quick brown fox jumps over the lazy dog"])
        }
    }

    @Test("Ctrl-C drops the line; a signal ends the chat, and the terminal is as it was before")
    func ends() async throws {
        try await withPairedMac { mac, user in
            try await user.atTerminal(Self.chat) { terminal in
                try await terminal.shows("› ")
                try await terminal.type("wrong\u{3}right\r")
                try await terminal.shows("You said: right")
                try await terminal.shows("› ")
                try await terminal.type("half a line")
                try await terminal.shows("half a line")
                try await terminal.signal(15)
                #expect(try await terminal.status == 130)
                #expect(try await terminal.echoesAtEnd)
                try await terminal.shows("\u{1B}[?2004l")
            }
            #expect(Self.prompts(mac) == ["right"])
        }
    }

    @Test("A signal that ends the program at once leaves the terminal as it was before")
    func quit() async throws {
        try await withPairedMac { _, user in
            try await user.atTerminal(Self.chat) { terminal in
                try await terminal.shows("› ")
                try await terminal.signal(3)
                #expect(try await terminal.status == -3)
                #expect(try await terminal.echoesAtEnd)
            }
        }
    }

    @Test("What is typed during an answer is shown nowhere, and is the next prompt")
    func typedAhead() async throws {
        var script = FakeMacScript()
        script.turns = [
            FakeMacTurn(steps: [.hold("turn"), .frame(FakeMacTurn.text("done")), .store, .end], answer: "done")
        ]
        try await withPairedMac(script) { mac, user in
            try await user.atTerminal(Self.chat) { terminal in
                try await terminal.shows("› ")
                try await terminal.type("first\r")
                try await mac.reached("turn")
                try await terminal.type("second\rthird")
                mac.release("turn")
                let before = try await terminal.shows("done")
                #expect(!before.contains("second"))
                try await terminal.shows("› second")
                try await terminal.shows("You said: second")
                try await terminal.shows("› third")
                try await terminal.type("\u{15}")
                try await Self.end(terminal)
            }
            #expect(Self.prompts(mac) == ["first", "second"])
        }
    }

    @Test("Prompts are kept for later chats, in a file that only the user can read")
    func keptHistory() async throws {
        try await withPairedMac { mac, user in
            try await user.atTerminal(Self.chat) { terminal in
                for prompt in ["two\\\rlines", "again", "again", " hidden"] {
                    try await terminal.shows("› ")
                    try await terminal.type(prompt + "\r")
                    try await terminal.shows("You said: ")
                }
                try await Self.end(terminal)
            }
            let path = user.directory + "/state/pairtool/prompts.json"
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
            #expect(mode as? Int == 0o600)
            try await user.atTerminal(Self.chat) { terminal in
                try await terminal.shows("› ")
                try await terminal.type("\u{1B}[A")
                try await terminal.shows("again")
                try await terminal.type("\u{1B}[A")
                try await terminal.shows("two\n  lines")
                try await terminal.type("\r")
                try await terminal.shows("You said: two")
                try await terminal.shows("› ")
                try await terminal.type("\u{12}aga")
                try await terminal.shows("(search: aga) again")
                try await terminal.type("\r")
                try await terminal.shows("You said: again")
                try await Self.end(terminal)
            }
            #expect(Self.prompts(mac).suffix(2) == ["two\nlines", "again"])
            try await user.atTerminal(Self.chat + ["--no-history"]) { terminal in
                try await terminal.shows("› ")
                try await terminal.type("\u{1B}[Anot kept\r")
                try await terminal.shows("You said: not kept")
                try await Self.end(terminal)
            }
            let kept = try String(contentsOf: URL(filePath: path), encoding: .utf8)
            #expect(!kept.contains("not kept") && !kept.contains("hidden"))
        }
    }

    @Test("Ctrl-X Ctrl-E and /edit open the editor on a file of the user's own; one that fails changes nothing")
    func editor() async throws {
        try await withPairedMac { mac, user in
            let seen = user.directory + "/seen"
            let script = try user.file(
                "editor",
                Array("stat -c %a \"$2\" >\(seen); grep -q fail \"$2\" && exit 3; echo edited >>\"$2\"\n".utf8)
            )
            let environment = ["VISUAL": "/bin/sh \(script) --wait"]
            try await user.atTerminal(Self.chat, environment: environment) { terminal in
                try await terminal.shows("› ")
                try await terminal.type("a text \u{18}\u{5}")
                try await terminal.shows("› a text edited")
                try await terminal.type("\r")
                try await terminal.shows("You said: a text edited")
                try await terminal.shows("› ")
                try await terminal.type("/edit more\r")
                try await terminal.shows("› moreedited")
                try await terminal.type("\u{15}to fail\u{18}\u{5}")
                try await terminal.shows("the text is as it was")
                try await terminal.shows("› to fail")
                try await terminal.type("\r")
                try await terminal.shows("You said: to fail")
                try await Self.end(terminal)
            }
            #expect(try String(contentsOfFile: seen, encoding: .utf8) == "600\n")
            let left = try FileManager.default.contentsOfDirectory(atPath: user.directory + "/run/pairtool")
            #expect(!left.contains { $0.hasPrefix("prompt-") })
        }
    }

    @Test("Ctrl-C while the editor runs is the editor's: what is written there is not lost")
    func interruptedEditor() async throws {
        try await withPairedMac { mac, user in
            // Reads again and again: bash forgets a signal that comes between its look for one and its wait.
            let script = try user.file(
                "editor",
                Array("trap 'echo kept >\"$1\"; exit 0' INT; echo ready; while :; do read -r -t 0.2; done\n".utf8)
            )
            try await user.atTerminal(Self.chat, environment: ["VISUAL": "/bin/bash \(script)"]) { terminal in
                for keys in ["text\u{18}\u{5}", "/edit text\r"] {
                    try await terminal.shows("› ")
                    try await terminal.type(keys)
                    try await terminal.shows("ready")
                    try await terminal.type("\u{3}")
                    try await terminal.shows("› kept")
                    try await terminal.type("\r")
                    try await terminal.shows("You said: kept")
                }
                try await Self.end(terminal)
            }
            #expect(Self.prompts(mac) == ["kept", "kept"])
        }
    }

    @Test("After a signal at the prompt, the line is as it was changed")
    func interruptedPrompt() async throws {
        try await withPairedMac { _, user in
            try await user.atTerminal(Self.chat) { terminal in
                try await terminal.shows("› ")
                try await terminal.type("/hlep\r")
                try await terminal.shows("There is no command /hlep.")
                try await terminal.shows("› /hlep")
                try await terminal.type(" me")
                try await terminal.shows("› /hlep me")
                try await terminal.signal(2)
                try await terminal.shows("(Ctrl-D or /quit ends the chat)")
                try await terminal.shows("› /hlep me")
                try await terminal.type("\u{15}")
                try await Self.end(terminal)
            }
        }
    }

    @Test("A chat that is stopped by Ctrl-Z or a signal, and continued, has the line as it was")
    func stopped() async throws {
        try await withPairedMac { mac, user in
            let shell = """
                set -m
                sh -c 'echo $$ >"$0/pid"; exec "$1" chat c-login --last 0' "$0" "$1"
                echo stopped for the first time; fg >/dev/null
                echo stopped for the second time; fg >/dev/null
                """
            try await user.atTerminal(["-c", shell, user.directory, BuiltTool.path], program: "/bin/bash") { terminal in
                try await terminal.shows("› ")
                try await terminal.type("one")
                try await terminal.shows("› one")
                try await terminal.type("\u{1A}")
                try await terminal.shows("stopped for the first time")
                try await terminal.shows("› one")
                try await terminal.type(" two")
                try await terminal.shows("› one two")
                let number = try String(contentsOfFile: user.directory + "/pid", encoding: .utf8)
                kill(try #require(Int32(number.dropLast())), SIGTSTP)
                try await terminal.shows("stopped for the second time")
                try await terminal.shows("› one two")
                try await terminal.type("\r")
                try await terminal.shows("You said: one two")
                try await Self.end(terminal)
            }
            #expect(Self.prompts(mac) == ["one two"])
        }
    }

    @Test("Tab completes commands, chats and files")
    func complete() async throws {
        try await withPairedMac { mac, user in
            _ = try user.file("notes one.txt", Array("hello".utf8))
            try await user.atTerminal(Self.chat, environment: ["HOME": user.directory]) { terminal in
                try await terminal.shows("› ")
                try await terminal.type("/hi\t")
                try await terminal.shows("/history ")
                try await terminal.type("\u{15}/chats fix\t")
                try await terminal.shows("/chats Fix the login")
                try await terminal.type("\u{15}see @\"~/not\t")
                try await terminal.shows("@\"~/notes one.txt\"")
                // Keys wait for the candidates.
                try await terminal.type("\u{15}/mod\tother\r")
                try await terminal.shows("/model other")
                try await terminal.shows("model other\n")
                try await terminal.type("/c\t\t")
                try await terminal.shows("/chats")
                try await terminal.shows("/copy")
                try await terminal.type("\u{15}")
                try await terminal.type("\u{4}")
                #expect(try await terminal.status == 0)
            }
        }
    }

    @Test("An answer to Tab that comes after Ctrl-C changes nothing")
    func lateCompletion() async throws {
        try await withPairedMac { mac, user in
            try await user.atTerminal(Self.chat) { terminal in
                try await terminal.shows("› ")
                mac.change { $0.faults = [FakeMacFault(.stall(gate: "models"), on: "/models")] }
                try await terminal.type("/model o\t")
                try await mac.reached("models")
                try await terminal.shows("› /model o")
                try await terminal.type("\u{3}/model o")
                // As it was dropped, and as it was typed again.
                try await terminal.shows("› /model o")
                try await terminal.shows("› /model o")
                mac.release("models")
                mac.change { $0.faults = [] }
                try await terminal.type("x\r")
                try await terminal.shows("model ox\n")
                try await terminal.shows("› ")
                try await terminal.type("/model o\t\r")
                try await terminal.shows("model other\n")
                try await Self.end(terminal)
            }
        }
    }

    @Test("A prompt that was not sent comes back to be changed")
    func notSent() async throws {
        try await withPairedMac { mac, user in
            try await user.atTerminal(Self.chat) { terminal in
                try await terminal.shows("› ")
                mac.change { $0.faults = [FakeMacFault(.close)] }
                try await terminal.type("hello\r")
                try await terminal.shows("Keep the prompt")
                try await terminal.type("n\r")
                try await terminal.shows("› hello")
                mac.change { $0.faults = [] }
                try await terminal.type(" you\r")
                try await terminal.shows("You said: hello you")
                try await Self.end(terminal)
            }
            #expect(Self.prompts(mac) == ["hello you"])
        }
    }

    @Test("The first Ctrl-C asks a host that can to cancel the answer, and says so")
    func cancelAtHost() async throws {
        try await Sandbox.with { place in
            let pipe = try await place.pipe("gate")
            try await withVerifiedHost(["--agent-command", "/bin/cat \(pipe)"]) { events, _, user in
                try await user.atTerminal(["chat", "--project", "garden"]) { terminal in
                    try await terminal.shows("› ")
                    try await terminal.type("dig\r")
                    let started = try await events.first("turn_started")
                    try await terminal.type("\u{3}")
                    try await terminal.shows("Cancelled at the host.")
                    #expect(try await events.first("turn_finished")["turnId"] == started["turnId"])
                    try await Self.end(terminal)
                }
            }
        }
    }
}
