import CompanionClient
import CompanionWire
import PairingAgent

/// Carries a pairing over the CopilotForge client.
struct ClientPairingTransport: PairingTransport {
    let client: CompanionAPIClient

    func pairingHealth() async throws(PairingTransportError) -> PairingHostHealth {
        let health = try await translated { try await client.health() }
        return PairingHostHealth(
            isCompanion: health.isCompanion,
            service: health.service,
            clockOffset: client.clockOffset
        )
    }

    func pairingComplete(
        _ request: PairingCompleteRequest
    ) async throws(PairingTransportError) -> CompanionStatusResponse {
        try await translated { try await client.completePairing(request) }
    }

    func pairingStatus() async throws(PairingTransportError) -> CompanionStatusResponse {
        try await translated { try await client.status() }
    }

    private func translated<R>(_ body: () async throws -> R) async throws(PairingTransportError) -> R {
        do {
            return try await body()
        } catch let error as CompanionClientError {
            let reason: PairingTransportError.Reason =
                switch error.code {
                case .unreachable, .timedOut: .unreachable
                case .notACompanion, .redirected, .badAnswer: .notACompanion
                case .refusedAddress: .addressRefused
                default: error.hostText.map { .refused(text: $0) } ?? .failed
                }
            throw PairingTransportError(reason, error.description)
        } catch {
            throw PairingTransportError(.failed, "\(error)")
        }
    }
}
