import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import PairingAgent

struct JarvisCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jarvis",
        abstract: "Check a Jarvis daemon, and request an approval.",
        discussion: """
            `pairtool approvals` lists and decides requests.

            Examples:
              pairtool jarvis health
              pairtool jarvis request "restart the build" --reason "it hangs"
            """,
        subcommands: [ApprovalHealthCommand.self, ApprovalRequestCommand.self]
    )
}

struct ApprovalHealthCommand: AsyncParsableCommand {
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

struct ApprovalRequestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "request",
        abstract: "Request an approval, to test who decides it.",
        discussion: """
            Examples:
              pairtool jarvis request "restart the build" --reason "it hangs"
              pairtool jarvis request deploy --reason test --detail room=kitchen
            """
    )

    @Argument(help: "The action to approve.")
    var action: String
    @Option(help: "The reason.")
    var reason: String
    @Option(help: "The requester. Default: this machine's name.")
    var by: String?
    @Option(help: "A detail, as KEY=VALUE (repeatable).", transform: Detail.init)
    var detail: [Detail] = []
    @OptionGroup var host: HostOptions
    @OptionGroup var place: ApprovalPlaceOption
    @OptionGroup var options: OutputOptions

    struct Detail: Sendable {
        var key: String
        var value: String

        init(_ text: String) throws {
            let parts = text.parts("=", maxSplits: 1, omittingEmpty: false)
            guard parts.count == 2, let key = parts.first, !key.isEmpty else {
                throw ValidationError("“\(TerminalText.line(text))” is not KEY=VALUE.")
            }
            (self.key, value) = (String(key), String(parts[1]))
        }
    }

    func validate() throws {
        if action.trimmingWhitespace().isEmpty { throw ValidationError("A request needs an action.") }
    }

    func run() async throws {
        try await host.selector.withJarvis(options.environment, configuration: place.configuration) { session in
            let receipt = try await session.client.request(
                JarvisApprovalRequest(
                    action: action,
                    reason: reason,
                    requestedBy: by ?? MachineName.current,
                    details: detail.isEmpty
                        ? nil : Dictionary(detail.map { ($0.key, $0.value) }, uniquingKeysWith: { $1 })
                )
            )
            let row = ApprovalReceiptRow(receipt, action: action, at: session.client.base)
            options.output.result(row, id: row.id.description) {
                TerminalText.line("Requested: \(action) (\(receipt.id), \(receipt.status), at \(row.daemon))")
            }
        }
    }
}

/// The daemon's answer to a request, in JSON.
private struct ApprovalReceiptRow: Encodable {
    var id: JarvisApprovalID
    var action: String
    var status: JarvisApprovalStatus
    /// The daemon's message; absent if its answer was lost and the result is known only from the request's state.
    var message: String?
    /// The base URL that it was read from.
    var daemon: String

    init(_ receipt: JarvisReceipt, action: String, at base: JarvisBase) {
        id = receipt.id
        self.action = action
        status = receipt.status
        message = receipt.message
        daemon = "\(base)"
    }
}
