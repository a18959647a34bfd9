import CompanionClient
import CompanionWire
import FoundationEssentials
import PairingAgent

/// Pairs with an AICLI server: checks its token once and stores it. With TLS, the server's key is trusted once and
/// stored too.
struct AICLIPairing: Sendable {
    private let pairing: FamilyPairing

    init(_ pairing: FamilyPairing) {
        self.pairing = pairing
    }

    private var target: PairingTarget { pairing.target }
    private var output: Output { pairing.output }
    private var context: CommandContext { output.context }

    /// The server's address, and whether the connection uses TLS.
    private struct Place {
        var endpoint: CompanionEndpoint
        var security: HostSecurity
        var health: AICLIHealth
    }

    func run() async throws {
        let place = try await findServer()
        let accepted = try await findToken(at: place)
        var host = target.legacyRecord(
            at: place.endpoint,
            deviceID: pairing.identity.deviceID,
            now: context.now()
        )
        if let certificate = place.security.certificate {
            host.spki = certificate.spki
            host.certificate = Base64.encode(certificate.der)
        }
        let record = PairingRecord(output: output)
        let outcome = try record.store(host, as: pairing.deviceName, replacing: target.record)
        let secrets = HostSecretStore(directory: context.paths.data)
        if let accepted {
            try secrets.keep(accepted, hostID: outcome.host.id)
        } else {
            try secrets.forget(hostID: outcome.host.id)
        }
        record.show(outcome)
        if let limits = place.health.generation.limits { output.say(limits) }
        if place.health.assistantAvailable == false {
            output.say("The agent's own program is not available on that host.")
        }
    }

    /// Finds the address at which the server answers. No token is sent yet.
    ///
    /// pairtool never falls back from TLS to plain HTTP: an attacker could provoke that to get the token.
    private func findServer() async throws -> Place {
        let isSecure = !target.secureEndpoints.isEmpty
        let endpoints = isSecure ? target.secureEndpoints : target.endpoints
        guard let first = endpoints.first else {
            throw PairingError(.unreachable, "\(target.name) has no address")
        }
        var failure: CompanionClientError?
        for endpoint in endpoints {
            do {
                let security: HostSecurity = isSecure ? .pinned(try await trustedCertificate(at: endpoint)) : .plain
                let health = try await client(endpoint, security, token: nil) { try await $0.aicliHealth() }
                return Place(endpoint: endpoint, security: security, health: health)
            } catch let error as CompanionClientError where error.code != .pinMismatch {
                failure = failure ?? error
            }
        }
        throw failure
            ?? CompanionClientError(.unreachable, "No AICLI server answers at \(first).", delivery: .notSent)
    }

    private func trustedCertificate(at endpoint: CompanionEndpoint) async throws -> PinnedCertificate {
        let trust = PinConfirmation(output: output, given: pairing.pin)
        return try await trust.certificate(at: endpoint, of: target.name, known: target.record(in: pairing.known))
    }

    /// The token that the server accepts; nil if it needs none.
    private func findToken(at place: Place) async throws -> String? {
        if let token = pairing.token {
            guard try await accepts(token, at: place) else { throw refused }
            return token
        }
        if try await accepts(nil, at: place) { return nil }
        guard context.canAsk else {
            throw CommandError(
                .usage,
                "pairing.no_code",
                "\(target.name) needs a token, and there is no terminal to ask for one",
                next: "give the token: pairtool pair --token-file FILE (- for standard input), or --qr FILE"
            )
        }
        let question = Question(context: context)
        for attempt in 1...3 {
            let prompt = "Token of \(TerminalText.line(target.name)): "
            guard let typed = try await question.secret(prompt)?.trimmingWhitespace(), !typed.isEmpty else { break }
            if AICLIPayload.isToken(typed), try await accepts(typed, at: place) { return typed }
            if attempt < 3 { output.say("Wrong token. Try again.") } else { throw refused }
        }
        throw CommandError(.usage, "pairing.no_code", "no token was typed; nothing was kept")
    }

    /// Whether the server accepts the token, asked with a request that needs it.
    private func accepts(_ token: String?, at place: Place) async throws -> Bool {
        do {
            try await client(place.endpoint, place.security, token: token) { try await $0.checkToken() }
            return true
        } catch let error as CompanionClientError where error.code == .notPaired {
            return false
        }
    }

    private var refused: CommandError {
        CommandError(
            .wrongCode,
            "pairing.wrong_token",
            "\(target.name) refused the token",
            next: "look up the token on the host (it is in the QR code), then: pairtool pair"
        )
    }

    private func client<R>(
        _ endpoint: CompanionEndpoint,
        _ security: HostSecurity,
        token: String?,
        _ body: (AICLIClient) async throws -> R
    ) async throws -> R {
        try await AICLIClient.withClient(
            endpoint: endpoint,
            security: security,
            token: token,
            deviceID: pairing.identity.deviceID,
            logger: LoggingSetup.logger("aicli", context: context),
            body
        )
    }
}

extension CommandContext {
    /// Reads the token from a file or standard input.
    ///
    /// - Parameter file: A path, or `-`.
    /// - Throws: ``CommandError`` if the text is missing or cannot be a token.
    func token(in file: String) async throws -> String {
        guard let bytes = try await content(of: file, limit: 8 << 10) else {
            throw CommandError(
                .usage,
                "pairing.code_format",
                "that is not a token: it is too long; nothing was sent"
            )
        }
        let text = String(decoding: bytes, as: UTF8.self).trimmingWhitespace()
        // The payload of the server's QR code is accepted too.
        let token = AICLIPayload(text)?.token ?? text
        guard AICLIPayload.isToken(token) else {
            throw CommandError(.usage, "pairing.code_format", "that is not a token; nothing was sent")
        }
        return token
    }
}
