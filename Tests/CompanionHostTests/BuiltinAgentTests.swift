import CompanionHost
import CompanionWire
import FoundationEssentials
import Testing

@Suite("The project explorer", .timeLimit(.minutes(15)))
struct BuiltinAgentTests {
    private func withProject<Result: Sendable>(_ body: (TestHost) async throws -> Result) async throws -> Result {
        try await withTemporaryDirectory { directory in
            try write("outside secret\n", to: directory + "/secret.txt")
            try write("# Title\n\nWhat it is.\n", to: directory + "/project/README.md")
            try write("let answer = 42\nlet Other = 7\n", to: directory + "/project/Sources/main.swift")
            try write("x\n", to: directory + "/project/Sources/deep/er/file.txt")
            try write("hidden\n", to: directory + "/project/.git/config")
            return try await withHost(in: directory) { host in
                try await host.pair()
                return try await body(host)
            }
        }
    }

    @Test(
        "Commands are read from the start of the prompt",
        arguments: [
            ("help", .help), ("LIST Sources", .list(directory: "Sources")), ("list", .list(directory: "")),
            ("tree", .tree(directory: "", depth: 3)), ("tree Sources 99", .tree(directory: "Sources", depth: 8)),
            ("find", .help), ("find *.swift", .find(pattern: "*.swift")), ("search a b", .search(text: "a b")),
            ("search /a.b/", .search(text: "/a.b/")), ("search", .help), ("search ''", .help),
            ("show a:3", .show(file: "a", lines: 3...3)),
            ("show a:3-9", .show(file: "a", lines: 3...9)), ("show a:9-3", .show(file: "a", lines: 9...9)),
            ("show a:b", .show(file: "a:b", lines: nil)), ("show 'a b'", .show(file: "a b", lines: nil)),
            ("log", .log(count: 10)), ("log 1000", .log(count: 100)), ("\n  help\nmore", .help),
            ("what is this?", .about), ("listen", .about), ("", .about),
        ] as [(String, BuiltinCommand)]
    )
    func commands(prompt: String, expected: BuiltinCommand) {
        #expect(BuiltinCommand(prompt: prompt) == expected)
    }

    @Test(
        "It lists, draws trees, finds, searches and shows, in blocks of code",
        arguments: [
            ("list", [".git/", "README.md  21 B", "Sources/"]),
            ("list Sources", ["deep/", "main.swift  30 B"]),
            (
                "tree",
                [
                    ".", "├── .git/", "├── README.md", "└── Sources/", "    ├── deep/", "    │   └── er/",
                    "    └── main.swift",
                ]
            ),
            ("tree Sources 1", ["Sources", "├── deep/", "└── main.swift"]),
            ("find *.swift", ["Sources/main.swift"]),
            ("find MAIN", ["Sources/main.swift"]),
            ("find Sources/*.txt", ["Sources/deep/er/file.txt"]),
            ("search other", ["Sources/main.swift:2: let Other = 7"]),
            ("search Answer", ["No match."]),
            ("search r = 4", ["Sources/main.swift:1: let answer = 42"]),
            ("search r.=", ["No match."]),
            ("search hidden", ["No match."]),
            ("show Sources/main.swift:2-9", ["    2  let Other = 7"]),
            ("show README.md", ["    1  # Title", "    2  ", "    3  What it is."]),
        ]
    )
    func explores(prompt: String, lines: [String]) async throws {
        try await withProject { host in
            let reply = try await host.ask(prompt)
            #expect(reply.answer == (lines == ["No match."] ? "No match.\n" : Self.code(lines)))
            guard case .toolStart(_, let id) = reply.frames.first,
                case .toolComplete(_, id, let success, _) = reply.frames.dropLast().last
            else { throw TestFailure(reply.body) }
            #expect(success && reply.frames.last == .done(files: nil))
        }
    }

    private static func code(_ lines: [String]) -> String {
        "```\n" + lines.joined(separator: "\n") + "\n```\n"
    }

    @Test("Names and lines of files can neither end the block of code nor begin a line")
    func blocks() async throws {
        try await withProject { host in
            try write("a\r```\r# no\u{2028}b\n", to: host.project + "/```")
            try write("", to: host.project + "/x\n```\n# no")
            #expect(try await host.ask("find `").answer == Self.code(["./```", "x ``` # no"]))
            #expect(try await host.ask("find # no").answer == Self.code(["x ``` # no"]))
            #expect(try await host.ask("search # no").answer == Self.code(["```:1: a ``` # no b"]))
            let list = [".git/", "README.md  21 B", "Sources/", "```  15 B", "x ``` # no  0 B"]
            #expect(try await host.ask("list").answer == Self.code(list))
            try write("y", to: host.project + "/`` `` ``/y")
            #expect(try await host.ask(#"tree "`` `` ``""#).answer == Self.code(["./`` `` ``", "└── y"]))
        }
    }

    @Test("Words about what is left out stand below the block of code")
    func words() async throws {
        try await withProject { host in
            for index in 0..<501 { try write("", to: host.project + "/many/\(index)") }
            #expect(try await host.ask("list many").answer.hasSuffix("  0 B\n```\n… and 1 more\n"))
            #expect(try await host.ask("what is this?").answer.contains("```") == false)
        }
    }

    @Test(
        "It never leaves the project, and waits for no pipe",
        arguments: [
            "show ../secret.txt", "show Sources/../../secret.txt", "show /etc/passwd", "show ~/.bashrc",
            "show ../../../../../../etc/passwd", "show link.txt", "show door/secret.txt", "list ..", "list door",
            "tree door", "list /", "show pipe", "show device", "show Sources", "show nothing", "show \u{0}",
            "show null\u{0}byte", "show door\u{600}/secret.txt", "show up\u{600}/\u{301}/secret.txt", "list up\u{600}",
            "show ..\u{600}/../secret.txt", "show /\u{301}etc/passwd", "show Sources/\u{301}../../secret.txt",
        ]
    )
    func confined(prompt: String) async throws {
        try await withProject { host in
            try link("../secret.txt", at: host.project + "/link.txt")
            try link("..", at: host.project + "/door")
            try link("..", at: host.project + "/door\u{600}")
            try link("..", at: host.project + "/up\u{600}")
            try link("/dev/zero", at: host.project + "/device")
            try makePipe(host.project + "/pipe")
            let reply = try await host.ask(prompt)
            #expect(!reply.body.contains("secret\\n") && !reply.body.contains("root:"))
            let failures = reply.frames.filter { if case .toolComplete(_, _, false, _) = $0 { true } else { false } }
            #expect(failures.count == 1, "\(reply.body)")
            #expect(reply.frames.last == .done(files: nil))
        }
    }

    @Test("Links that stay inside the project are followed; what one leads out of the project is named")
    func links() async throws {
        try await withProject { host in
            try link("Sources/deep", at: host.project + "/inside")
            try link("../secret.txt", at: host.project + "/outside")
            #expect(try await host.ask("show inside/er/file.txt").answer == Self.code(["    1  x"]))
            let outside = try await host.ask("show outside").answer
            #expect(outside == "`outside` leads out of the project, by a symbolic link.\n")
        }
    }

    @Test(
        "Searches and trees do not follow links either, and pass pipes by",
        arguments: ["search secret", "tree", "find secret.txt"]
    )
    func walks(prompt: String) async throws {
        try await withProject { host in
            try link("..", at: host.project + "/door")
            try makePipe(host.project + "/pipe")
            let reply = try await host.ask(prompt)
            #expect(!reply.answer.contains("secret"))
            #expect(reply.frames.last == .done(files: nil))
        }
    }

    @Test("A text that looks like a regular expression is searched for literally")
    func literalSearch() async throws {
        try await withProject { host in
            try write("aaa\nlet r = /(a*)*b/\n", to: host.project + "/a.txt")
            #expect(try await host.ask("search /(a*)*b/").answer == Self.code(["a.txt:2: let r = /(a*)*b/"]))
            #expect(try await host.ask("search a*a").answer == "No match.\n")
        }
    }

    @Test("Anything else gets what the project is")
    func about() async throws {
        try await withProject { host in
            let answer = try await host.ask("what is this?").answer
            #expect(answer.contains("3 files: 1 .md, 1 .swift, 1 .txt"))
            #expect(answer.contains("> # Title\n> \n> What it is."))
            #expect(answer.contains("`show FILE`"))
        }
    }

    @Test(
        "It only reads, so it answers whatever tools a prompt allows",
        arguments: ["[]", #"["other"]"#, #""all""#, "null"]
    )
    func allowed(tools: String) async throws {
        try await withProject { host in
            let cases = [
                ("list Sources", "main.swift"), ("show README.md", "What it is."), ("search answer", "answer = 42"),
                ("find *.swift", "main.swift"), ("what is this?", "3 files"), ("help", "project explorer"),
            ]
            for (prompt, expected) in cases {
                let body = #"{"prompt":"\#(prompt)","model":"builtin","allowedTools":\#(tools)}"#
                let reply = try await host.post("/companion/chats/x/continue", body)
                #expect(reply.answer.contains(expected) && !reply.answer.contains("allow-tool"), "\(reply)")
                #expect(reply.frames.last == .done(files: nil))
            }
        }
    }

    @Test("The log is git's, without the repository's own programs, and only of the project itself")
    func gitLog() async throws {
        try await withTemporaryDirectory { directory in
            try await withHost(in: directory) { host in
                try await host.pair()
                let none = try await host.ask("log")
                #expect(none.answer.contains("not a git repository"))
                let script = """
                    cd '\(host.project)' && git init -q . && git config user.name N && git config user.email e@x &&
                    git commit -q --allow-empty -m 'First one' && git commit -q --allow-empty -m 'Second one' &&
                    git config core.pager 'touch \(directory)/pwned' && git config log.showSignature true &&
                    git config gpg.program 'touch \(directory)/pwned' &&
                    git config core.fsmonitor 'touch \(directory)/pwned'
                    """
                try await shell(script)
                let reply = try await host.ask("log 1")
                #expect(reply.answer.contains("Second one") && !reply.answer.contains("First one"))
                #expect(reply.answer.hasPrefix("```\n") && reply.answer.hasSuffix("Second one\n```\n"))
                #expect(!FileManager.default.fileExists(atPath: directory + "/pwned"))
            }
        }
    }

    @Test("The log of a linked working tree is its own, and a `.git` that shows another one's is refused")
    func linkedLog() async throws {
        try await withTemporaryDirectory { directory in
            try await withHost(in: directory) { host in
                try await host.pair()
                let commit = "git -c user.name=N -c user.email=e@x commit -q --allow-empty -m"
                try await shell(
                    """
                    mkdir '\(directory)/main' && cd '\(directory)/main' && git init -q -b main && \(commit) 'First one' &&
                    git worktree add -q ../other -b other && git worktree add -q ../linked -b linked &&
                    cd ../linked && \(commit) 'Linked one' && rmdir '\(host.project)' &&
                    git worktree move ../linked '\(host.project)'
                    """
                )
                let own = try await host.ask("log")
                #expect(own.answer.contains("Linked one") && own.answer.contains("First one"), "\(own.body)")
                try await shell("cp '\(directory)/other/.git' '\(host.project)/.git'")
                let other = try await host.ask("log")
                #expect(other.answer.hasPrefix("This repository is not read: "), "\(other.body)")
                try await shell("echo 'gitdir: \(directory)/main/.git' >'\(host.project)/.git'")
                let whole = try await host.ask("log")
                #expect(whole.answer.contains("`.git` leads out of it"), "\(whole.body)")
            }
        }
    }

    @Test("Long files, many entries and binary files are cut or refused with words")
    func caps() async throws {
        try await withProject { host in
            try write(String(repeating: "line\n", count: 1000), to: host.project + "/long.txt")
            #expect(try await host.ask("show long.txt").answer.contains("show long.txt:401-800"))
            try write("a\u{0}b", to: host.project + "/binary")
            #expect(try await host.ask("show binary").answer.contains("not text"))
            for index in 0..<600 { try write("", to: host.project + "/many/\(index)") }
            #expect(try await host.ask("list many").answer.contains("and 100 more"))
            #expect(try await host.ask("tree many").answer.contains("cut off"))
        }
    }
}
