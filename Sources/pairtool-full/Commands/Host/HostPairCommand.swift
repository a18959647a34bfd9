import ArgumentParser
import CommandCore
import CompanionHost
import CompanionWire
import FoundationEssentials

struct HostPairCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair",
        abstract: "Let the running host take one more device: a new code, in place of the one it shows."
    )

    @Option(help: "Seconds that the code is valid, 60 to 900.")
    var ttl = 300

    @OptionGroup var grant: GrantOptions

    @Option(help: "How long the device may stay, for guests: 90s, 30m, 12h or 7d from its pairing on. Default: no end.")
    var expires: SpanArgument?

    @Flag(help: "Print the code where standard output is no terminal, and with --json the QR payload too.")
    var showSecrets = false

    @OptionGroup var options: OutputOptions

    func validate() throws {
        guard (60...900).contains(ttl) else { throw ValidationError("--ttl takes 60 to 900.") }
    }

    func run() async throws {
        let output = options.output
        var request = AdminRequest(.pair)
        request.ttlSeconds = Double(ttl)
        request.permissions = grant.permissions
        request.lifetimeSeconds = expires?.seconds
        guard let challenge = try await output.ask(request).challenge else { throw CommandError.strangeAnswer }
        switch output.format {
        case .json: output.json(HostPairRow(challenge, showSecrets: showSecrets))
        case .quiet: if showSecrets { output.data(challenge.code) }
        case .text: show(challenge, output)
        }
    }

    private func show(_ challenge: PairingStartResponse, _ output: Output) {
        let code = PairingCode(challenge: challenge, hasEnd: true)
        let isLimited = grant.permissions != nil || expires != nil
        let limit = "For one device: the code that follows it gives what the host was started with."
        if output.context.stdoutIsTerminal {
            // Below it are the limit and the prompt.
            let columns = isLimited ? output.context.windowSize()?.columns : nil
            code.draw(output, rowsAfter: 1 + (columns.map { DisplayWidth.rows(of: limit, columns: $0) } ?? 0))
        } else if showSecrets {
            output.data(code.text)
        } else {
            return output.data("A pairing code is ready: the host shows it (--show-secrets prints it here).")
        }
        if isLimited { output.say(limit) }
    }
}

/// A challenge in JSON.
struct HostPairRow: Encodable {
    var code: String?
    var qrPayload: String?
    var expiresAt: Date

    init(_ challenge: PairingStartResponse, showSecrets: Bool) {
        code = showSecrets ? challenge.code : nil
        qrPayload = showSecrets ? challenge.qrPayload : nil
        expiresAt = challenge.expiresAt
    }
}

extension CommandError {
    /// The host answered without what was asked for.
    static let strangeAnswer = CommandError(
        .failed,
        "host.bad_answer",
        "the host's answer has not what was asked for: is it of another version?",
        next: "end the host and start it with this pairtool"
    )
}
