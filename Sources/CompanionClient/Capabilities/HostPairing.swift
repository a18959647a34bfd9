package import CompanionWire

/// A host that pairs with devices.
package protocol HostPairing: Sendable {
    /// Starts a challenge on the host and replaces the running one.
    ///
    /// - Parameter ttl: How long it shall live. Hosts clamp it to 60…900 s. Nil: 300 s.
    func startPairing(ttl: Duration?) async throws -> PairingStartResponse
    /// Answers the running challenge. `hostText` of a `badRequest` says what was wrong
    /// (``CompanionErrorResponse/Text``).
    func completePairing(_ request: PairingCompleteRequest) async throws -> CompanionStatusResponse
}
