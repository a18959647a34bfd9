package import CompanionWire
package import FoundationEssentials
package import Identity
package import PairingAgent

/// The input of a pairing.
package struct FamilyPairing: Sendable {
    let target: PairingTarget
    /// The records of paired hosts.
    let known: PairedHosts
    let device: PairingDevice
    /// The permissions that this device requests besides reading.
    let permissions: [CompanionPermission]
    /// The content of a QR code, or six digits that were given with the command.
    let payload: PairingPayload?
    /// When ``payload`` was read, or earlier if the user may have waited before typing it.
    let codeReadAt: Date
    /// Whether the digits were given with the command, so that they could be for any host.
    let wasTyped: Bool
    /// The token of an AICLI or Jarvis host, if it was given with the command.
    let token: String?
    /// The pin of an AICLI server's TLS key, if the user gave it.
    let pin: CertificatePin?
    /// The second base URL of a Jarvis daemon.
    let fallbackURL: String?
    let consent: LegacyConsent
    /// Looks for the host that the QR code names when its address does not lead to it; nil if there is no such host to
    /// look for.
    let findElsewhere: (@Sendable () async throws -> PairingTarget)?
    let environment: AppEnvironment

    package init(
        target: PairingTarget,
        known: PairedHosts,
        device: PairingDevice,
        permissions: [CompanionPermission],
        payload: PairingPayload?,
        codeReadAt: Date,
        wasTyped: Bool,
        token: String?,
        pin: CertificatePin?,
        fallbackURL: String?,
        consent: LegacyConsent,
        findElsewhere: (@Sendable () async throws -> PairingTarget)?,
        environment: AppEnvironment
    ) {
        self.target = target
        self.known = known
        self.device = device
        self.permissions = permissions
        self.payload = payload
        self.codeReadAt = codeReadAt
        self.wasTyped = wasTyped
        self.token = token
        self.pin = pin
        self.fallbackURL = fallbackURL
        self.consent = consent
        self.findElsewhere = findElsewhere
        self.environment = environment
    }

    /// - Throws: ``AppError`` if a token was given, because hosts of this family take none.
    func requireNoToken() throws {
        guard token != nil else { return }
        throw AppError(
            .usage,
            "pairing.code_format",
            "\(target.name) is a \(target.family.displayName) host, which uses six digits instead of a token; nothing was sent",
            next:
                "leave out the token: \(target.family.pairCommand(at: target.url)), or name the kind of host with --family"
        )
    }

    /// - Throws: ``AppError`` if a pin was given, because this host's key is not one that the user confirms.
    func requireNoPin() throws {
        guard pin != nil else { return }
        throw AppError(
            .usage,
            "pairing.code_format",
            "--pin is for AICLI hosts with TLS, and \(target.name) is not one; nothing was sent",
            next: "name the kind of host: pairtool pair --family aicli --url https://ADDRESS:3001 --pin sha256:…"
        )
    }

    /// - Throws: ``AppError`` if the code came from a picture: it is for a CopilotForge host, and no other host may
    ///   see it.
    func requireNoPicture() throws {
        guard payload != nil, !wasTyped else { return }
        throw AppError(
            .usage,
            "pairing.code_format",
            "the QR code is for a CopilotForge host, and \(target.name) is not one; nothing was sent"
        )
    }
}

extension AppError {
    package static var noPairingCode: AppError {
        AppError(
            .usage,
            "pairing.no_code",
            "no code was given, and there is no terminal to ask for one",
            next: "give one: pairtool pair --qr FILE, or pairtool pair --code-stdin"
        )
    }
}
