package import CompanionWire

extension CompanionAPIClient: HostPairing {
    /// `POST /companion/pairing/start`.
    package func startPairing(ttl: Duration? = nil) async throws -> PairingStartResponse {
        let seconds = ttl.map { Double($0.components.seconds) + Double($0.components.attoseconds) / 1e18 }
        let request = try CompanionRequest.post("/companion/pairing/start", PairingStartRequest(ttlSeconds: seconds))
        return try await json(request, as: PairingStartResponse.self)
    }

    /// `POST /companion/pairing/complete`.
    ///
    /// - Returns: What the host says. Compare `connectedDevice.id` with one's own: `connected` alone proves nothing.
    package func completePairing(_ request: PairingCompleteRequest) async throws -> CompanionStatusResponse {
        try await json(.post("/companion/pairing/complete", request), as: CompanionStatusResponse.self)
    }
}
