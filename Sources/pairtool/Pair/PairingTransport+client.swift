import CompanionClient
import CompanionWire
import PairingAgent

/// Implements the requests of a pairing with the CopilotForge client.
struct ClientPairingTransport: PairingTransport {
    let client: CompanionAPIClient

    func pairingHealth() async throws(PairingTransportError) -> PairingHostHealth {
        let health = try await Self.translated { try await client.health() }
        return PairingHostHealth(
            isCompanion: health.isCompanion,
            service: health.service,
            clockOffset: client.clockOffset
        )
    }

    func pairingComplete(
        _ request: PairingCompleteRequest
    ) async throws(PairingTransportError) -> CompanionStatusResponse {
        try await Self.translated { try await client.completePairing(request) }
    }

    func pairingStatus() async throws(PairingTransportError) -> CompanionStatusResponse {
        try await Self.translated { try await client.status() }
    }

    static func translated<R>(_ body: () async throws -> R) async throws(PairingTransportError) -> R {
        do {
            return try await body()
        } catch let error as CompanionClientError {
            throw PairingTransportError(reason(of: error), error.description)
        } catch {
            throw PairingTransportError(.failed, "\(error)")
        }
    }

    private static func reason(of error: CompanionClientError) -> PairingTransportError.Reason {
        switch error.code {
        case .unreachable, .timedOut: .unreachable
        case .notACompanion, .redirected, .badAnswer: .notACompanion
        case .refusedAddress: .addressRefused
        case .pinMismatch: .otherKey
        case .unsupportedVersion: .otherVersions(error.hostVersions)
        default:
            if let code = error.hostCode {
                .refusedByCode(code, text: error.hostText ?? "", triesLeft: error.triesLeft)
            } else {
                error.hostText.map { .refused(text: $0) } ?? .failed
            }
        }
    }
}

/// Implements the requests of a pairing by protocol v2 with a client whose TLS key is known.
struct ClientVerifiedTransport: VerifiedPairingTransport {
    let client: CompanionAPIClient
    let spki: String

    func pairingHello(_ request: PairingHelloRequest) async throws(PairingTransportError) -> PairingHelloResponse {
        try await ClientPairingTransport.translated { try await client.pairingHello(request) }
    }

    func pairingShare(_ request: PairingShareRequest) async throws(PairingTransportError) -> PairingShareResponse {
        try await ClientPairingTransport.translated { try await client.pairingShare(request) }
    }

    func pairingConfirm(_ request: PairingConfirmRequest) async throws(PairingTransportError) -> PairingConfirmResponse
    {
        try await ClientPairingTransport.translated { try await client.pairingConfirm(request) }
    }
}
