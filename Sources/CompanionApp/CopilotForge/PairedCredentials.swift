import CompanionClient
import CompanionWire
import FoundationEssentials
import Identity
import LocalState
import PairingAgent

/// This machine's credentials for a verified host: the key for signatures, and the stored session token.
struct PairedCredentials: DeviceCredentials {
    private let hostID: String
    private let keys: SecureKeyStore
    private let tokens: SessionTokenStore

    init(host: PairedHost, environment: AppEnvironment) {
        hostID = host.id
        keys = SecureKeyStore(directory: environment.paths.data)
        tokens = SessionTokenStore(directory: environment.paths.data)
    }

    func sessionToken() throws -> String? {
        try tokens.token(hostID: hostID)
    }

    func keep(_ grant: SessionGrant) throws {
        try tokens.keep(grant, hostID: hostID)
    }

    func sessionRequest(now: Date) throws -> [UInt8] {
        try SessionRequest.make(audience: hostID, key: keys, now: now).body
    }

    func signedCommand(_ payload: CommandPayload, id: UUID, now: Date) throws -> [UInt8] {
        // Long enough for all retries: the longest that hosts allow.
        let lifetime = SignedCommand.maximumLifetime
        return try SignedCommand.make(
            id: id,
            payload: payload,
            audience: hostID,
            key: keys,
            now: now,
            lifetime: lifetime
        )
        .body
    }
}

extension PairedHost {
    /// How to connect to this host. A host that was verified once is never contacted again without its key.
    ///
    /// - Throws: ``AppError`` if the record of a verified host is incomplete.
    func security() throws -> HostSecurity {
        guard trust == .verified else { return .plain }
        guard
            let certificate = certificate.flatMap(Base64.decode),
            let pinned = try? PinnedCertificate(der: certificate), pinned.spki == spki
        else {
            throw AppError(
                .failed,
                "hosts.unreadable",
                "the record of \(name) does not contain the verified key",
                next: "pair again: pairtool pair"
            )
        }
        return .pinned(pinned)
    }
}
