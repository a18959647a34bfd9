package import CompanionWire

extension CompanionAPIClient {
    /// `POST /companion/pairing/start`: starts a challenge on the host and replaces the running one.
    ///
    /// - Parameter ttl: How long the challenge is valid. Hosts clamp it to 60…900 s; nil means 300 s.
    package func startPairing(ttl: Duration? = nil) async throws -> PairingStartResponse {
        let seconds = ttl.map { Double($0.components.seconds) + Double($0.components.attoseconds) / 1e18 }
        let request = try CompanionRequest.post(
            "/companion/pairing/start",
            body: PairingStartRequest(ttlSeconds: seconds)
        )
        return try await json(request, as: PairingStartResponse.self)
    }

    /// `POST /companion/pairing/complete`: answers the running challenge. The `hostText` of a `badRequest` error says
    /// what was wrong (``CompanionErrorResponse/Text``).
    ///
    /// - Returns: The host's status. Compare `connectedDevice.id` with this device's id: `connected` alone proves
    ///   nothing.
    package func completePairing(_ request: PairingCompleteRequest) async throws -> CompanionStatusResponse {
        try await json(.post("/companion/pairing/complete", body: request), as: CompanionStatusResponse.self)
    }

    /// `POST /companion/pairing/hello`.
    package func pairingHello(_ request: PairingHelloRequest) async throws -> PairingHelloResponse {
        try await pairing("hello", body: request)
    }

    /// `POST /companion/pairing/share`.
    package func pairingShare(_ request: PairingShareRequest) async throws -> PairingShareResponse {
        try await pairing("share", body: request)
    }

    /// `POST /companion/pairing/confirm`. Do not use the answer before its tag is verified.
    package func pairingConfirm(_ request: PairingConfirmRequest) async throws -> PairingConfirmResponse {
        try await pairing("confirm", body: request)
    }

    private func pairing<Answer: Decodable & Sendable>(_ step: String, body: some Encodable) async throws -> Answer {
        var request = try CompanionRequest.post("/companion/pairing/\(step)", body: body)
        request.isAnonymous = true
        return try await json(request, as: Answer.self)
    }
}
