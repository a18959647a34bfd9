import CompanionClient
import CompanionWire
import NIOConcurrencyHelpers
import PairingAgent

/// Waits until the user of a Lumi host accepts the connection: shows a countdown and asks for the six digits.
struct LumiConnectionApproval: Sendable {
    let hostName: String
    let deviceName: String
    /// The six digits from the command line; tried once.
    var code: String?
    let interaction: any Interaction

    /// - Throws: ``AppError``.
    func accept(_ client: LumiClient) async throws -> LumiGeneration {
        let given = NIOLockedValueBox(code)
        let delegate = LumiApprovalDelegate(
            waiting: { say(secondsLeft: $0) },
            code: { isRepeated in
                let first = given.withLockedValue { given in
                    defer { given = nil }
                    return given
                }
                if let first { return first }
                return try await ask(isRepeated: isRepeated)
            }
        )
        do {
            defer { interaction.showProgress(nil) }
            return try await client.requestApproval(deviceName: deviceName, delegate: delegate)
        } catch let error as CompanionClientError {
            throw describe(error)
        }
    }

    /// Counts down on a terminal. Otherwise prints the message once.
    private func say(secondsLeft: Int) {
        let what = "Waiting for “\(TerminalText.line(deviceName))” to be accepted on \(TerminalText.line(hostName))"
        if !interaction.showProgress("\(what)… \(secondsLeft) s"), secondsLeft == LumiApproval.mostAsks - 1 {
            interaction.say("\(what), for at most \(LumiApproval.mostAsks) seconds.")
        }
    }

    private func ask(isRepeated: Bool) async throws -> String? {
        guard interaction.canAsk else {
            throw AppError(
                isRepeated || code != nil ? .wrongCode : .usage,
                isRepeated || code != nil ? "pairing.wrong_code" : "pairing.no_code",
                isRepeated || code != nil
                    ? "wrong code"
                    : "\(hostName) shows six digits, and there is no terminal to ask for them",
                next: "run the command at a terminal, or pair with --code-stdin"
            )
        }
        if isRepeated { interaction.say("\(TerminalText.line(hostName)): wrong code. Try again.") }
        return try await interaction.pairingCode(of: hostName)
    }

    private func describe(_ error: CompanionClientError) -> AppError {
        switch error.code {
        case .forbidden:
            AppError(
                .permissionDenied,
                "host.rejected",
                "the connection was refused on \(hostName)",
                next: "run the command again, and accept it there"
            )
        case .timedOut where error.delivery == .answered:
            AppError(
                .timedOut,
                "host.not_accepted",
                "nobody accepted the connection on \(hostName) within \(LumiApproval.mostAsks) seconds",
                next: "run the command again when someone is at the Mac"
            )
        case .badRequest:
            AppError(
                .wrongCode,
                "pairing.wrong_code",
                "\(hostName) accepted none of the codes",
                next: "compare the digits, then run the command again"
            )
        default:
            AppError(describing: error)
        }
    }
}
