import CompanionWire
import PairingAgent

/// What a pairing is given.
struct FamilyPairing: Sendable {
    let target: PairingTarget
    /// The records of paired hosts.
    let known: PairedHosts
    let identity: DeviceIdentity
    let deviceName: String
    /// What this device asks for besides reading.
    let permissions: [CompanionPermission]
    /// What a QR code holds, or six digits that came with the command.
    let payload: PairingPayload?
    /// Whether the digits were typed into the command, so that they may be any host's.
    let wasTyped: Bool
    /// The token of an AICLI or Jarvis host, where it came with the command.
    let token: String?
    /// What the TLS key of an AICLI server is, where the user said so.
    let pin: CertificatePin?
    /// The second base URL of a Jarvis daemon.
    let fallbackURL: String?
    let consent: LegacyConsent
    /// Looks for the host that the QR code names, where the address in it leads nowhere; nil where there is none to
    /// look for.
    let findElsewhere: (@Sendable () async throws -> PairingTarget)?
    let output: Output

    /// - Throws: ``CommandError`` where a token was given, and hosts of the family take none.
    func requireNoToken() throws {
        guard token != nil else { return }
        throw CommandError(
            .usage,
            "pairing.code_format",
            "\(target.name) is a \(target.family.displayName) host, which uses six digits instead of a token; nothing was sent",
            next:
                "leave out the token: \(target.family.pairCommand(at: target.url)), or name the kind of host with --family"
        )
    }

    /// - Throws: ``CommandError`` where a TLS key was given, and the host is not one whose key is trusted as it is.
    func requireNoPin() throws {
        guard pin != nil else { return }
        throw CommandError(
            .usage,
            "pairing.code_format",
            "--pin is for AICLI hosts with TLS, and \(target.name) is not one; nothing was sent",
            next: "name the kind of host: pairtool pair --family aicli --url https://ADDRESS:3001 --pin sha256:…"
        )
    }

    /// - Throws: ``CommandError`` where the code of a picture was given: it is for a CopilotForge host, and no other
    ///   host may see it.
    func requireNoPicture() throws {
        guard payload != nil, !wasTyped else { return }
        throw CommandError(
            .usage,
            "pairing.code_format",
            "the QR code is for a CopilotForge host, and \(target.name) is not one; nothing was sent"
        )
    }
}
