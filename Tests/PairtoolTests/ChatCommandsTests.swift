import CompanionApp
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Terminal
import Testing

@testable import pairtool

/// The commands of the interactive chat, without a terminal or with one whose lines are not edited.
@Suite struct ChatCommandsTests {
    /// Types lines in a chat with a fake Mac.
    private func chat(
        _ lines: String...,
        words: [String] = ["c-login", "--last", "0"],
        terminal: Bool = false,
        turns: [FakeMacTurn] = [],
        files: [String: [UInt8]] = [:],
        _ check: (Sandbox.Result, FakeMac, Sandbox) throws -> Void
    ) async throws {
        var script = FakeMacScript()
        script.turns = turns
        try await withFakeMac(script) { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                for (name, content) in files { _ = try user.file(name, content) }
                let input = lines.map { $0 + "\n" }.joined()
                let result = await user.run(["chat"] + words, stdin: input, terminal: terminal)
                #expect(result.status == 0, "\(result)")
                try check(result, mac, user)
            }
        }
    }

    private func prompts(_ mac: FakeMac) -> [String] {
        mac.messages(of: "c-login").filter { $0.role == .user }.map(\.text)
    }

    @Test("A text file that a prompt names is shown, and sent once the user agrees")
    func attach() async throws {
        let files = ["notes.txt": Array("first\n```\nlast\n".utf8)]
        try await chat("see @~/notes.txt, please", "y", terminal: true, files: files) { result, mac, user in
            #expect(result.err.contains("~/notes.txt: 15 bytes, 3 lines\n  │ first\n"))
            #expect(
                prompts(mac) == [
                    "see @~/notes.txt, please\n\nThe file ~/notes.txt:\n````\nfirst\n```\nlast\n````"
                ]
            )
        }
        try await chat("see @~/notes.txt", "n", terminal: true, files: files) { _, mac, _ in
            #expect(prompts(mac).isEmpty)
        }
        // Without a terminal, nobody sees what would be sent.
        try await chat("see @~/notes.txt", files: files) { _, mac, _ in
            #expect(prompts(mac) == ["see @~/notes.txt"])
        }
    }

    @Test(
        "A file that cannot be attached is refused with its reason",
        arguments: [
            ("@~/none.txt", "There is no file ~/none.txt."), ("@~/folder/", "~/folder/ is a directory."),
            ("@~/binary", "~/binary is not a text file."), ("@~/large", "~/large has more than 256 KiB."),
        ]
    )
    func refuse(mention: String, reason: String) async throws {
        let files = ["binary": [1, 0, 2], "large": [UInt8](repeating: 65, count: 300 << 10)] as [String: [UInt8]]
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                for (name, content) in files { _ = try user.file(name, content) }
                try FileManager.default.createDirectory(
                    atPath: user.directory + "/folder",
                    withIntermediateDirectories: true
                )
                let words = ["chat", "c-login", "--last", "0"]
                let result = await user.run(words, stdin: "see \(mention)\nn\nsee \(mention)\ny\n", terminal: true)
                #expect(result.err.contains(reason), "\(result)")
                #expect(prompts(mac) == ["see \(mention)"])
            }
        }
    }

    @Test("Addresses, names and what is quoted are found as people mean them")
    func mentions() async throws {
        try await Sandbox.with { user in
            _ = try user.file("a b.txt", [])
            _ = try user.file("c.txt", [])
            let environment = Output(context: .process, format: .text).environment()
            let here = user.directory
            let found = PromptAttachments(environment: environment).mentions(
                in: "ada@example.org @ada @\(here)/c.txt. (@\"\(here)/a b.txt\") x@\(here)/c.txt @\(here)/c.txt"
            )
            #expect(found.map(\.path) == ["\(here)/c.txt", "\(here)/a b.txt"])
        }
    }

    @Test("A path, two slashes or a space in front make a prompt of what begins with a slash; one word is a command")
    func slashes() async throws {
        try await chat("/home/x: no such file", " /help me", "//usr is full", "/etc/hosts", "/nothing here", "/help") {
            result,
            mac,
            _ in
            #expect(prompts(mac) == ["/home/x: no such file", "/help me", "/usr is full", "/etc/hosts"])
            #expect(result.err.contains("There is no command /nothing."), "\(result)")
            #expect(result.err.contains("//TEXT"), "\(result)")
        }
    }

    @Test("/chats lists the chats and continues one; /new begins another; /model is checked at once")
    func switching() async throws {
        try await chat(
            "/chats",
            "/chats login",
            "/chats 1",
            "/chats Fix",
            "/model gpt-tset",
            "/model other",
            "hi",
            "/new api",
            "/quit"
        ) {
            result,
            mac,
            _ in
            let listed = try #require(result.err.firstMatch(of: /1  (.*) \(.*ago|1  (.*) \(/)?.output)
            let title = try #require(listed.1 ?? listed.2)
            #expect(result.err.contains("\n\(title), model gpt-test."))
            #expect(result.err.contains("the host has no chat “login”"))
            #expect(result.err.contains("Fix the login, model"))
            #expect(result.err.contains("did you mean “gpt-test”?"))
            #expect(result.err.contains("new chat in api, model other."))
            #expect(mac.requests.last { $0.path.hasSuffix("/continue") }?.text.contains(#""model":"other""#) == true)
        }
    }

    @Test("/allow lists the tools, and allows one for a prompt or from now on")
    func allow() async throws {
        let turn = FakeMacTurn.answering("ok", prelude: [#"{"type":"tool_start","toolName":"grep","toolCallID":"1"}"#])
        try await chat(
            "/allow",
            "one",
            "/allow",
            "/allow grep once",
            "two",
            "three",
            "/allow grep",
            "four",
            "/allow grep off",
            "/allow grpe",
            "five",
            "/allow grep sometimes",
            turns: [turn]
        ) { result, mac, _ in
            let sent = mac.requests.filter { $0.path.hasSuffix("/continue") }.map(\.text)
            let allowed = sent.map { $0.contains(#""allowedTools":["grep"]"#) }
            #expect(allowed == [false, true, false, true, false], "\(sent)")
            #expect(result.err.contains("none was used in this chat yet"))
            #expect(result.err.contains("grep: not allowed"))
            #expect(result.err.contains("No tool of this chat is called grpe. Did you mean grep?"))
            #expect(result.err.contains("Usage: /allow TOOL [once|always|off]"))
        }
    }

    @Test("What is allowed in a chat is not allowed in others, but for the tools of the command line")
    func otherChat() async throws {
        try await chat(
            "/allow grep",
            "/allow find once",
            "/new api",
            "one",
            "/chats c-login",
            "two",
            words: ["c-login", "--last", "0", "--allow-tool", "read"]
        ) { result, mac, _ in
            let sent = mac.requests.filter { $0.path.hasSuffix("/continue") }.map(\.text)
            #expect(sent.count == 2, "\(result)")
            #expect(sent.allSatisfy { $0.contains(#""allowedTools":["read"]"#) }, "\(sent)")
        }
    }

    @Test("/retry sends the last prompt again, and asks where it may run twice")
    func retry() async throws {
        try await chat("/retry", "one", "/retry") { result, mac, _ in
            #expect(result.err.contains("No prompt was sent yet."))
            #expect(prompts(mac) == ["one", "one"])
        }
        let failing = FakeMacTurn(steps: [.frame(#"{"type":"error","error":"no"}"#), .finish])
        try await chat("one", "/retry", "n", "/retry", "y", terminal: true, turns: [failing]) { result, mac, _ in
            let shown = result.err.replacing("\n", with: " ")
            #expect(shown.contains("may run twice. Send it again? [y/N]"), "\(result)")
            #expect(mac.prompts == 2)
        }
    }

    @Test("/copy sends the last answer or a code block to the terminal, within its limits")
    func copy() async throws {
        let turn = FakeMacTurn.answering("Run:\n```sh\nls -l\n```\nor\n~~~\npwd\n~~~\n")
        try await chat("hi", "/copy 1", "/copy 2", "/copy 3", terminal: true, turns: [turn]) { result, _, _ in
            #expect(result.err.contains("\u{1B}]52;c;\(Base64.encode("ls -l".utf8))\u{7}"))
            #expect(result.err.contains("\u{1B}]52;c;\(Base64.encode("pwd".utf8))\u{7}"))
            #expect(result.err.contains("Asked the terminal to copy 5 bytes"))
            #expect(result.err.contains("The last answer has 2 code blocks."))
        }
        let long = FakeMacTurn.answering(String(repeating: "x", count: 80_000))
        try await chat("hi", "/copy", terminal: true, turns: [long]) { result, _, _ in
            #expect(result.err.contains("terminals take at most 74994"))
            #expect(!result.err.contains("\u{1B}]52"))
        }
    }

    @Test("/copy after a prompt without an answer copies the newest answer that the host has")
    func copyAfterFailure() async throws {
        let failing = FakeMacTurn(steps: [.frame(#"{"type":"error","error":"no"}"#), .finish])
        try await chat("hi", "so?", "/copy", terminal: true, turns: [.answering("first"), failing]) { result, mac, _ in
            #expect(mac.prompts == 2)
            #expect(result.err.contains("\u{1B}]52;c;\(Base64.encode("first".utf8))\u{7}"), "\(result)")
        }
        // Whatever was said before in this chat: the host has another answer since.
        let other = FakeMacTurn(
            steps: [.frame(FakeMacTurn.text("second")), .store, .frame(#"{"type":"error","error":"no"}"#), .finish],
            answer: "second"
        )
        try await chat("hi", "so?", "/copy", terminal: true, turns: [.answering("first"), other]) { result, _, _ in
            #expect(result.err.contains("\u{1B}]52;c;\(Base64.encode("second".utf8))\u{7}"), "\(result)")
        }
    }

    @Test("/save writes the chat as Markdown for the user alone, and replaces a file only if told to")
    func save() async throws {
        try await chat("hi", "/save ~/chat.md", "/save ~/old.md", "n", terminal: true, files: ["old.md": [65]]) {
            result,
            _,
            user in
            let text = try String(contentsOfFile: user.directory + "/chat.md", encoding: .utf8)
            #expect(text.hasPrefix("# Fix the login\n\n## You, "))
            #expect(text.contains("\n\n> hi\n\n## assistant, ") && text.hasSuffix("> You said: hi\n"), "\(text)")
            let mode = try FileManager.default.attributesOfItem(atPath: user.directory + "/chat.md")[.posixPermissions]
            #expect(mode as? Int == 0o600)
            #expect(try String(contentsOfFile: user.directory + "/old.md", encoding: .utf8) == "A")
            let shown = result.err.replacing("\n", with: " ")
            #expect(shown.contains("old.md exists. Replace it? [y/N]"), "\(result)")
        }
        try await chat("/new api", "plant\n# trees", "/save ~/new.md") { _, _, user in
            // The first prompt is the title.
            let text = try String(contentsOfFile: user.directory + "/new.md", encoding: .utf8)
            #expect(text.hasPrefix("# plant\n\n## You, "), "\(text)")
        }
    }

    @Test("A mistyped command gets the nearest one, and /edit needs a terminal")
    func mistyped() async throws {
        try await chat("/hlep", "/edit x", "/exit") { result, _, _ in
            #expect(result.err.contains("There is no command /hlep. Did you mean /help?"))
            #expect(result.err.contains("there is no terminal"))
        }
    }

    @Test("At a terminal, the project of a new chat is chosen from a list; elsewhere it has to be named")
    func project() async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                let chosen = await user.run("send", "--new", "hi", stdin: "9\n2\n", terminal: true)
                #expect(chosen.status == 0 && chosen.err.contains("Which project?\n  1) "), "\(chosen)")
                #expect(chosen.err.contains("9 is not in the list"), "\(chosen)")
                let none = await user.run("send", "--new", "hi", stdin: "\n", terminal: true)
                #expect(none.status == 2 && none.err.contains("name one with --project"), "\(none)")
                let script = await user.run("send", "--new", "hi", "--json")
                #expect(script.status == 2 && script.failed(with: "project.ambiguous"), "\(script)")
                let chat = await user.run("chat", stdin: "1\n/quit\n", terminal: true)
                #expect(chat.status == 0 && chat.err.contains("Which project?"), "\(chat)")
                #expect(mac.prompts == 1)
            }
        }
    }

    @Test("`send` reads a prompt that is left out from standard input, and a word behind `chats` is a project")
    func options() async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                #expect(await user.run("send", "c-login", stdin: "from a pipe\n").status == 0)
                #expect(prompts(mac) == ["from a pipe"])
                #expect(await user.run("send", "c-login", stdin: "x", terminal: true).status == 2)
                let short = await user.run("chats", "web", "-q")
                let long = await user.run("chats", "list", "web", "-q")
                #expect(short.status == 0 && !short.out.isEmpty && short.out == long.out)
                #expect(await user.run("chats", "web", "api").status == 2)
                #expect(await user.run("chats", "nowhere").status == 3)
                let new = await user.run("chat", "--project", "api", stdin: "/quit\n")
                #expect(new.status == 0 && new.err.contains("new chat in api"), "\(new)")
            }
        }
    }
}
