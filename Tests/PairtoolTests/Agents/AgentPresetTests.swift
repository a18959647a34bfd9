import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Glibc
import Testing

@testable import pairtool

/// `pairtool host --agent NAME` and `pairtool host agents`, with an agent under the program's name.
@Suite(.timeLimit(.minutes(15))) struct AgentPresetTests {
    private static let commands = [
        ["copilot", "--acp"], ["claude-code-acp"], ["gemini", "--acp"], ["codex-acp"], ["opencode", "acp"],
        ["goose", "acp"],
    ]

    /// Puts a program into a folder, which answers as an agent if its arguments are these.
    private static func install(_ command: [String], in owner: Sandbox, folder: String = "bin") throws {
        let agent = try FakeACPAgent.command(in: owner.directory).joined(separator: " ")
        let bin = "\(owner.directory)/\(folder)"
        try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: true)
        let script = """
            #!/bin/sh
            if [ "$*" = --version ]; then echo "1.2.3 (test)"; exit; fi
            [ "$*" = "\(command.dropFirst().joined(separator: " "))" ] || { echo "not these: $*" >&2; exit 2; }
            exec \(agent)
            """
        _ = try owner.file("\(folder)/\(command[0])", Array(script.utf8))
        try #require(chmod("\(bin)/\(command[0])", 0o755) == 0)
    }

    @Test(
        "A known agent is found, listed with its version and sign-in, and started as it wants to be",
        arguments: commands
    )
    func runs(command: [String]) async throws {
        try await withProject { owner, user in
            try Self.install(command, in: owner)
            let path = owner.directory + "/bin:/usr/bin:/bin"
            let variables = ["PATH": path, "OPENAI_API_KEY": "x"]
            let listed = try await owner.spawn(["host", "agents", "--installed", "--json"], environment: variables)
            let row = try #require(try listed.json.first, "\(listed)")
            #expect(try listed.json.count == 1)
            #expect(row["version"] == .text("1.2.3 (test)"))
            #expect(row["path"] == .text("\(owner.directory)/bin/\(command[0])"))
            let id = try #require(row["id"]?.string)
            let takesKey = ["codex", "opencode", "goose"].contains(id)
            #expect(row["credentials"] == (takesKey ? .text("OPENAI_API_KEY") : nil), "\(row)")
            let arguments = ["--project", owner.directory + "/garden", "--agent", id]
            try await withRunningHost(owner, arguments, environment: variables) { events in
                try await user.pair(try await events.payload.text)
                let sent = try await user.spawn(["send", "--new", "say Roses", "-q"])
                #expect(sent.status == 0 && sent.out == "Roses\n", "\(sent)")
            }
        }
    }

    @Test(
        "An agent in ~/.local/bin is found where PATH does not have it, as in a service, and so are programs beside it"
    )
    func usersFolder() async throws {
        try await withProject { owner, user in
            try Self.install(["copilot-helper"], in: owner, folder: ".local/bin")
            let wrapper = "#!/bin/sh\n[ \"$1\" = --acp ] && exec copilot-helper\necho 4.5.6\n"
            let path = try owner.file(".local/bin/copilot", Array(wrapper.utf8))
            try #require(chmod(path, 0o755) == 0)
            let variables = ["PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin"]
            let listed = try await owner.spawn(["host", "agents", "--installed", "--json"], environment: variables)
            let row = try #require(try listed.json.first { $0["id"] == .text("copilot") }, "\(listed)")
            #expect(row["path"] == .text(path) && row["version"] == .text("4.5.6"))
            let arguments = ["--project", owner.directory + "/garden", "--agent", "copilot"]
            try await withRunningHost(owner, arguments, environment: variables) { events in
                try await user.pair(try await events.payload.text)
                let sent = try await user.spawn(["send", "--new", "say Roses", "-q"])
                #expect(sent.status == 0 && sent.out == "Roses\n", "\(sent)")
            }
        }
    }

    @Test("An agent that is not installed is no host, and it is said how to install it")
    func missing() async throws {
        try await withProject { owner, _ in
            let variables = ["PATH": owner.directory]
            let arguments = ["host", "--json", "--project", owner.directory + "/garden", "--agent", "copilot"]
            let run = try await owner.spawn(arguments, environment: variables)
            #expect(run.status != 0 && run.failed(with: "agent.not_installed"), "\(run)")
            #expect(run.err.contains("npm install -g @github/copilot"))
            #expect(run.err.contains("For a service, set PATH in ~/.config/pairtool/host.env"), "\(run)")
            let listed = try await owner.spawn(["host", "agents", "--installed"], environment: variables)
            #expect(listed.isEmptyList, "\(listed)")
        }
    }
}
