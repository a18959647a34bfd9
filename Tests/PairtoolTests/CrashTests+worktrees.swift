import CompanionClient
import CompanionWire
import FoundationEssentials
import Testing

@testable import pairtool

extension CrashTests {
    /// When the host is killed, seen from a run of git: git then ends at once, has ended, or goes on while the next host
    /// starts.
    enum GitMoment: String, CaseIterable, Sendable { case before, after, during }

    /// A third of the runs of git, another one each time: over the runs of the tests, each is hit at each moment.
    private static func someRuns() -> StrideThrough<Int> { stride(from: Int.random(in: 1...3), through: 99, by: 3) }

    /// A stand-in for git that kills the host at the run whose number is in the file `armed`, and then, or before, is git.
    private static func git(_ directory: String) -> String {
        """
        #!/bin/sh
        armed='\(directory)/armed'
        if [ -f "$armed" ]; then
            printf x >>'\(directory)/count'
            number=$(cat "$armed")
            if [ "$(wc -c <'\(directory)/count')" -ge "$number" ]; then
                rm "$armed"
                case $(cat '\(directory)/moment') in
                before) kill -9 $PPID; exit 1 ;;
                after) /usr/bin/git "$@"; kill -9 $PPID; exit 1 ;;
                during) kill -9 $PPID; until [ -f "\(directory)/goes-on-$number" ]; do sleep 0.01; done ;;
                esac
            fi
        fi
        exec /usr/bin/git "$@"
        """
    }

    private func withWorktreeHost<R: Sendable>(
        _ host: Sandbox,
        _ body: @escaping @Sendable (HostEvents) async throws -> R
    ) async throws -> R {
        try await PairtoolTests.withDoomedHost(
            host,
            ["--project", host.directory + "/garden", "--worktree", "--agent-command", "sh"],
            environment: ["PATH": host.directory + "/bin:/usr/bin:/bin", "TMPDIR": host.directory + "/tmp"]
        ) { events, _ in
            _ = try await events.ports
            return try await body(events)
        }
    }

    /// A repository in the garden, the stand-in for git, and a paired user.
    private func prepare(_ host: Sandbox, _ user: Sandbox) async throws {
        try FileManager.default.createDirectory(atPath: host.directory + "/bin", withIntermediateDirectories: true)
        _ = try host.file("bin/git", Array(Self.git(host.directory).utf8))
        let made = try await host.shell(
            """
            mkdir tmp; chmod 755 bin/git; cd garden; git init -q -b main .; git add .
            git -c user.name=Ada -c user.email=ada@example.org commit -qm one
            """
        )
        #expect(made.status == 0, "\(made)")
        let paired = try await withWorktreeHost(host) { events in try await pair(user, events) }
        #expect(paired.status == 0, "\(paired)")
    }

    private func arm(_ host: Sandbox, _ number: Int, _ moment: GitMoment) async throws {
        let armed = try await host.shell("rm -f count; echo \(moment.rawValue) >moment; echo \(number) >armed")
        #expect(armed.status == 0, "\(armed)")
    }

    /// - Returns: Whether the host got to the end of what it did.
    private func disarm(_ host: Sandbox) async throws -> Bool {
        // One that is killed at the last run of git may have ended before.
        try await host.shell("rm armed").status == 0
    }

    /// The temporary directories of what git is shown, a name a line.
    private func views(_ host: Sandbox) async throws -> String {
        try await host.shell("ls tmp | grep '^pairtool-git-'").out
    }

    /// Sends a prompt, and waits for its answer or for the end of the host.
    private func ask(_ user: Sandbox, _ events: HostEvents) async throws {
        try await withClient(user, events) { client in
            let project = try #require(try await client.projects().first)
            let chat = try await client.createChat(projectID: project.id, title: "c").id
            let request = ContinueChatRequest(prompt: "true", projectPath: nil, model: nil, allowedTools: nil)
            do {
                let turn = try await client.startTurn(chatID: chat, request: request)
                for try await output in try FollowedTurn(client: client, chatID: chat, turnID: turn) {
                    if case .recovering = output { break }
                }
            } catch is CompanionClientError {}
        }
    }

    /// The sessions that the owner sees are what is on the disk, and what git has.
    ///
    /// - Returns: The chats of the sessions.
    @discardableResult
    private func expectAllKnown(_ host: Sandbox, _ when: String) async throws -> [String] {
        let listed = try await host.spawn(["host", "worktrees", "--json"]).json
        let directories = listed.compactMap { $0["directory"]?.string }
        let disk = try await host.shell("cd garden-worktrees 2>/dev/null && ls -d \"$PWD\"/*")
        #expect(disk.out.split(separator: "\n").map(String.init) == directories.sorted(), "\(when)")
        let git = try await host.shell(
            """
            cd garden; git worktree list --porcelain | sed -n '1!s/^worktree //p' | sort
            git branch --list 'pairtool/*' --format '%(refname:short)' | sort; ls .git/worktrees 2>/dev/null | wc -l
            """
        )
        let branches = listed.compactMap { $0["branch"]?.string }
        let expected = directories.sorted() + branches.sorted() + ["\(directories.count)"]
        #expect(git.out.split(separator: "\n").map(String.init) == expected, "\(when)")
        return listed.compactMap { $0["chatId"]?.string }
    }

    @Test(
        "Killed at any run of git while it makes a worktree, the host leaves none that nobody knows",
        .timeLimit(.minutes(15)),
        arguments: GitMoment.allCases
    )
    func worktreeMade(moment: GitMoment) async throws {
        try await withProject { host, user in
            try await prepare(host, user)
            var kept: String?
            var hasLeftViews = false
            for number in Self.someRuns() {
                let isDone = try await withWorktreeHost(host) { events in
                    try await expectAllKnown(host, "killed \(moment) a run before \(number)")
                    try await arm(host, number, moment)
                    try await ask(user, events)
                    return try await disarm(host)
                }
                if isDone { break }
                #expect(number < 97)
                if try await views(host) != "" { hasLeftViews = true }
                // Once, somebody works in what is left, as soon as it is whole.
                if kept == nil {
                    let entry = try await host.shell("cd garden/.git/worktrees && ls -d */index | tail -n 1")
                    let name = entry.out.split(separator: "/").first.map(String.init)
                    let known = try await host.shell("echo mine >garden-worktrees/\(name ?? "none")/mine")
                    if known.status == 0 { kept = name }
                }
                _ = try host.file("goes-on-\(number)", [])
            }
            let chats = try await withWorktreeHost(host) { _ in
                #expect(try await views(host) == "", "what hosts that were killed have left is removed")
                return try await expectAllKnown(host, "at the end")
            }
            #expect(chats.contains { $0.hasPrefix(kept ?? "-") } && chats.count >= 2, "\(chats)")
            #expect(hasLeftViews, "hosts that were killed left what git was shown")
            let mine = try await host.shell("cat garden-worktrees/*/mine")
            #expect(mine.out == "mine\n")
        }
    }

    @Test(
        "Killed at any run of git while it removes a worktree, the host has removed it or does so when asked again",
        .timeLimit(.minutes(15)),
        arguments: GitMoment.allCases
    )
    func worktreeRemoved(moment: GitMoment) async throws {
        try await withProject { host, user in
            try await prepare(host, user)
            for number in Self.someRuns() {
                let (chat, isDone) = try await withWorktreeHost(host) { events in
                    try await ask(user, events)
                    let chat = try #require(try await expectAllKnown(host, "before run \(number)").first)
                    try await arm(host, number, moment)
                    _ = try await host.spawn(["host", "worktrees", "remove", chat])
                    return (chat, try await disarm(host))
                }
                _ = try host.file("goes-on-\(number)", [])
                try await withWorktreeHost(host) { _ in
                    let again = try await host.spawn(["host", "worktrees", "remove", chat, "--json"])
                    #expect(again.status == 0 || again.failed(with: "session.unknown"), "\(again)")
                    #expect(try await expectAllKnown(host, "killed \(moment) run \(number)").isEmpty)
                }
                if isDone { break }
                #expect(number < 97)
            }
        }
    }
}
