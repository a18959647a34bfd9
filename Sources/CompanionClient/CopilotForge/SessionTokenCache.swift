import CompanionWire
import FoundationEssentials

/// The session token of one client, renewed when the host no longer accepts it.
actor SessionTokenCache {
    private let credentials: any DeviceCredentials
    private var token: String?

    init(_ credentials: any DeviceCredentials) {
        self.credentials = credentials
    }

    /// The token to send with a request; nil if there never was one.
    func current() throws -> String? {
        if token == nil { token = try credentials.sessionToken() }
        return token
    }

    /// Makes sure that the token is not the stale one: takes the one that another task or process of this user has got
    /// in the meantime, else opens a session.
    ///
    /// - Parameter stale: The token that the host refused; nil if none was sent.
    /// - Returns: Whether a session was opened. Another's token may be over as well.
    func renew(after stale: String?, over client: CompanionAPIClient) async throws -> Bool {
        if let token, token != stale { return false }
        if let kept = try credentials.sessionToken(), kept != stale {
            token = kept
            return false
        }
        let grant = try await client.openSession(with: credentials)
        token = grant.token
        try credentials.keep(grant)
        return true
    }

    nonisolated func signedCommand(_ payload: CommandPayload, id: UUID, now: Date) throws -> [UInt8] {
        try credentials.signedCommand(payload, id: id, now: now)
    }
}

extension CompanionAPIClient {
    /// `POST /companion/session`.
    ///
    /// If the host refuses and its clock turns out to differ, the request is sent once more with the host's time.
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
