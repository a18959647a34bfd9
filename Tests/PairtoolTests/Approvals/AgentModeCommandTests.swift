import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import NIOConcurrencyHelpers
import Terminal
import Testing

@testable import pairtool

/// How freely an agent works, on every screen that shows its chat.
@Suite(.serialized, .timeLimit(.minutes(15))) struct AgentModeCommandTests {
    /// Runs a host with an agent that names its mode, and a user who has paired with it. The project is under git.
    private func withAgent(
        _ options: String = " modes",
        _ body: @escaping @Sendable (_ host: Sandbox, _ user: Sandbox, HostEvents) async throws -> Void
    ) async throws {
        try await withProject { owner, user in
            let made = try await owner.shell(
                "cd garden && git init -q . && git add . && git -c user.name=A -c user.email=a commit -qm one"
            )
            #expect(made.status == 0, "\(made)")
            let agent = try FakeACPAgent.command(in: owner.directory).joined(separator: " ") + options
            let arguments = [
                "--name", "Shed", "--project", owner.directory + "/garden", "--agent-command", agent, "--acp",
            ]
            try await withRunningHost(owner, arguments) { events in
                try await user.pair(try await events.payload.text)
                try await body(owner, user, events)
            }
        }
    }

    private static let mode = ShownJSON.text("Ask first")

    @Test("Lists, messages, changes, sessions and the host's own screens show it, in JSON too")
    func screens() async throws {
        try await withAgent { host, user, events in
            let sent = try await user.spawn(["send", "--new", "say hi", "--json"])
            let chat = try #require(try sent.json.last?["chatId"]?.string, "\(sent)")
            let changed = try await events.first("mode_changed")
            #expect(changed["mode"] == Self.mode && changed["chatId"] == .text(chat))

            let chats = try await user.spawn(["chats"])
            #expect(chats.out.contains("MODE") && chats.out.contains("Ask first"), "\(chats)")
            let listed = try await user.spawn(["chats", "--json"]).json
            #expect(listed.map { $0["mode"] } == [Self.mode])
            let messages = try await user.spawn(["messages", chat])
            #expect(messages.out.hasPrefix("mode: Ask first\n"), "\(messages)")
            let rows = try await user.spawn(["messages", chat, "--json"]).json
            #expect(rows.count == 2 && rows.allSatisfy { $0["chatMode"] == Self.mode }, "\(rows)")
            for command in [["worktrees"], ["worktrees", "show", chat]] {
                let shown = try await user.spawn(command)
                #expect(shown.out.contains("Ask first"), "\(shown)")
                let row = try await user.spawn(command + ["--json"]).json.first
                #expect(row?["mode"] == Self.mode)
                let own = try await host.spawn(["host"] + command)
                #expect(own.out.contains("Ask first"), "\(own)")
            }
            let edited = try await host.shell("echo Peas. >>garden/README.md")
            #expect(edited.status == 0)
            let changes = try await user.spawn(["changes", chat, "--no-pager"])
            #expect(changes.out.contains("\nmode: Ask first\n"), "\(changes)")
            let difference = try await user.spawn(["changes", chat, "--json"]).json.first
            #expect(difference?["mode"] == Self.mode)
        }
    }

    @Test("A question, the inbox, the owner's list and the live feed show it")
    func questions() async throws {
        try await withAgent { host, user, events in
            _ = try await user.spawn(["send", "--new", "say hi"])
            let listed = try await user.spawn(["chats", "--json"]).json
            let chat = try #require(listed.first?["id"]?.string)
            let (_, watched) = try await user.follow(["watch", "--json"]) { watch in
                _ = try await watch.events.first("hello")
                let (_, result) = try await user.follow(["send", chat, "ask", "--json"]) { run in
                    let asked = try await run.events.first("approval_asked")
                    #expect(asked["mode"] == Self.mode)
                    let id = try #require(asked["approvalId"]?.string)
                    try await run.messages.has("(mode: Ask first)")
                    let started = try await watch.events.first("turn.started")
                    #expect(started["mode"] == Self.mode)
                    let told = try await watch.events.first("approval.asked")
                    #expect(told["mode"] == Self.mode)
                    for command in [["approvals"], ["approvals", "show", id]] {
                        let shown = try await user.spawn(command)
                        #expect(shown.out.contains("Ask first"), "\(shown)")
                        let row = try await user.spawn(command + ["--json"]).json.first
                        #expect(row?["mode"] == Self.mode)
                        let own = try await host.spawn(["host"] + command)
                        #expect(own.out.contains("Ask first"), "\(own)")
                        let ownRow = try await host.spawn(["host"] + command + ["--json"]).json.first
                        #expect(ownRow?["mode"] == Self.mode)
                    }
                    let approved = try await user.spawn(["approvals", "approve", id])
                    #expect(approved.status == 0, "\(approved)")
                    _ = try await run.events.first("finished")
                }
                #expect(result.status == 0, "\(result)")
                try watch.interrupt()
            }
            #expect(watched.status == 130)
            let asked = try await events.first("question_asked")
            #expect(asked["mode"] == Self.mode)
        }
    }

    @Test("At a terminal, a question says it above what the agent wants to do")
    func prompt() async throws {
        try await withAgent { _, user, _ in
            try await user.atTerminal(["send", "--new", "ask"]) { terminal in
                try await terminal.shows("The agent asks: Run it (execute)")
                try await terminal.shows("mode: Ask first")
                try await terminal.shows("[y] Yes (allow once)  [n] No (reject once)  [v] show again: ")
                try await terminal.type("y")
                try await terminal.shows("chosen: y")
                #expect(try await terminal.status == 0)
            }
        }
    }

    @Test("Of an agent that names no mode, nothing is shown")
    func unknown() async throws {
        try await withAgent("") { _, user, _ in
            let sent = try await user.spawn(["send", "--new", "say hi"])
            #expect(sent.status == 0, "\(sent)")
            let chats = try await user.spawn(["chats"])
            #expect(chats.status == 0 && !chats.out.contains("MODE"), "\(chats)")
            let listed = try await user.spawn(["chats", "--json"]).json
            #expect(listed.count == 1 && listed.allSatisfy { $0["mode"] == nil })
        }
    }

    private final class Written: TextSink {
        private let bytes = NIOLockedValueBox<[UInt8]>([])
        var text: String { String(decoding: bytes.withLockedValue(\.self), as: UTF8.self) }

        func write(_ buffer: UnsafeRawBufferPointer) {
            bytes.withLockedValue { $0 += buffer }
        }
    }

    @Test("A table of 40 columns leaves it out, one of 80 shows it without what a terminal would obey")
    func narrow() throws {
        var place = Worktree(
            id: "0123456789",
            title: "Water the long beds of the garden",
            projectId: "p",
            directory: "/garden",
            isWorktree: true,
            branch: "pairtool/01234567",
            startedAt: Date(timeIntervalSince1970: 0),
            baseCommit: nil
        )
        place.mode = AgentMode("by\u{1B}[31mpass\u{202E}")
        for columns in [40, 80] {
            let sink = Written()
            var context = TerminalContext.process
            context.stdout = sink
            (context.stdoutIsTerminal, context.stderrIsTerminal) = (true, true)
            context.environment = ["TERM": "xterm", "NO_COLOR": "1"]
            context.windowSize = { .init(columns: columns, rows: 24) }
            context.now = { Date(timeIntervalSince1970: 600) }
            try Output(context: context, format: .text).list([place], place: "here")
            #expect(sink.text.contains("MODE") == (columns == 80), "\(sink.text)")
            #expect(!sink.text.unicodeScalars.contains { $0 != "\n" && TerminalText.isUnsafe($0) }, "\(sink.text)")
            for line in sink.text.split(separator: "\n") { #expect(DisplayWidth.of(String(line)) <= columns) }
        }
    }
}
