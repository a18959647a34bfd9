package import CompanionClient
internal import CompanionWire
internal import Identity

/// Pairs with an AICLI server: checks its token once and stores it. With TLS, the server's key is trusted once and
/// stored too.
package struct AICLIPairing: Sendable {
    private let target: PairingTarget
    private let device: PairingDevice
    private let token: String?
    private let pin: CertificatePin?
    private let confirmKey: @Sendable (CertificateFingerprints) async throws -> Void
    private let askToken: @Sendable (_ isRepeated: Bool) async throws -> String

    /// - Parameters:
    ///   - token: The token, if the user gave it.
    ///   - pin: The pin of the server's TLS key, if the user gave it.
    ///   - confirmKey: Asks the user whether the server's TLS key is the shown one. Throws if it is not.
    ///   - askToken: Asks the user for the token, again if `isRepeated`. Throws if there is none.
    package init(
        target: PairingTarget,
        device: PairingDevice,
        token: String?,
        pin: CertificatePin?,
        confirmKey: @escaping @Sendable (CertificateFingerprints) async throws -> Void,
        askToken: @escaping @Sendable (_ isRepeated: Bool) async throws -> String
    ) {
        self.target = target
        self.device = device
        self.token = token
        self.pin = pin
        self.confirmKey = confirmKey
        self.askToken = askToken
    }

    /// The server's address, and whether the connection uses TLS.
    private struct Place {
        var endpoint: CompanionEndpoint
        var security: HostSecurity
        var health: AICLIHealth
    }

    /// Finds the server, checks its key and token, and stores them with its record.
    ///
    /// - Throws: ``PairingError``, `CompanionClientError`, the errors of the stores; the errors of `confirmKey` and
    ///   `askToken`.
    package func run() async throws -> PairingOutcome {
        let place = try await findServer()
        let accepted = try await findToken(at: place)
        var host = target.legacyRecord(at: place.endpoint, of: device)
        if let certificate = place.security.certificate {
            host.spki = certificate.spki
            host.certificate = Base64.encode(certificate.der)
        }
        var outcome = try device.store(host, replacing: target.record)
        let secrets = HostSecretStore(directory: device.data)
        if let accepted {
            try secrets.keep(accepted, hostID: outcome.host.id)
        } else {
            try secrets.forget(hostID: outcome.host.id)
        }
        if let limits = place.health.generation.limits { outcome.notes.append(limits) }
        if place.health.assistantAvailable == false {
            outcome.notes.append("The agent's own program is not available on that host.")
        }
        return outcome
    }

    /// Finds the address at which the server answers. No token is sent yet.
    ///
    /// pairtool never falls back from TLS to plain HTTP: an attacker could provoke that to get the token.
    private func findServer() async throws -> Place {
        let isSecure = !target.secureEndpoints.isEmpty
        let endpoints = isSecure ? target.secureEndpoints : target.endpoints
        guard let first = endpoints.first else {
            throw PairingError(.unreachable, "no address of \(target.name) is known")
        }
        var failure: CompanionClientError?
        for endpoint in endpoints {
            do {
                let security: HostSecurity = isSecure ? .pinned(try await trustedCertificate(at: endpoint)) : .plain
                let health = try await client(endpoint, security: security, token: nil) { try await $0.aicliHealth() }
                return Place(endpoint: endpoint, security: security, health: health)
            } catch let error as CompanionClientError where error.code != .pinMismatch {
                failure = failure ?? error
            }
        }
        throw failure
            ?? CompanionClientError(.unreachable, message: "No AICLI server answers at \(first).", delivery: .notSent)
    }

    /// Gets the certificate that the server shows, once it is trusted: the user confirms its TLS key once, and every
    /// later connection requires that key.
    ///
    /// - Throws: `CompanionClientError` with `pinMismatch` if the key changed, or is not the given one.
    private func trustedCertificate(at endpoint: CompanionEndpoint) async throws -> PinnedCertificate {
        // A pin that the user gave replaces the stored one.
        if pin == nil, let stored = try earlier()?.spki {
            do {
                return try await PinnedTLS.certificate(of: endpoint, expecting: stored)
            } catch let error as CompanionClientError where error.code == .pinMismatch {
                var error = error
                error.advice =
                    "if the server was set up again, compare the key there and give it: pairtool pair --pin sha256:…"
                throw error
            }
        }
        let certificate = try await PinnedTLS.certificate(of: endpoint, expecting: nil)
        let shown = CertificateFingerprints(certificate)
        guard let pin else {
            try await confirmKey(shown)
            return certificate
        }
        guard shown.match(pin.bytes) else {
            throw CompanionClientError(
                .pinMismatch,
                message: "\(endpoint) shows another TLS key: expected \(pin), shown "
                    + "sha256:\(shown.certificate). Someone may be intercepting the connection; nothing was sent.",
                delivery: .notSent
            )
        }
        return certificate
    }

    /// The record of an earlier pairing. Its key is not asked about again.
    private func earlier() throws -> PairedHost? {
        target.record(in: try PairedHostStore(directory: device.data).load())
    }

    /// The token that the server accepts; nil if it needs none.
    private func findToken(at place: Place) async throws -> String? {
        if let token {
            guard try await accepts(token, at: place) else { throw refused }
            return token
        }
        if try await accepts(nil, at: place) { return nil }
        for attempt in 1...3 {
            let typed = try await askToken(attempt > 1)
            if AICLIPayload.isToken(typed), try await accepts(typed, at: place) { return typed }
        }
        throw refused
    }

    /// Whether the server accepts the token, asked with a request that needs it.
    private func accepts(_ token: String?, at place: Place) async throws -> Bool {
        do {
            try await client(place.endpoint, security: place.security, token: token) { try await $0.checkToken() }
            return true
        } catch let error as CompanionClientError where error.code == .notPaired {
            return false
        }
    }

    private var refused: PairingError {
        PairingError(
            .wrongToken,
            "the token was rejected by \(target.name)",
            advice: "look up the token on the host (it is in the QR code), then: pairtool pair"
        )
    }

    private func client<R>(
        _ endpoint: CompanionEndpoint,
        security: HostSecurity,
        token: String?,
        _ body: (AICLIClient) async throws -> R
    ) async throws -> R {
        try await AICLIClient.withClient(
            endpoint: endpoint,
            security: security,
            token: token,
            deviceID: device.identity.deviceID,
            logger: device.logger("aicli"),
            body
        )
    }
}

/// The fingerprint by which a user knows a TLS key: the SHA-256 of a certificate, of its key, or of the certificate
/// file.
package struct CertificatePin: Sendable, Hashable, CustomStringConvertible {
    /// 32 bytes.
    let bytes: [UInt8]

    /// Reads `sha256:` and 64 hex digits, with or without colons, or 43 characters of base64url.
    package init?(_ text: String) {
        let prefix = "sha256:"
        guard text.utf8.count > prefix.utf8.count,
            text.prefix(prefix.count).lowercased().utf8.elementsEqual(prefix.utf8)
        else { return nil }
        let rest = text.dropFirst(prefix.count)
        let digits = rest.utf8.filter { $0 != UInt8(ascii: ":") }.map { Character(Unicode.Scalar($0)).hexDigitValue }
        if digits.count == 64, digits.allSatisfy({ $0 != nil }) {
            let values = digits.compactMap(\.self)
            bytes = stride(from: 0, to: 64, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
        } else if let bytes = Base64URL.decode(String(rest)), bytes.count == 32 {
            self.bytes = bytes
        } else {
            return nil
        }
    }

    /// `sha256:` and 64 hex digits in pairs, with colons between them.
    package var description: String { "sha256:" + CertificateFingerprints.text(bytes) }
}
