import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import PairingAgent
import Terminal

struct JarvisCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jarvis",
        abstract: "Check a Jarvis daemon.",
        discussion: """
            `pairtool approvals` lists and decides requests.

            Examples:
              pairtool jarvis health
              pairtool jarvis health --via cloud
            """,
        subcommands: [JarvisHealthCommand.self]
    )
}

struct JarvisHealthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Show whether the daemon is healthy.",
        discussion: """
            Examples:
              pairtool jarvis health
              pairtool jarvis health --via cloud --json
            """
    )

    @OptionGroup var host: HostOptions
    @OptionGroup var place: ApprovalPlaceOption
    @OptionGroup var options: OutputOptions

    private struct Row: Encodable {
        var daemon: String
        var status: String
        var version: String?
        var timestamp: Date?
        /// Whether the second base URL was used.
        var usesFallback: Bool
    }

    func run() async throws {
        try await host.selector.withJarvis(options.environment, configuration: place.configuration) { session in
            let health = try await session.client.daemonHealth()
            let row = Row(
                daemon: "\(session.client.base)",
                status: health.status,
                version: health.version,
                timestamp: health.timestamp.flatMap(JarvisTimestamp.date),
                usesFallback: session.client.usesFallback
            )
            options.output.result(row, id: row.status) {
                TerminalText.line("Jarvis \(row.version ?? "of an unknown version") at \(row.daemon) is \(row.status).")
            }
            guard health.isHealthy else {
                throw options.output.ended(
                    by: AppError(.hostUnavailable, "host.not_well", "Jarvis at \(row.daemon) is \(row.status)")
                )
            }
        }
    }
}
