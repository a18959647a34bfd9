import CommandCore
import CompanionClient
import CompanionWire
import FoundationEssentials
import PairingAgent

/// The pairing with an AICLI server: no more than its token, tried once and kept.
struct AICLIPairing: Sendable {
    private let pairing: FamilyPairing

    init(_ pairing: FamilyPairing) {
        self.pairing = pairing
    }

    private var target: PairingTarget { pairing.target }
    private var output: Output { pairing.output }
    private var context: CommandContext { output.context }

    func run() async throws {
        let (endpoint, health) = try await findServer()
        let accepted = try await findToken(at: endpoint)
        let host = target.legacyRecord(
            at: endpoint,
            deviceID: pairing.identity.deviceID,
            now: context.now()
        )
        let record = PairingRecord(output: output)
        let outcome = try record.store(host, as: pairing.deviceName, replacing: target.record)
        let secrets = HostSecretStore(directory: context.paths.data)
        if let accepted {
            try secrets.keep(accepted, hostID: outcome.host.id)
        } else {
            try secrets.forget(hostID: outcome.host.id)
        }
        record.show(outcome)
        if let limits = health.generation.limits { output.say(limits) }
        if health.assistantAvailable == false { output.say("The agent's own program is not available on that host.") }
    }

    /// The address at which an AICLI server answers. No token is sent yet.
    private func findServer() async throws -> (CompanionEndpoint, AICLIHealth) {
        guard let first = target.endpoints.first else {
            throw PairingError(.unreachable, "\(target.name) has no address for plain HTTP, which AICLI servers speak")
        }
        var failure: CompanionClientError?
        for endpoint in target.endpoints {
            do {
                let health = try await client(endpoint, token: nil) { try await $0.aicliHealth() }
                return (endpoint, health)
            } catch let error as CompanionClientError {
                failure = failure ?? error
            }
        }
        throw failure
            ?? CompanionClientError(.unreachable, "No AICLI server answers at \(first).", delivery: .notSent)
    }

    /// The token that the server takes; nil where it wants none.
    private func findToken(at endpoint: CompanionEndpoint) async throws -> String? {
        if let token = pairing.token {
            guard try await accepts(token, at: endpoint) else { throw refused }
            return token
        }
        if try await accepts(nil, at: endpoint) { return nil }
        guard context.canAsk else {
            throw CommandError(
                .usage,
                "pairing.no_code",
                "\(target.name) wants a token, and there is no terminal to ask at",
                next: "give it: pairtool pair --token-file FILE (- for standard input), or --qr FILE"
            )
        }
        let question = Question(context: context)
        for attempt in 1...3 {
            let prompt = "Token of \(TerminalText.line(target.name)): "
            guard let typed = try await question.secret(prompt)?.trimmingBlanks(), !typed.isEmpty else { break }
            if AICLIPayload.isToken(typed), try await accepts(typed, at: endpoint) { return typed }
            if attempt < 3 { output.say("The server does not take it. Try again.") } else { throw refused }
        }
        throw CommandError(.usage, "pairing.no_code", "no token was typed; nothing was kept")
    }

    private func accepts(_ token: String?, at endpoint: CompanionEndpoint) async throws -> Bool {
        do {
            try await client(endpoint, token: token) { try await $0.checkToken() }
            return true
        } catch let error as CompanionClientError where error.code == .notPaired {
            return false
        }
    }

    private var refused: CommandError {
        CommandError(
            .wrongCode,
            "pairing.wrong_token",
            "\(target.name) does not take the token",
            next: "look it up on the host (its QR code has it), then: pairtool pair"
        )
    }

    private func client<R>(
        _ endpoint: CompanionEndpoint,
        token: String?,
        _ body: (AICLIClient) async throws -> R
    ) async throws -> R {
        try await AICLIClient.withClient(
            endpoint: endpoint,
            token: token,
            deviceID: pairing.identity.deviceID,
            logger: LoggingSetup.logger("aicli", context: context),
            body
        )
    }
}

extension CommandContext {
    /// The token in a file, or on standard input.
    ///
    /// - Parameter file: A path, or `-`.
    /// - Throws: ``CommandError`` where there is none, or what is there cannot be one.
    func token(in file: String) async throws -> String {
        guard let bytes = try await content(of: file, limit: 8 << 10) else {
            throw CommandError(
                .usage,
                "pairing.code_format",
                "what was given is no token: it is too long; nothing was sent"
            )
        }
        let text = String(decoding: bytes, as: UTF8.self).trimmingBlanks()
        // What the server shows as a QR code will do too.
        let token = AICLIPayload(text)?.token ?? text
        guard AICLIPayload.isToken(token) else {
            throw CommandError(.usage, "pairing.code_format", "what was given is no token; nothing was sent")
        }
        return token
    }
}
