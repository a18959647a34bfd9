package import CompanionWire

extension CompanionAPIClient {
    /// `POST /companion/pairing/hello`.
    package func pairingHello(_ request: PairingHelloRequest) async throws -> PairingHelloResponse {
        try await pairing("hello", request)
    }

    /// `POST /companion/pairing/share`.
    package func pairingShare(_ request: PairingShareRequest) async throws -> PairingShareResponse {
        try await pairing("share", request)
    }

    /// `POST /companion/pairing/confirm`. Nothing in the answer counts before its tag is verified.
    package func pairingConfirm(_ request: PairingConfirmRequest) async throws -> PairingConfirmResponse {
        try await pairing("confirm", request)
    }

    private func pairing<Answer: Decodable & Sendable>(_ step: String, _ body: some Encodable) async throws -> Answer {
        var request = try CompanionRequest.post("/companion/pairing/\(step)", body)
        request.isAnonymous = true
        return try await json(request, as: Answer.self)
    }
}
