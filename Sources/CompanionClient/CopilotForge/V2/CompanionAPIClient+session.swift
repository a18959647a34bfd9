import CompanionWire
import FoundationEssentials

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
