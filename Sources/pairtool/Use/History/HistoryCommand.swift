import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import History
import Identity
import LocalState
import PairingAgent
import Terminal

struct HistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Manage the projects, chats and messages kept on this machine.",
        discussion: """
            pairtool keeps what you list, read and send in one database that only you can read. You can search it, and \
            show it without the host. config.toml limits its age and size.

            Examples:
              pairtool history
              pairtool history backup ~/history.db
            """,
        subcommands: [Status.self, Prune.self, Clear.self, Backup.self],
        defaultSubcommand: Status.self
    )

    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Show what is kept.",
            discussion: """
                Examples:
                  pairtool history status
                  pairtool history status --json
                """
        )

        @OptionGroup var options: OutputOptions

        private struct Row: Encodable {
            var path: String
            var bytes: Int
            var hosts: Int
            var projects: Int
            var chats: Int
            /// Those of the chats that are kept here alone.
            var keptChats: Int
            var messages: Int
            var tools: Int
            var oldest: Date?
            var newest: Date?
            var keepSeconds: Double?
            var maxBytes: Int?
        }

        func run() async throws {
            let output = options.output
            try await output.withHistory { history in
                let limits = history.choices.history
                let status = try await history.store.status()
                let row = Row(
                    path: history.store.path,
                    bytes: status.size,
                    hosts: status.hosts,
                    projects: status.projects,
                    chats: status.chats,
                    keptChats: status.keptChats,
                    messages: status.messages,
                    tools: status.tools,
                    oldest: status.oldest,
                    newest: status.newest,
                    keepSeconds: limits?.age,
                    maxBytes: limits?.size
                )
                let now = output.context.now()
                output.result(row, id: history.store.path) {
                    let (oldest, newest) = (TimeText.ago(row.oldest, now: now), TimeText.ago(row.newest, now: now))
                    return output.fitted([
                        "file": row.path,
                        "size": Self.size(row.bytes),
                        "hosts": "\(row.hosts)",
                        "projects": "\(row.projects)",
                        "chats": "\(row.chats)" + (row.keptChats > 0 ? ", \(row.keptChats) only here" : ""),
                        "messages": "\(row.messages), oldest \(oldest), newest \(newest)",
                        "tools": "\(row.tools)",
                        "kept": Self.limits(limits),
                    ])
                }
            }
        }

        private static func limits(_ limits: HistoryLimits?) -> String {
            guard let limits else { return "nothing more until config.toml is fixed" }
            let age = limits.age.map { "for \(TimeText.span($0))" } ?? "without an age limit"
            return "\(age), at most \(size(limits.size))"
        }

        static func size(_ bytes: Int) -> String {
            switch bytes {
            case ..<10_000_000: "\(bytes / 1000) kB"
            case ..<1_000_000_000: "\(bytes / 1_000_000) MB"
            default: "\(bytes / 1_000_000_000).\(bytes / 100_000_000 % 10) GB"
            }
        }
    }

    struct Prune: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "prune",
            abstract: "Remove what exceeds the limits in config.toml; other commands do this automatically.",
            discussion: """
                Examples:
                  pairtool history prune
                  pairtool history prune --older-than 90d
                """
        )

        @Option(
            help: ArgumentHelp(
                "Remove messages older than this, such as 90d, regardless of config.toml.",
                valueName: "age"
            ),
            transform: { text in
                guard let age = TimeSpan(age: text) else {
                    throw ValidationError("Give an age such as 12h, 30d or 2w.")
                }
                return age
            }
        )
        var olderThan: TimeSpan?

        @OptionGroup var options: OutputOptions

        private struct Row: Encodable {
            var removed: Int
        }

        func run() async throws {
            let output = options.output
            let count = try await output.withHistory { history in
                // With a fault in config.toml only what is asked for here is removed.
                var limits = history.choices.history ?? HistoryLimits(size: .max)
                if let olderThan { limits.age = olderThan.seconds }
                return try await history.store.prune(limits, now: output.context.now())
            }
            output.result(Row(removed: count), id: nil) {
                count == 1 ? "Removed 1 message." : "Removed \(count) messages."
            }
        }
    }

    struct Clear: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "clear",
            abstract: "Remove the whole history, or that of one host.",
            discussion: """
                You are asked first, unless you add --yes. Nothing is removed from the hosts. Chats that exist only on \
                this machine, such as those that you continued with agents of a Lumi host, are kept unless you add \
                --kept-chats. A damaged history is replaced by an empty one; without --kept-chats, its file is \
                renamed, not removed.

                Examples:
                  pairtool history clear
                  pairtool history clear --host Studio
                  pairtool history clear --kept-chats --yes
                """
        )

        @Option(help: "Only this host, by name or id prefix.", completion: .custom { _, _, _ in Completions.hosts() })
        var host: String?

        @Flag(help: "Also remove chats that exist only here.")
        var keptChats = false

        @OptionGroup var confirmation: ConfirmationOptions

        @OptionGroup var options: OutputOptions

        private struct Row: Encodable {
            var host: String?
            var cleared = true
            /// Chats that are only here, and have stayed.
            var keptChats: Int
        }

        func run() async throws {
            let output = options.output
            let cleared: HistoryHost?
            let stayed: Int
            do {
                (cleared, stayed) = try await clear(output)
            } catch let error as HistoryError where error.code == .damaged && host == nil {
                try await confirm("the damaged history", on: output)
                let path = HistoryStore.path(state: output.context.paths.state)
                if keptChats {
                    try HistoryStore.removeFiles(path)
                } else {
                    let moved = try HistoryStore.moveFilesAway(path)
                    let files = ["", "-wal", "-shm"].map { "'\(moved)\($0)'" }.joined(separator: " ")
                    output.say("The damaged history is now \(moved). If you do not need it: rm -f \(files)")
                }
                (cleared, stayed) = try await clear(output, isConfirmed: true)
            }
            let name = cleared.map { TerminalText.line($0.name) }
            output.result(Row(host: cleared?.id, keptChats: stayed), id: cleared?.id) {
                guard stayed == 0 else {
                    let chats = stayed == 1 ? "1 chat that is only here has" : "\(stayed) chats that are only here have"
                    return "The history\(name.map { " of \($0)" } ?? "") is cleared; \(chats) been kept."
                }
                return name.map { "The history of \($0) is empty." } ?? "The history is empty."
            }
            if stayed > 0 {
                let scope = cleared.map { " --host \($0.id.shortID)" } ?? ""
                output.say("To remove them too: pairtool history clear\(scope) --kept-chats")
            }
        }

        /// Asks whether to remove something, before anything is removed.
        private func confirm(_ what: String, on output: Output) async throws {
            let kept = keptChats ? ", with the chats that are only here" : ""
            let question = "Remove \(what) on this machine\(kept)?"
            try await confirmation.confirm(question, code: "history.unconfirmed", output: output)
        }

        /// - Returns: The host that `--host` names, and how many chats that are only here have stayed.
        private func clear(_ output: Output, isConfirmed: Bool = false) async throws -> (HistoryHost?, Int) {
            try await output.environment().withHistoryStore { store in
                guard let host else {
                    if !isConfirmed { try await confirm("the history of all hosts", on: output) }
                    let stayed = try await store.clear(
                        hostIDs: try await store.hosts().map(\.id),
                        keptChats: keptChats
                    )
                    return (nil, stayed)
                }
                let found = try await store.host(host)
                try await confirm("the history of \(TerminalText.line(found.name))", on: output)
                return (found, try await store.clear(hostIDs: [found.id], keptChats: keptChats))
            }
        }
    }

    struct Backup: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "backup",
            abstract: "Copy the history to a file (SQLite, mode 0600), even while other commands write.",
            discussion: """
                Never replaces a file. To use the copy, put it in the place that `pairtool history status` shows.

                Examples:
                  pairtool history backup ~/history.db
                  pairtool history backup /media/usb/history.db
                """
        )

        @Argument(help: "The new file.", completion: .file())
        var file: String

        @OptionGroup var options: OutputOptions

        private struct Row: Encodable {
            var file: String
            var bytes: Int?
        }

        func run() async throws {
            let output = options.output
            // Chats that are only here are kept although the history is off.
            try await output.environment().withHistoryStore { try await $0.backUp(to: file) }
            output.result(Row(file: file, bytes: FileStatus(file)?.size), id: file) {
                "Copied the history to \(TerminalText.line(file))."
            }
        }
    }
}
