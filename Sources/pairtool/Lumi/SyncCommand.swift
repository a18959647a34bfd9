import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
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
        } _: { mac in
            try await LumiPull(host: mac.host, environment: options.environment).run(mac.client, withKeys: withKeys)
        }
        output.list(
            items.map(Row.init),
            columns: [TableColumn("FILE") { $0.file }, TableColumn("STATE") { $0.text }],
            id: \.file
        )
        if let failure { throw failure }
        try finish(items, output: output)
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
