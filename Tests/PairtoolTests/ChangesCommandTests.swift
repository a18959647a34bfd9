import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import NIOConcurrencyHelpers
import Terminal
import Testing

@testable import pairtool

/// `pairtool changes` and `pairtool worktrees` with the built host. The agent runs its prompts as shell scripts.
@Suite(.serialized, .timeLimit(.minutes(15))) struct ChangesCommandTests {
    private static let git = "git -c user.name=Ada -c user.email=ada@example.org"

    private func withGarden<R: Sendable>(
        _ arguments: [String] = [],
        _ body: @escaping @Sendable (_ host: Sandbox, _ user: Sandbox) async throws -> R
    ) async throws -> R {
        try await withVerifiedHost(["--agent-command", "sh"] + arguments) { _, host, user in
            let made = try await host.shell(
                "cd garden && git init -q -b main . && git add . && \(Self.git) commit -qm one"
            )
            #expect(made.status == 0, "\(made)")
            return try await body(host, user)
        }
    }

    /// Begins a chat with a prompt.
    private func begin(_ user: Sandbox, _ prompt: String) async throws -> String {
        let sent = await user.run("send", "--new", prompt, "--json")
        #expect(sent.status == 0, "\(sent)")
        return try #require(try sent.json.last?["chatId"]?.string)
    }

    @Test("The summary of an answer counts the changed files, and `changes` shows them")
    func changes() async throws {
        try await withGarden { host, user in
            let sent = await user.run("send", "--new", "echo Peas. >>README.md; echo 1 >'new\u{1B}[31m file'")
            #expect(sent.status == 0 && sent.err.contains("2 files changed\n"), "\(sent)")
            let chat = try #require(await user.run("chats", "-q").out.split(separator: "\n").first.map(String.init))
            let sentAgain = await user.run("send", chat, "echo More. >>README.md", "--json")
            #expect(try sentAgain.json.contains { $0["type"]?.string == "changed" && $0["files"] == .number(1) })

            let shown = await user.run("changes", chat, "--no-pager")
            #expect(shown.status == 0 && shown.err.isEmpty, "\(shown)")
            #expect(shown.out.contains("2 files changed, +3 −0\n") && shown.out.contains("\n+Peas.\n+More.\n"))
            #expect(shown.out.contains("untracked") && !shown.out.contains("\u{1B}"), "\(shown.out)")
            #expect(await user.run("changes", chat, "--stat").out.contains("+Peas") == false)
            let one = try await #require(user.run("changes", chat, "README.md", "--json").json.first)
            guard case .list(let files)? = one["files"] else { throw CancellationError() }
            #expect(files.count == 1 && one["branch"]?.string == "main")
            #expect(one["diff"]?.string?.hasPrefix("diff --git a/README.md b/README.md\n") == true)
            #expect(await user.run("changes", chat, "-q").out == "README.md\n\"new\\033[31m file\"\n")
            let none = await user.run("changes", chat, "beds.md", "--json")
            #expect(none.status == 3 && none.failed(with: "changes.none"))
            let owner = try await host.spawn(["host", "changes", chat, "--stat"])
            #expect(owner.status == 0 && owner.out.contains("2 files changed, +3 −0\n"), "\(owner)")
        }
    }

    @Test("What cannot be said is an error with its reason")
    func unavailable() async throws {
        try await withVerifiedHost(["--agent-command", "sh"]) { _, _, user in
            let chat = try await begin(user, "echo 1 >new")
            let result = await user.run("changes", chat, "--json")
            #expect(result.status == 1 && result.failed(with: "changes.unavailable"), "\(result)")
            #expect(result.err.contains("The project is not a git repository"))
            let none = await user.run("worktrees", "--json")
            #expect(none.status == 0 && none.out.isEmpty && none.err.contains("No agent works"), "\(none)")
        }
    }

    @Test("Sessions with worktrees are listed, shown and removed, and unsaved work is not lost by accident")
    func worktrees() async throws {
        try await withGarden(["--worktree"]) { host, user in
            let chat = try await begin(user, "echo 1 >new; pwd")
            let short = String(chat.prefix(8))
            let row = try await #require(user.run("worktrees", "--json").json.first)
            #expect(row["chatId"]?.string == chat && row["branch"]?.string == "pairtool/\(short)")
            #expect(row["directory"]?.string?.hasSuffix("/garden-worktrees/\(short)") == true)
            #expect(await user.run("worktrees").out.contains("pairtool/\(short)"))
            let shown = await user.run("worktrees", "show", "pairtool/\(short)")
            #expect(shown.status == 0 && shown.out.contains("unsaved   1 file\n"), "\(shown)")
            let refused = await user.run("worktrees", "remove", chat, "--json")
            #expect(refused.status == 1 && refused.failed(with: "session.unsaved"), "\(refused)")
            #expect(refused.err.contains("discard it with --force"))
            let removed = await user.run("worktrees", "remove", chat, "--force")
            #expect(removed.status == 0 && removed.out.contains("Lost: 1 file."), "\(removed)")
            let left = try await host.shell("ls garden-worktrees garden").out
            #expect(left == "garden:\nREADME.md\n\ngarden-worktrees:\n")

            let next = try await begin(user, "true")
            let owner = try await host.spawn(["host", "worktrees", "-q"])
            #expect(owner.out == "\(next)\n")
            let gone = try await host.spawn(["host", "worktrees", "remove", next, "--json"])
            #expect(gone.status == 0 && gone.out.contains(#""isWorktree":true"#), "\(gone)")
            let unknown = try await host.spawn(["host", "worktrees", "show", next, "--json"])
            #expect(unknown.status == 3 && unknown.failed(with: "session.unknown"), "\(unknown)")
        }
    }

    @Test("Hosts of protocol 1 and of other families say that they cannot")
    func others() async throws {
        try await Sandbox.with { user in
            try await withFakeMac { mac in
                await user.pair(mac)
                let result = await user.run("worktrees", "--json")
                #expect(result.status == 12 && result.failed(with: "host.legacy"), "\(result)")
            }
        }
    }

    private final class Written: TextSink {
        private let bytes = NIOLockedValueBox<[UInt8]>([])
        var text: String { String(decoding: bytes.withLockedValue(\.self), as: UTF8.self) }

        func write(_ buffer: UnsafeRawBufferPointer) {
            bytes.withLockedValue { $0 += buffer }
        }
    }

    @Test("At a terminal of 40 columns nothing is wider, and the difference has colours", arguments: [40, 80])
    func narrow(columns: Int) async throws {
        let long = String(repeating: "beds/", count: 12) + "water.py"
        var changes = ChatChangesResponse(
            chatId: "c",
            startedAt: Date(timeIntervalSince1970: 0),
            baseCommit: "0123456789abcdef",
            commit: nil,
            branch: "a-branch-with-quite-a-long-name",
            directory: "/garden",
            files: [
                ChangedFile(path: long, status: .modified, added: 1, removed: 1),
                ChangedFile(path: "b", oldPath: long, status: .renamed, added: 0, removed: 0),
                ChangedFile(path: "large\u{1B}]0;x\u{7}", status: .added, isUntracked: true, leftOut: 12_345_678),
                ChangedFile(path: "photo.png", status: .added, isBinary: true),
                ChangedFile(path: "lib", status: .modified, isSubmodule: true),
            ],
            diff: """
                diff --git a/\(long) b/\(long)
                --- a/\(long)
                +++ b/\(long)
                @@ -1 +1 @@
                -\(String(repeating: "old ", count: 30))
                +new \u{1B}[2J\u{2028}diff --git \u{202E}x

                """,
            truncated: true
        )
        changes.firstTriedAt = Date(timeIntervalSince1970: -60)
        (changes.hidden, changes.hiddenFiles) = (3, ["dist/x", "b\u{1B}[2J"])
        changes.notCheckedOut = 3
        let sink = Written()
        var context = TerminalContext.process
        context.stdout = sink
        (context.stdoutIsTerminal, context.stderrIsTerminal) = (true, true)
        context.environment = ["TERM": "xterm", "PAGER": ""]
        context.windowSize = { .init(columns: columns, rows: 24) }
        context.now = { Date(timeIntervalSince1970: 600) }
        try await ChangesView(output: Output(context: context, format: .text), changes: changes)
            .show(file: nil, avoidsPager: true)
        #expect(sink.text.contains("\u{1B}[32m"), "what was added is green")
        let plain = sink.text.replacing(/\u{1B}\[[0-9;]*m/, with: "")
        for line in plain.split(separator: "\n", omittingEmptySubsequences: false) {
            #expect(DisplayWidth.of(String(line)) <= columns, "\(line)")
        }
        #expect(!plain.unicodeScalars.contains { $0 != "\n" && TerminalText.isUnsafe($0) }, "\(plain)")
        #expect(!plain.contains("\ndiff --git x"))
        let words = plain.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let since = "Since 10 min ago, when the files could first be read (the session began 11 min ago), at commit"
        #expect(words.hasPrefix(since), "\(words)")
        let hidden =
            "3 new or changed files are hidden by ignore files (.gitignore) that differ from the session's first "
        #expect(words.contains(hidden + "commit: dist/x, b"), "\(words)")
        #expect(words.contains("and 1 more."), "\(words)")
        #expect(words.contains("3 files are gone and not listed as deleted: git is told to skip them"), "\(words)")
        for text in ["too large: 12", "binary", "repository", "5 files changed, +1 −1", "too long"] {
            #expect(plain.contains(text), "\(text)")
        }
    }
}
