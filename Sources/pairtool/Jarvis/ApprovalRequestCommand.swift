import ArgumentParser
import CompanionClient
import CompanionWire

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
        try await host.withJarvis(options, via: place.via) { session in
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
            session.output.result(row, id: row.id.description) {
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
