import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Glibc
import Testing

@testable import CompanionHost

/// What the owner decided beforehand.
@Suite("Rules for what an agent may do", .timeLimit(.minutes(15)))
struct AgentRuleTests {
    private static let options = [
        ApprovalOption(id: "Y", name: "Always", kind: .allowAlways),
        ApprovalOption(id: "y", name: "Yes", kind: .allowOnce),
        ApprovalOption(id: "n", name: "No", kind: .rejectOnce),
    ]

    private static func asked(_ kind: String, _ command: String? = nil, _ paths: [String] = []) -> ProposedTool {
        var call = ToolReport(id: "t", title: "Do it", kind: kind)
        call.locations = paths.map { AgentLocation(path: $0) }
        return ProposedTool(call: call, arguments: "", command: command, options: options)
    }

    private static func rule(
        _ effect: AgentRule.Effect,
        kind: String? = nil,
        command: String? = nil,
        path: String? = nil
    ) -> AgentRule {
        AgentRule(effect: effect, kind: kind, command: command, path: path)
    }

    private static func effect(
        _ rules: [AgentRule],
        _ asked: ProposedTool,
        in directory: String = "/nowhere",
        of project: String? = nil
    ) -> AgentRule.Effect? {
        AgentRule.deciding(rules, on: ToolUse(asked, directory: directory, project: project))?.effect
    }

    /// A question as an agent asks it.
    private static func asked(_ kind: String, input: String) throws -> ProposedTool {
        let input = try #require(JSONValue(lenient: Array(input.utf8)), "\(input)")
        let value: JSONValue = [
            "sessionId": "s",
            "toolCall": ["toolCallId": "t", "title": "Do it", "kind": .string(kind), "rawInput": input],
            "options": [["optionId": "y", "name": "Yes", "kind": "allow_once"]],
        ]
        var conversation = ACPConversation()
        return conversation.question(try #require(ACPQuestion(key: 0, value: value)))
    }

    @Test("A command is allowed only if all that the agent says of it is harmless, and it runs in the project")
    func surroundings() async throws {
        try await withTemporaryDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory + "/sub", withIntermediateDirectories: false)
            try FileManager.default.createSymbolicLink(atPath: directory + "/out", withDestinationPath: "/etc")
            let cases: [(String, AgentRule.Effect?)] = [
                ("", .allow), (#","description":"Look","timeout":5,"run_in_background":true"#, .allow),
                (#","cwd":"\#(directory)""#, .allow), (#","cwd":"\#(directory)/sub""#, .allow),
                (#","workdir":"sub""#, .allow), (#","cwd":null,"env":null"#, .allow), (#","args":["--short"]"#, .allow),
                (#","cwd":"/x""#, nil), (#","workdir":"/""#, nil), (#","cwd":"\#(directory)/..""#, nil),
                (#","cwd":"out""#, nil), (#","cwd":"~""#, nil), (#","cwd":7"#, nil),
                (#","cwd":"sub","workdir":"/x""#, nil), (#","env":{"GIT_PAGER":"sh"}"#, nil), (#","env":{}"#, nil),
                (#","cmd":"rm -r x""#, nil), (#","stdin":"x""#, nil), (#","Timeout":5"#, nil),
            ]
            for (more, expected) in cases {
                let asked = try Self.asked("execute", input: #"{"command":"git status"\#(more)}"#)
                for rule in [Self.rule(.allow, command: "git status"), Self.rule(.allow, kind: "execute")] {
                    #expect(Self.effect([rule], asked, in: directory) == expected, "\(more) \(rule.text)")
                }
                for effect in [AgentRule.Effect.deny, .ask] {
                    let rules = [Self.rule(.allow, kind: "execute"), Self.rule(effect, command: "git status")]
                    #expect(Self.effect(rules, asked, in: directory) == effect, "\(more)")
                }
            }
        }
    }

    @Test("A command is one whatever the agent calls its tool")
    func disguised() throws {
        for kind in ["read", "other", ""] {
            let asked = try Self.asked(kind, input: #"{"command":"git status"}"#)
            #expect(Self.effect([Self.rule(.allow, kind: "read")], asked) == nil)
            #expect(Self.effect([Self.rule(.allow, kind: "execute")], asked) == nil)
            let rules = [Self.rule(.allow, kind: "read"), Self.rule(.allow, command: "git status")]
            #expect(Self.effect(rules, asked) == .allow)
            for effect in [AgentRule.Effect.deny, .ask] {
                #expect(Self.effect(rules + [Self.rule(effect, kind: "execute")], asked) == effect)
            }
        }
        let other = try Self.asked("think", input: "{}")
        #expect(Self.effect([Self.rule(.allow, kind: "think"), Self.rule(.deny, kind: "execute")], other) == .allow)
    }

    @Test(
        "What uses files and does not say which is not allowed",
        arguments: ["read", "edit", "search", "delete", "move"]
    )
    func unknownFiles(kind: String) throws {
        let asked = try Self.asked(kind, input: #"{"file_path":"/etc/shadow"}"#)
        #expect(Self.effect([Self.rule(.allow, kind: kind)], asked) == nil)
        #expect(Self.effect([Self.rule(.deny, kind: kind)], asked) == .deny)
    }

    @Test("A tool that its question calls ended is looked at like any other", arguments: ["completed", "failed"])
    func ended(status: String) throws {
        let value: JSONValue = [
            "sessionId": "s",
            "toolCall": [
                "toolCallId": "t", "title": "Do it", "kind": "execute", "status": .string(status),
                "rawInput": ["command": "ls", "env": ["A": "b"]],
            ],
            "options": [["optionId": "y", "name": "Yes", "kind": "allow_once"]],
        ]
        var conversation = ACPConversation()
        let asked = conversation.question(try #require(ACPQuestion(key: 0, value: value)))
        #expect(asked.command == "ls")
        #expect(Self.effect([Self.rule(.allow, kind: "execute")], asked) == nil)
    }

    @Test("In a worktree, what is forbidden in the project stays forbidden, and nothing outside of both is allowed")
    func worktree() async throws {
        try await withTemporaryDirectory { directory in
            let (project, worktree) = (directory + "/project", directory + "/project-worktrees/1")
            for place in [project, worktree] {
                try FileManager.default.createDirectory(
                    atPath: place + "/secrets",
                    withIntermediateDirectories: true
                )
            }
            let cases: [(String, AgentRule.Effect?)] = [
                ("secrets/x", .deny), ("\(worktree)/secrets/x", .deny), ("\(project)/secrets/x", .deny),
                ("docs/a", .allow), ("\(project)/docs/a", .allow), ("\(directory)/other/a", nil),
                ("/etc/passwd", nil),
            ]
            let rules = [Self.rule(.deny, path: "secrets"), Self.rule(.allow, kind: "edit")]
            for (path, expected) in cases {
                let asked = Self.asked("edit", nil, [path])
                #expect(Self.effect(rules, asked, in: worktree, of: project) == expected, "\(path)")
                let asks = [Self.rule(.ask, path: "secrets"), rules[1]]
                let other = expected == .deny ? .ask : expected
                #expect(Self.effect(asks, asked, in: worktree, of: project) == other, "\(path)")
            }
            // What is allowed below a path is so where the agent works.
            let allow = [Self.rule(.allow, kind: "edit", path: "docs")]
            #expect(Self.effect(allow, Self.asked("edit", nil, ["docs/a"]), in: worktree, of: project) == .allow)
            #expect(
                Self.effect(allow, Self.asked("edit", nil, ["\(project)/docs/a"]), in: worktree, of: project) == nil
            )
        }
    }

    @Test("A host asks about a command that a rule names, if it runs outside of the project")
    func elsewhere() async throws {
        try await withTemporaryDirectory { directory in
            let launch = ACPLaunch(id: "fake", name: "Fake", command: try FakeACPAgent.command(in: directory))
            try await withHost(in: directory) {
                $0.agent = .acp(launch)
            } _: { (host: TestHost) async throws in
                try await host.pair()
                let administration = host.server.administration
                var request = AdminRequest(.addRule)
                request.rule = Self.rule(.allow, command: "rm -r")
                #expect(await administration.answer(request).rules?.count == 1)
                async let reply = host.ask("ask", model: "fake")
                let id = try await host.event { if case .questionAsked(let question) = $0 { question.id } else { nil } }
                var answer = AdminRequest(.answer)
                (answer.question, answer.approve) = (id, false)
                #expect(await administration.answer(answer).questions?.first?.state == .rejected)
                #expect(try await reply.answer == "chosen: n")
            }
        }
    }

    @Test(
        "A command is allowed by its first words, and only as plain words",
        arguments: [
            ("git status", AgentRule.Effect.allow), ("git  status  --short", .allow), ("git status HEAD~1", nil),
            ("git stat", nil), ("git statusx", nil), ("git", nil), ("/usr/bin/git status", nil), ("./git status", nil),
            ("git status; rm -rf x", nil), ("git status && x", nil), ("git status | x", nil), ("git status > x", nil),
            ("git status `x`", nil), ("git status $(x)", nil), ("git status\nrm -rf x", nil), ("\"git\" status", nil),
            ("A=1 git status", nil), ("git status\u{301}", nil), ("git\u{A0}status", nil), ("GIT status", nil),
            ("", nil), ("git status\\", nil), ("git status\r", nil), ("git status\t", nil), ("git status &", nil),
        ] as [(String, AgentRule.Effect?)]
    )
    func commands(_ command: String, _ expected: AgentRule.Effect?) {
        #expect(Self.effect([Self.rule(.allow, command: "git status")], Self.asked("execute", command)) == expected)
    }

    @Test(
        "What is forbidden is not allowed by another rule, nor is what may hide it",
        arguments: [
            ("git push origin", AgentRule.Effect.deny), ("/usr/bin/git push", .deny), ("git status", .allow),
            ("A=1 git push", nil), ("git \"push\"", nil), ("env git push", nil), ("git -C . push", nil),
            ("true; git push", nil), ("g\\it push", nil),
        ] as [(String, AgentRule.Effect?)]
    )
    func denied(_ command: String, _ expected: AgentRule.Effect?) {
        let rules = [Self.rule(.allow, kind: "execute"), Self.rule(.deny, command: "git push")]
        #expect(Self.effect(rules, Self.asked("execute", command)) == expected)
        #expect(Self.effect(rules, Self.asked("execute")) == nil, "a command that is not known")
    }

    @Test("What denies comes before what asks, and that before what allows, whatever was added first")
    func order() {
        let all = [
            Self.rule(.allow, kind: "fetch"), Self.rule(.ask, kind: "fetch"), Self.rule(.deny, kind: "fetch"),
        ]
        #expect(Self.effect(all, Self.asked("fetch")) == .deny)
        #expect(Self.effect(Array(all[..<2]), Self.asked("fetch")) == .ask)
        #expect(Self.effect(Array(all[..<1]), Self.asked("fetch")) == .allow)
        #expect(Self.effect(all, Self.asked("read")) == nil)
        #expect(Self.effect([], Self.asked("fetch")) == nil)
    }

    @Test("A path is allowed where all that the tool names is in it, also behind links, and denied where any is")
    func paths() async throws {
        try await withTemporaryDirectory { directory in
            for name in ["docs", "docs/deep", "src"] {
                try FileManager.default.createDirectory(
                    atPath: "\(directory)/\(name)",
                    withIntermediateDirectories: true
                )
            }
            for (link, target) in [("docs/out", "/etc"), ("docs/src", "../src"), ("also", "docs")] {
                try FileManager.default.createSymbolicLink(atPath: "\(directory)/\(link)", withDestinationPath: target)
            }
            let root = try #require(
                realpath(directory, nil).map { pointer in
                    defer { free(pointer) }
                    return String(cString: pointer)
                }
            )
            let allow = [Self.rule(.allow, kind: "edit", path: "docs")]
            let cases: [([String], AgentRule.Effect?)] = [
                (["docs/a.md"], .allow), (["\(root)/docs/deep/new/a.md"], .allow), (["also/a.md"], .allow),
                (["./docs//a.md"], .allow), (["docs/a.md", "docs/b.md"], .allow), (["docs/a.md", "src/b"], nil),
                (["docs/../src/a"], nil), (["docs/out/passwd"], nil), (["docs/src/a"], nil), (["docsx/a"], nil),
                (["/etc/passwd"], nil), (["/?"], nil), ([""], nil), ([], nil), (["\(root)x/docs/a"], nil),
            ]
            for (paths, expected) in cases {
                #expect(Self.effect(allow, Self.asked("edit", nil, paths), in: root) == expected, "\(paths)")
            }
            #expect(
                Self.effect([Self.rule(.allow, path: "docs")], Self.asked("execute", "x", ["docs/a"]), in: root) == nil
            )
            let deny = [Self.rule(.allow, kind: "edit"), Self.rule(.deny, path: "src")]
            #expect(Self.effect(deny, Self.asked("edit", nil, ["docs/a", "docs/src/b"]), in: root) == .deny)
            #expect(Self.effect(deny, Self.asked("edit", nil, ["docs/a"]), in: root) == .allow)
            #expect(Self.effect(deny, Self.asked("edit"), in: root) == nil, "nothing says what it edits")
            try FileManager.default.createSymbolicLink(
                atPath: directory + "/docs/later",
                withDestinationPath: "../src/later"
            )
            let unclear = [
                "docs/../src/a", "/proc/self/cwd/src/a", "/?", "", "docs/later", "~/.ssh/id_rsa", "~",
                "file:///etc/passwd", "file:/etc/passwd",
            ]
            let project = [Self.rule(.allow, kind: "edit", path: ".")]
            #expect(Self.effect(project, Self.asked("edit", nil, ["docs/a"]), in: root) == .allow)
            for path in unclear {
                #expect(Self.effect(deny, Self.asked("edit", nil, [path]), in: root) == nil, "\(path)")
                #expect(Self.effect(allow, Self.asked("edit", nil, [path]), in: root) == nil, "\(path)")
                #expect(Self.effect(project, Self.asked("edit", nil, [path]), in: root) == nil, "\(path)")
            }
            #expect(Self.effect(allow, Self.asked("move", nil, ["docs/a"]), in: root) == nil, "where to?")
        }
    }

    @Test(
        "A rule for a path leaves commands to the rules for them, unless they name the path",
        arguments: [
            ("git status", AgentRule.Effect.allow), ("git status --short docs", .allow), ("git log main..next", .allow),
            ("git show HEAD:docs/a", .allow), ("git -c color.ui=never status", .allow), ("/usr/bin/git status", .allow),
            ("git status secrets", nil), ("git diff ./docs/../secrets/a", nil), ("git show HEAD:secrets/a", nil),
            ("git -Csecrets status", nil), ("git --git-dir=secrets/x status", nil), ("git status link/a", nil),
            ("git status ..", nil), ("git status | cat", nil),
        ] as [(String, AgentRule.Effect?)]
    )
    func commandsBesidePaths(_ command: String, _ expected: AgentRule.Effect?) async throws {
        try await withTemporaryDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory + "/secrets", withIntermediateDirectories: false)
            try FileManager.default.createSymbolicLink(atPath: directory + "/link", withDestinationPath: "secrets")
            for effect in [AgentRule.Effect.deny, .ask] {
                let path = Self.rule(effect, path: "secrets")
                var asked = Self.asked("execute", command)
                #expect(Self.effect([path, Self.rule(.allow, kind: "execute")], asked, in: directory) == expected)
                let words = Self.rule(.allow, command: "git status")
                let isMeant = expected == .allow && command.hasPrefix("git status")
                #expect(Self.effect([path, words], asked, in: directory) == (isMeant ? .allow : nil))
                asked.directories = ["secrets"]
                #expect(Self.effect([path, words], asked, in: directory) == nil, "it runs there")
            }
        }
    }

    /// Commands in a project whose `config/secrets` is denied, where they run, and what comes of them if another rule
    /// allows them: nil where a person is asked.
    static let commandsAroundPaths: [(String, String?, AgentRule.Effect?)] = [
        // Below the place, as seen from where the command runs.
        ("cat secrets/prod.env", "config", nil), ("cat ./secrets/prod.env", "./config/", nil),
        ("cat config/secrets/prod.env", nil, nil), ("cat prod.env", "config/secrets", nil),
        ("cat --file=secrets/prod.env", "config", nil), ("cat link/prod.env", "docs", nil),
        // Or from where the agent works: nobody knows that the command runs where the agent says.
        ("cat config/secrets/prod.env", "docs", nil),
        // A directory above the place.
        ("rm -r config", nil, nil), ("rm -r config/", nil, nil), ("rm -r .", nil, nil), ("rm -r ./", nil, nil),
        ("rm -r PROJECT", nil, nil), ("rm -r PROJECT/config", "docs", nil), ("rm -r /", nil, nil),
        ("rm -r .", "config", nil), ("tar -cf x.tar --directory=config y", nil, nil), ("rm -r above", nil, nil),
        ("cp -r config docs", nil, nil), ("ls .", "docs", nil),
        // A directory above the place, other than the project, to run in.
        ("ls", "config", nil), ("ls", "PROJECT/config", nil),
        // The project as the mere place to run in, and what has nothing to do with the place.
        ("swift build", nil, .allow), ("swift build", ".", .allow), ("swift build", "PROJECT", .allow),
        ("ls Sources", nil, .allow), ("ls Sources", "PROJECT", .allow), ("ls", "docs", .allow),
        ("rm -r docs", nil, .allow), ("rm -r secrets", nil, .allow), ("cat secrets/prod.env", "docs", .allow),
        ("cat PROJECT/docs/a", "PROJECT", .allow), ("cat config.yml", nil, .allow), ("cat other/a", "PROJECT", .allow),
        // A program is no directory, whatever else has its name.
        ("config get user", nil, .allow),
    ]

    @Test(
        "A command that names a directory above a denied path is asked about, and one that only runs there is not",
        arguments: commandsAroundPaths
    )
    func commandsAround(command: String, cwd: String?, expected: AgentRule.Effect?) async throws {
        try await withTemporaryDirectory { directory in
            for name in ["config/secrets", "docs", "Sources"] {
                try FileManager.default.createDirectory(
                    atPath: "\(directory)/\(name)",
                    withIntermediateDirectories: true
                )
            }
            for (link, target) in [("docs/link", "../config/secrets"), ("above", "config")] {
                try FileManager.default.createSymbolicLink(atPath: "\(directory)/\(link)", withDestinationPath: target)
            }
            var asked = Self.asked("execute", command.replacing("PROJECT", with: directory))
            asked.directories = cwd.map { [$0.replacing("PROJECT", with: directory)] } ?? []
            let program = try #require(command.split(separator: " ").first.map(String.init))
            for allow in [Self.rule(.allow, kind: "execute"), Self.rule(.allow, command: program)] {
                for effect in [AgentRule.Effect.deny, .ask] {
                    let rules = [Self.rule(effect, path: "config/secrets"), allow]
                    #expect(Self.effect(rules, asked, in: directory) == expected, "\(allow.text)")
                }
                #expect(Self.effect([allow], asked, in: directory) == .allow, "without the other rule")
            }
        }
    }

    @Test("What deletes or moves a directory above a denied path is asked about, and a search of the project is not")
    func filesAround() async throws {
        try await withTemporaryDirectory { directory in
            try FileManager.default.createDirectory(
                atPath: directory + "/config/secrets",
                withIntermediateDirectories: true
            )
            let cases: [(kind: String, paths: [String], expected: AgentRule.Effect?)] = [
                ("delete", ["config"], nil), ("move", ["config", "docs"], nil), ("search", ["config"], nil),
                ("delete", [directory], nil), ("delete", ["config/other"], .allow), ("move", ["a", "b"], .allow),
                ("search", [directory], .allow), ("search", ["docs"], .allow), ("edit", ["config/a"], .allow),
                ("delete", ["config/secrets"], .deny), ("think", ["config"], nil), ("think", ["docs"], .allow),
            ]
            for (kind, paths, expected) in cases {
                let rules = [Self.rule(.deny, path: "config/secrets"), Self.rule(.allow, kind: kind)]
                let asked = Self.asked(kind, nil, paths)
                #expect(Self.effect(rules, asked, in: directory) == expected, "\(kind) \(paths)")
            }
        }
    }

    @Test(
        "What a rule forbids by a symbolic link is forbidden where that leads, and what it allows is not allowed there"
    )
    func linkedPlace() async throws {
        try await withTemporaryDirectory { directory in
            let files = FileManager.default
            try files.createDirectory(atPath: directory + "/docs", withIntermediateDirectories: true)
            try files.createSymbolicLink(atPath: directory + "/also", withDestinationPath: "docs")
            for path in ["also/a.md", "docs/a.md"] {
                let denied = [Self.rule(.deny, path: "also"), Self.rule(.allow, kind: "edit")]
                #expect(Self.effect(denied, Self.asked("edit", nil, [path]), in: directory) == .deny, "\(path)")
                let allowed = [Self.rule(.allow, path: "also")]
                #expect(Self.effect(allowed, Self.asked("edit", nil, [path]), in: directory) == nil, "\(path)")
            }
            let command = [Self.rule(.deny, path: "also"), Self.rule(.allow, kind: "execute")]
            #expect(Self.effect(command, Self.asked("execute", "rm docs/a.md"), in: directory) == nil)
        }
    }

    @Test("A rule for a path leaves tools without files to their rules, but not those that may use files")
    func otherToolsBesidePaths() async throws {
        try await withTemporaryDirectory { directory in
            for (kind, expected) in [
                ("fetch", AgentRule.Effect.allow), ("think", .allow), ("other", nil), ("read", nil),
            ] {
                let rules = [Self.rule(.deny, path: ".git"), Self.rule(.allow, kind: kind)]
                #expect(Self.effect(rules, Self.asked(kind), in: directory) == expected, "\(kind)")
                let inside = Self.effect(rules, Self.asked(kind, nil, [".git/config"]), in: directory)
                #expect(inside == (kind == "read" ? .deny : nil), "\(kind)")
            }
        }
    }

    @Test("A kind of tool that there is not is refused, with the nearest one")
    func kinds() {
        let fault = AgentRule(effect: .allow, kind: "exekute").fault
        #expect(
            fault == "There is no kind of tool “exekute”; did you mean execute? "
                + "The kinds are read, edit, delete, move, search, execute, think, fetch, switch_mode, other."
        )
        #expect(
            AgentRule(effect: .allow, kind: "frobnicate").fault?.hasPrefix("There is no kind of tool “frobnicate”. ")
                == true
        )
        for kind in AgentRule.kinds { #expect(AgentRule(effect: .deny, kind: kind).fault == nil) }
    }

    @Test(
        "A rule that can do no good is refused",
        arguments: [
            AgentRule(effect: .allow), AgentRule(effect: .allow, kind: ""),
            AgentRule(effect: .allow, kind: "two words"),
            AgentRule(effect: .deny, command: "rm; ls"), AgentRule(effect: .allow, command: " "),
            AgentRule(effect: .allow, path: "/etc"), AgentRule(effect: .allow, path: "a/../.."),
            AgentRule(effect: .allow, path: ""), AgentRule(effect: .deny, command: "rm", path: "docs"),
        ]
    )
    func faults(_ rule: AgentRule) {
        #expect(rule.fault != nil)
    }

    @Test("A rule for one project says nothing about the chats of another")
    func scope() async throws {
        try await withTemporaryDirectory { directory in
            let launch = ACPLaunch(id: "fake", name: "Fake", command: try FakeACPAgent.command(in: directory))
            let other = directory + "/other"
            try write("", to: other + "/file")
            try await withHost(in: directory) {
                $0.agent = .acp(launch)
                $0.projects = [directory + "/project", other]
            } _: { (host: TestHost) async throws in
                let administration = host.server.administration
                func add(_ rule: AgentRule, project: String?) async -> AgentRule? {
                    var request = AdminRequest(.addRule)
                    (request.rule, request.project) = (rule, project)
                    return await administration.answer(request).rules?.first
                }
                func answers() async throws -> [String] {
                    let first = try await host.ask("ask-here", chat: "first", path: host.project, model: "fake")
                    let second = try await host.ask("ask-here", chat: "second", path: other, model: "fake")
                    return [first.answer, second.answer]
                }
                try await host.pair()
                #expect(await add(Self.rule(.allow, command: "rm -r"), project: nil) != nil)
                #expect(try await answers() == ["chosen: y", "chosen: y"])
                #expect(await add(Self.rule(.deny, kind: "execute"), project: other)?.projectId != nil)
                #expect(try await answers() == ["chosen: y", "chosen: n"])
                // By its name.
                let named = await add(Self.rule(.deny, kind: "execute"), project: "project")
                #expect(named?.projectId != nil && named?.projectName == "project")
                let names = await administration.answer(AdminRequest(.rules)).rules?.map(\.projectName)
                #expect(names == [nil, "other", "project"])
                #expect(try await answers() == ["chosen: n", "chosen: n"])
            }
        }
    }

    @Test("A host goes by its rules, keeps them over a restart, and notes both in the audit")
    func host() async throws {
        try await withTemporaryDirectory { directory in
            let command = try FakeACPAgent.command(in: directory)
            let launch = ACPLaunch(id: "fake", name: "Fake", command: command)
            try await withHost(in: directory) {
                $0.agent = .acp(launch)
            } _: { (host: TestHost) async throws in
                let administration = host.server.administration
                var request = AdminRequest(.addRule)
                request.rule = Self.rule(.allow, command: "rm -r")
                request.project = "no such project"
                #expect(await administration.answer(request).error?.code == .requestInvalid)
                request.project = nil
                #expect(await administration.answer(request).rules?.first?.id == 1)
                try await host.pair()
                let reply = try await host.ask("ask-here", model: "fake")
                #expect(reply.answer == "chosen: y")
                #expect(reply.frames.contains(.status("A rule of the host allowed it: Run it")))
                request.rule = Self.rule(.deny, kind: "execute")
                #expect(await administration.answer(request).rules?.first?.id == 2)
                #expect(try await host.ask("ask-here", model: "fake").answer == "chosen: n")
            }
            try await withHost(in: directory) {
                $0.agent = .acp(launch)
            } _: { (host: TestHost) async throws in
                let administration = host.server.administration
                #expect(await administration.answer(AdminRequest(.rules)).rules?.map(\.effect) == [.allow, .deny])
                var request = AdminRequest(.removeRule)
                request.rule = AgentRule(id: 2, effect: .ask)
                #expect(await administration.answer(request).rules?.first?.effect == .deny)
                #expect(await administration.answer(request).error?.code == .ruleUnknown)
                try await host.pair()
                // Before it, a notice says that the agent's session is a new one.
                #expect(try await host.ask("ask-here", model: "fake").answer.hasSuffix("chosen: y"))
                let rows = try await administration.audit.rows(limit: 100).filter {
                    $0.kind.hasPrefix("rule.") || $0.kind == "question.decided"
                }
                #expect(
                    rows.map(\.kind) == [
                        "rule.added", "question.decided", "rule.added", "question.decided", "rule.removed",
                        "question.decided",
                    ]
                )
            }
        }
    }
}
