import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import PNGFiles
import Testing

@testable import pairtool

/// A host with several agents, and what people see of it, with the built binary on both sides.
@Suite(.serialized, .timeLimit(.minutes(15))) struct SeveralAgentsCommandTests {
    /// Runs a host with two agents, `env` and `env-2`, and a user who has paired with it.
    private func withAgents(
        _ body: @escaping @Sendable (_ host: Sandbox, _ user: Sandbox) async throws -> Void
    ) async throws {
        try await withProject { owner, user in
            let places = ["first", "second"].map { "\(owner.directory)/\($0)" }
            for place in places {
                try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
            }
            let commands = try places.flatMap {
                ["--agent-command", try FakeACPAgent.command(in: $0).joined(separator: " ")]
            }
            let arguments = ["--name", "Shed", "--project", owner.directory + "/garden", "--acp"] + commands
            try await withRunningHost(owner, arguments) { events in
                try await user.pair(try await events.payload.text)
                try await body(owner, user)
            }
        }
    }

    @Test("The agent is chosen for each chat, lists show it, and the chat stays with it")
    func chosen() async throws {
        try await withAgents { host, user in
            #expect(try await user.spawn(["models", "-q"]).out == "env\nenv-2\n")
            let first = try await user.spawn(["send", "--new", "say first", "--json"])
            let second = try await user.spawn(["send", "--new", "--agent", "env-2", "say second", "--json"])
            let ids = try [first, second].map { try #require(try $0.json.last?["chatId"]?.string) }
            let rows = try await user.spawn(["chats", "--json"]).json
            #expect(rows.map { $0["model"]?.string } == ["env-2", "env"], "\(rows)")
            let table = try await user.spawn(["chats"]).out
            #expect(table.contains("AGENT") && table.contains("env-2"), "\(table)")
            for (id, said) in zip(ids, ["say first", "say second"]) {
                let again = try await user.spawn(["send", id, "recall"])
                #expect(again.status == 0 && again.out == said + "\n", "\(again)")
            }
            let other = try await user.spawn(["send", ids[1], "recall", "--agent", "env"])
            #expect(
                other.status != 0 && other.err.contains("This chat goes on with env: begin a new one for env"),
                "\(other)"
            )
            let unknown = try await user.spawn(["send", "--new", "--agent", "enf-2", "x"])
            #expect(unknown.status == 3 && unknown.err.contains("did you mean “env-2”?"), "\(unknown)")
            let status = try await host.spawn(["host", "status"])
            #expect(status.out.contains("env: ready") && status.out.contains("env-2: ready"), "\(status)")
            _ = try await user.spawn(["send", ids[1], "die"])
            let agents = try await host.spawn(["host", "status", "--json"]).json[0]["agents"]
            guard case .list(let states)? = agents else {
                Issue.record("\(String(describing: agents))")
                return
            }
            #expect(states.map { $0["id"]?.string } == ["env", "env-2"])
            #expect(states[0]["trouble"] == nil && states[1]["trouble"]?["message"]?.string?.isEmpty == false)
        }
    }

    @Test("/agent in a chat names the agents, and begins a new chat with another one")
    func inChat() async throws {
        try await withAgents { _, user in
            let typed = "say one\n/agent\n/agent env-2\nsay two\n/agent env-2\nrecall\n/chats\n/chats 2\nrecall\n"
            let chat = try await user.spawn(["chat"], stdin: typed)
            #expect(chat.status == 0 && chat.err.contains("The host has: env, env-2"), "\(chat)")
            #expect(chat.err.components(separatedBy: "A chat stays with its agent: this is a new one.").count == 2)
            #expect(chat.out == "one\ntwo\nsay two\nsay one\n", "\(chat)")
            let rows = try await user.spawn(["chats", "--json"]).json
            #expect(rows.map { $0["model"]?.string } == ["env", "env-2"], "\(rows)")
        }
    }

    @Test(
        "What cannot be run is said before a host begins",
        arguments: [
            (["--agent", "claud"], "Did you mean claude?"),
            (["--agent", "builtin", "--agent", "builtin"], "names an agent twice"),
            (["--agent-command", "a", "--agent-command", "b"], "with --agent-command need --acp"),
            (["--acp"], "--acp needs --agent-command"),
            (["--agent", "x", "--registry", "/nowhere"], "/nowhere"),
        ]
    )
    func mistakes(options: [String], message: String) async throws {
        try await Sandbox.with { owner in
            let run = try await owner.spawn(["host", "--port", "0"] + options)
            #expect(run.status != 0 && run.err.contains(message), "\(run)")
        }
    }

    private static let registry = #"""
        {"version":"1.0.0","extensions":[],"agents":[
          {"id":"planter","name":"Planter","version":"1.2","description":"Plants","distribution":{"npx":{"package":"@garden/planter","args":["--acp"]}}},
          {"id":"digger","name":"Digger","version":"2","description":"Digs","distribution":{"binary":{"linux-x86_64":{"archive":"https://garden.example/d.tgz","cmd":"./digger"},"linux-aarch64":{"archive":"https://garden.example/d.tgz","cmd":"./digger"}}}}]}
        """#

    @Test("An agent of the registry is shown with its command, and is run after a yes alone")
    func registered() async throws {
        try await withProject { owner, user in
            let copy = try owner.file("registry.json", Array(Self.registry.utf8))
            let listed = try await owner.spawn(["host", "agents", "--registry", copy])
            #expect(listed.out.contains("npx --yes @garden/planter --acp"), "\(listed)")
            #expect(listed.err.contains("To install digger: download https://garden.example/d.tgz"), "\(listed)")
            let broken = try await owner.spawn([
                "host", "agents", "--registry", try owner.file("x", Array("<p>".utf8)), "--json",
            ])
            #expect(broken.status == 1 && broken.failed(with: "agent.no_registry"), "\(broken)")
            let missing = try await owner.spawn(["host", "--port", "0", "--agent", "digger", "--registry", copy])
            #expect(missing.err.contains("download https://garden.example/d.tgz, and put digger into"), "\(missing)")
            let none = try await owner.spawn(["host", "--port", "0", "--agent", "weeder", "--registry", copy, "--json"])
            #expect(none.status == 3 && none.failed(with: "agent.unknown"), "\(none)")
            // What npx would run.
            let agent = try FakeACPAgent.command(in: owner.directory).joined(separator: " ")
            let place = try owner.program(".npm-global/bin/npx", "echo \"$*\" >~/ran\nexec \(agent)")
            let options = ["--project", owner.directory + "/garden", "--agent", "planter", "--registry", copy]
            let unasked = try await owner.spawn(["host", "--port", "0", "--json"] + options)
            #expect(unasked.status == 2 && unasked.failed(with: "agent.not_confirmed"), "\(unasked)")
            let first = ["PATH": "\(place):/usr/bin:/bin"]
            try await withRunningHost(owner, options + ["--yes"], environment: first) { events in
                try await user.pair(try await events.payload.text)
                let sent = try await user.spawn(["send", "--new", "say planted"])
                #expect(sent.status == 0 && sent.out == "planted\n", "\(sent)")
                let ran = try String(contentsOfFile: owner.directory + "/ran", encoding: .utf8)
                #expect(ran == "--yes @garden/planter --acp\n")
            }
        }
    }

    @Test("Programs are found where npm, nvm and mise put them, also with a bare PATH, and it is said where that is")
    func places() async throws {
        try await Sandbox.with { owner in
            let places = [
                ".local/bin/goose", ".npm-global/bin/codex-acp", ".nvm/versions/node/v9.1.0/bin/gemini",
                ".nvm/versions/node/v20.1.0/bin/gemini", ".local/share/mise/shims/qwen",
            ]
            for place in places { try owner.program(place, "echo 1.0") }
            let bare = ["PATH": "/usr/bin:/bin"]
            let rows = try await owner.spawn(["host", "agents", "--installed", "--json"], environment: bare).json
            let found = Dictionary(
                uniqueKeysWithValues: rows.map { ($0["id"]?.string ?? "", $0["path"]?.string ?? "") }
            )
            #expect(found["goose"] == "\(owner.directory)/.local/bin/goose")
            #expect(found["codex"] == "\(owner.directory)/.npm-global/bin/codex-acp")
            #expect(found["gemini"] == "\(owner.directory)/.nvm/versions/node/v20.1.0/bin/gemini")
            #expect(found["qwen"] == "\(owner.directory)/.local/share/mise/shims/qwen")
            let listed = try await owner.spawn(["host", "agents"], environment: bare)
            #expect(listed.err.contains("Looked in: /usr/bin, /bin, "), "\(listed)")
        }
    }

    @Test(
        "Pictures go to an agent that takes them, also in a chat and out of the clipboard; a large one is made smaller"
    )
    func pictures() async throws {
        try await withProject { owner, user in
            let agent = (try FakeACPAgent.command(in: owner.directory) + ["images"]).joined(separator: " ")
            let arguments = ["--project", owner.directory + "/garden", "--agent-command", agent, "--acp"]
            try await withRunningHost(owner, arguments) { events in
                try await user.pair(try await events.payload.text)
                let small = try user.file("a", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
                var state: UInt64 = 1
                let large = try user.file(
                    "b",
                    PNGWriter(width: 1200, height: 1200, colourType: 2).file { _, _ in
                        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                        return [UInt16(state >> 56), UInt16(state >> 48 & 255), UInt16(state >> 40 & 255)]
                    }
                )
                let sent = try await user.spawn(["send", "--new", "pictures", "--image", small, "--image", large])
                #expect(
                    sent.status == 0 && sent.out.hasPrefix(#"[["image", "image/png", 12], ["image", "image/jpeg", "#)
                )
                let chat = try await user.spawn(["chat"], stdin: "/image \(small)\npictures\npictures\n")
                #expect(chat.out == "[[\"image\", \"image/png\", 12]]\n[]\n", "\(chat)")
                let folder = try user.program(
                    "bin/wl-paste",
                    "case $* in *--list-types*) echo image/png ;; *) cat \(small) ;; esac"
                )
                let desktop = ["PATH": folder + ":/usr/bin:/bin", "WAYLAND_DISPLAY": "none"]
                let pasted = try await user.spawn(["chat"], stdin: "/image\npictures\n", environment: desktop)
                #expect(pasted.out == "[[\"image\", \"image/png\", 12]]\n", "\(pasted)")
                let none = try await user.spawn(["chat"], stdin: "/image\n")
                #expect(none.err.contains("there is no desktop whose clipboard could be read"), "\(none)")
            }
        }
    }

}
