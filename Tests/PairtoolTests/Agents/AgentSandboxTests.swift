import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Testing

@testable import CompanionHost
@testable import pairtool

/// Agents in a box, with the built host and bubblewrap.
@Suite(
    .serialized,
    .timeLimit(.minutes(15)),
    .enabled("bubblewrap cannot make a box here") { await SandboxProbe.complaint() == nil }
)
struct AgentSandboxTests {
    /// Runs a body with a host whose agent is a shell that runs its prompts, in a box.
    private func withShell(
        _ options: [String] = [],
        _ body: @escaping @Sendable (_ host: Sandbox, _ user: Sandbox, HostEvents) async throws -> Void
    ) async throws {
        try await withProject { host, user in
            let made = try await host.shell(
                """
                mkdir .ssh shed && echo secret >.ssh/id && echo secret >shed/plan
                cd garden && git init -q && git -c user.name=A -c user.email=a@b commit -q --allow-empty -m one
                """
            )
            try #require(made.status == 0, "\(made)")
            let arguments =
                [
                    "--name", "Shed", "--project", host.directory + "/garden", "--project", host.directory + "/shed",
                    "--sandbox", "--agent-command", "/bin/sh",
                ] + options
            try await withRunningHost(host, arguments) { events in
                try await user.pair(try await events.payload.text)
                try await body(host, user, events)
            }
        }
    }

    private static func run(_ command: String, by user: Sandbox) async throws -> String {
        try await user.spawn(["send", "--new", "--project", "garden", "{ \(command); } 2>&1", "--json"]).json.last?[
            "answer"
        ]?.string ?? ""
    }

    @Test(
        "An agent in a box reads neither the home directory, pairtool's keys, its admin socket nor another project",
        arguments: ["~/.ssh/id", "~/data/pairtool/host/identity.key", "~/run/pairtool", "../shed/plan"]
    )
    func hidden(place: String) async throws {
        try await withShell { host, user, _ in
            let seen = try await Self.run("test -e \(place) && echo seen || echo hidden", by: user)
            #expect(seen == "hidden\n")
            let outside = try await host.shell("cd garden && test -e \(place) && echo seen")
            #expect(outside.out == "seen\n" || place == "~/run/pairtool", "\(outside)")
        }
    }

    @Test("It writes its project and commits there, and neither the system nor what git would run")
    func writes() async throws {
        try await withShell { host, user, _ in
            let commit = "git -c user.name=A -c user.email=a@b commit -q -m two"
            #expect(
                try await Self.run("echo Lilies >beds && git add beds && \(commit) && echo done", by: user) == "done\n"
            )
            #expect(FileManager.default.fileExists(atPath: host.directory + "/garden/beds"))
            let attempts = [
                "echo id >.git/hooks/pre-commit", "git config core.pager id", "mv .git old", "rm -rf .git/hooks",
                "touch /usr/bin/new",
            ]
            for attempt in attempts {
                let answer = try await Self.run("\(attempt) && echo managed", by: user)
                #expect(!answer.contains("managed"), "\(attempt): \(answer)")
            }
            let config = try await host.shell(
                "cd garden && git config core.pager; ls .git/hooks | grep -v sample; git log --oneline | wc -l"
            )
            #expect(config.out == "2\n", "\(config)")
        }
    }

    @Test("What it starts ends with it, also in a session of its own, and it sees no process but its own")
    func processes() async throws {
        try await withShell { host, user, _ in
            let stays = "setsid sh -c 'exec 9>held; flock 9; exec sleep 600' </dev/null >/dev/null 2>&1 &"
            let left = "\(stays) until ! flock -n held true; do :; done; echo left"
            #expect(try await Self.run(left, by: user) == "left\n")
            let free = try await host.shell("cd garden && flock -n held echo free")
            #expect(free.out == "free\n", "\(free)")
            let count = try await Self.run("ls /proc | grep -c '^[0-9]'", by: user)
            #expect((Int(count.trimmingWhitespace()) ?? 99) < 10, "\(count)")
        }
    }

    @Test(
        "What an agent leaves in its project opens nothing of the home directory to the next one",
        arguments: [
            "rm -rf .git; echo gitdir: $HOME/.ssh >.git",
            "echo $HOME/.ssh >.git/commondir; echo $PWD/.git >.git/gitdir",
            "rm -rf .git; mkdir .git; ln -s $HOME/.ssh .git/hooks; ln -s $HOME/.ssh/id .git/config",
            "rm -rf .git; ln -s $HOME/.ssh .git", "ln -s $HOME/.ssh .git/modules; ln -s $HOME/.ssh link",
        ]
    )
    func traps(trap: String) async throws {
        try await withShell { host, user, _ in
            // As in a project that had no repository when the first agent began.
            let set = try await host.shell("cd garden && HOME='\(host.directory)' && { \(trap); }")
            #expect(set.status == 0, "\(set)")
            let answer = try await Self.run(
                "cat ~/.ssh/id .git/id .git/hooks/id .git/modules/id .git/config link/id; "
                    + "echo more >>~/.ssh/id && echo written; echo ended",
                by: user
            )
            #expect(!answer.contains("secret") && !answer.contains("written") && answer.contains("ended"), "\(answer)")
        }
    }

    @Test("Without a network it reaches nothing, not even the host", arguments: [true, false])
    func network(isOn: Bool) async throws {
        try await withShell(isOn ? [] : ["--sandbox-network", "off"]) { _, user, events in
            let port = try await events.ports.secure
            let attempt =
                "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", \(port)), 5); print(\"reached\")'"
            let answer = try await Self.run(attempt, by: user)
            #expect(answer.contains("reached") == isOn, "\(answer)")
        }
    }

    @Test(
        "A script that the agent may write shows no interpreter's directory, and projects outside the home are hidden"
    )
    func scripts() throws {
        let box = BoxedProgram(command: ["/bin/sh", "/home/ada/own/a"], home: "/home/ada", writable: ["/home/ada/own"])
        #expect(box.places.allSatisfy { !$0.contains(".ssh") })
        let sandbox = try AgentSandbox(
            hasNetwork: true,
            home: FileManager.default.temporaryDirectory.path,
            hidden: [],
            writable: [],
            projects: ["/srv/one", "/srv/two"],
            usesWorktrees: false
        )
        let words = sandbox.command(["/bin/true"], project: "/srv/one", directory: "/srv/one")
        #expect(words.joined(separator: " ").contains("--tmpfs /srv/two"))
    }

    @Test("The box is shown: in the host's status, in its audit, and with each chat")
    func shown() async throws {
        try await withShell(["--sandbox-network", "off"]) { host, user, _ in
            let told = try await user.spawn(["send", "--new", "--project", "garden", "true", "--json"]).json
            #expect(told.contains { $0["type"]?.string == "mode" && $0["text"]?.string == "sandboxed, no network" })
            let chats = try await user.spawn(["chats", "--json"]).json
            #expect(chats.first?["mode"]?.string == "sandboxed, no network", "\(chats)")
            let status = try await host.spawn(["host", "status"])
            #expect(status.out.contains("sandboxed, no network"), "\(status)")
            let json = try await host.spawn(["host", "status", "--json"])
            #expect(json.out.contains(#""sandbox":{"network":false}"#), "\(json)")
            let audit = try await host.spawn(["host", "audit"])
            #expect(audit.out.contains("agent in a box"), "\(audit)")
        }
    }

    @Test("An agent of the Agent Client Protocol runs in its box, with its own files where the owner names them")
    func protocolAgent() async throws {
        try await withProject { host, user in
            let own = host.directory + "/agent"
            try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: false)
            let agent = try FakeACPAgent.command(in: own, "modes").joined(separator: " ")
            let arguments = [
                "--project", host.directory + "/garden", "--acp", "--agent-command", agent, "--sandbox",
                "--sandbox-write", own,
            ]
            try await withRunningHost(host, arguments) { events in
                try await user.pair(try await events.payload.text)
                let first = try await user.spawn(["send", "--new", "shell ls -A ~ | tr -d \\\\n", "--json"]).json
                #expect(first.last?["answer"]?.string == "agentgarden", "\(first)")
                let chats = try await user.spawn(["chats", "--json"]).json
                #expect(chats.first?["mode"]?.string?.hasSuffix("(sandboxed)") == true, "\(chats)")
            }
        }
    }

    @Test("What makes no box is refused before the host begins")
    func refused() async throws {
        try await withProject { host, _ in
            let start = ["host", "--port", "0", "--json"]
            let agent = ["--agent-command", "/bin/sh"]
            for words in [["--sandbox"], agent + ["--sandbox-network", "off"], agent + ["--sandbox-write", "."]] {
                let refused = try await host.spawn(start + words)
                #expect(refused.status == 2, "\(words): \(refused)")
            }
            for project in [host.directory, "/"] {
                let home = try await host.spawn(start + agent + ["--sandbox", "--project", project])
                #expect(home.status != 0 && home.err.contains("has it in it"), "\(home)")
            }
            let gone = try await host.spawn(start + agent + ["--sandbox", "--sandbox-write", "none"])
            #expect(gone.status == 3 && gone.err.contains("there is no none"), "\(gone)")
        }
    }
}
