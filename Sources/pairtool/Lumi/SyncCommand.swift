import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import History
import Identity
import LocalState
import PairingAgent
import Terminal

struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Pull agents, conversations and automations from a Lumi host.",
        discussion: """
            Sends nothing to the Mac. Each file replaces the previous one as soon as it is complete. If it fails, the \
            previous one is kept. Only you can read the files.

            Examples:
              pairtool lumi sync
              pairtool lumi sync --with-keys
            """
    )

    @Flag(help: "Also pull API keys and settings. They travel without encryption.")
    var withKeys = false

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    /// The result for a file, in JSON.
    struct Row: Encodable {
        var file: String
        /// `stored`, `unchanged`, `missing`, `left_out`, `failed` or `not_reached`.
        var state: String
        var bytes: Int?
        var reason: String?

        init(_ item: LumiSync.Item) {
            file = item.file.name
            switch item.outcome {
            case .stored(let count): (state, bytes) = ("stored", count)
            case .unchanged(let count): (state, bytes) = ("unchanged", count)
            case .missing: state = "missing"
            case .leftOut: state = "left_out"
            case .failed(let text): (state, reason) = ("failed", text)
            case .notReached: state = "not_reached"
            }
        }

        var text: String {
            switch state {
            case "stored": "stored, \(bytes ?? 0) bytes"
            case "unchanged": "unchanged, \(bytes ?? 0) bytes"
            case "missing": "not on the Mac"
            case "left_out": "skipped: it may contain keys (use --with-keys)"
            case "failed": "failed: \(reason ?? ""); the last one was kept"
            default: "not pulled; the last one was kept"
            }
        }
    }

    func run() async throws {
        let output = options.output
        let (items, failure) = try await host.selector.withMac(options.environment, for: "agents") { _ in
            guard withKeys else { return }
            output.say("Keys and settings travel without encryption. Anyone on this network can read them.")
        } _: { mac -> ([LumiSync.Item], (any Error)?) in
            let store = LumiStore(data: output.context.paths.data, hostID: mac.host.id)
            // Whatever is wrong with the history: everything can be pulled without it.
            let mark = try? await moveConversations(store, of: mac.host, on: output)
            let items = try await LumiSync(store: store, withKeys: withKeys, pulledMark: mark).run(mac.client)
            do {
                _ = try await moveConversations(store, of: mac.host, on: output)
                await list(store, of: mac.host, on: output)
                return (items, nil)
            } catch {
                return (items, error)
            }
        }
        output.list(
            items.map(Row.init),
            columns: [TableColumn("FILE") { $0.file }, TableColumn("STATE") { $0.text }],
            id: \.file
        )
        if let failure { throw failure }
        try finish(items, output: output)
    }

    /// Moves pulled conversations to the history.
    ///
    /// - Returns: The mark of the last pull, as ``LumiConversations/pulledMark()`` returns it.
    private func moveConversations(
        _ store: LumiStore,
        of host: PairedHost,
        on output: Output
    ) async throws -> Int64? {
        try await output.environment().withHistoryStore { history in
            let conversations = LumiConversations(store, in: history, of: HistoryHost(host), now: output.context.now)
            try await conversations.move()
            return try await conversations.pulledMark()
        }
    }

    /// Lists agents and conversations in the history, if the user wants one, so that they are found there by name.
    private func list(_ store: LumiStore, of host: PairedHost, on output: Output) async {
        guard let history = LocalHistory.ofUser(output.environment()) else { return }
        let recorder = HistoryRecorder(history, host: HistoryHost(host), now: output.context.now)
        // What cannot be listed is listed by the next command that reads it.
        if let conversations = await LumiConversations(store, recorder: recorder) {
            try? await recorder.list(conversations)
        }
        await history.finish(at: output.context.now())
    }

    private func finish(_ items: [LumiSync.Item], output: Output) throws {
        let failures = items.filter {
            switch $0.outcome {
            case .failed, .notReached: true
            default: false
            }
        }
        guard failures.isEmpty else {
            throw AppError(
                .failed,
                "sync.incomplete",
                "\(failures.count) of \(items.count) files could not be pulled: "
                    + failures.map(\.file.name).joined(separator: ", "),
                next: "pairtool lumi sync"
            )
        }
        output.say("Next: pairtool lumi agents")
    }
}
