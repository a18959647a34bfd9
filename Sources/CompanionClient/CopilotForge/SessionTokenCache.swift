import CompanionWire
import FoundationEssentials

/// The session of one client: its token, renewed when the host takes it no more.
actor SessionTokenCache {
    private let credentials: any DeviceCredentials
    private var token: String?

    init(_ credentials: any DeviceCredentials) {
        self.credentials = credentials
    }

    /// The token to send with a request; nil where none was ever had.
    func current() throws -> String? {
        if token == nil { token = try credentials.sessionToken() }
        return token
    }

    /// Makes sure of another token than a stale one.
    ///
    /// - Parameter stale: What the host refused; nil where there was nothing to send.
    func renew(after stale: String?, over client: CompanionAPIClient) async throws {
        if let token, token != stale { return }
        // Another process of this user may have had a new one meanwhile.
        if let kept = try credentials.sessionToken(), kept != stale {
            token = kept
            return
        }
        let grant = try await client.openSession(with: credentials)
        token = grant.token
        try credentials.keep(grant)
    }

    nonisolated func signedCommand(_ payload: CommandPayload, id: UUID, now: Date) throws -> [UInt8] {
        try credentials.signedCommand(payload, id: id, now: now)
    }
}

extension CompanionAPIClient {
    /// `POST /companion/session`.
    ///
    /// Where the host refuses and its clock turns out to be another, it is asked once more by that clock.
    func openSession(with credentials: any DeviceCredentials) async throws -> SessionGrant {
        let assumed = clockOffset ?? .zero
        do {
            return try await askSession(credentials)
        } catch let error as CompanionClientError where error.delivery == .answered {
            let known = clockOffset ?? .zero
            guard known - assumed > .seconds(30) || assumed - known > .seconds(30) else { throw error }
            return try await askSession(credentials)
        }
    }

    private func askSession(_ credentials: any DeviceCredentials) async throws -> SessionGrant {
        let body = try credentials.sessionRequest(now: hostTime)
        return try await json(.post("/companion/session", json: body, isAnonymous: true), as: SessionGrant.self)
    }
}
