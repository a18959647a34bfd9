package import CompanionWire
package import FoundationEssentials

extension SignedCommand {
    /// Creates and signs a command with a new nonce. To repeat it, send the same ``body`` again.
    ///
    /// - Parameters:
    ///   - id: The command's id. Default: a new one.
    ///   - audience: The id of the host that the command is for.
    ///   - key: The device's key, which must exist.
    ///   - now: The host's time, as far as it is known.
    ///   - lifetime: How long the host may execute it, up to 300 s. Default: 60 s.
    /// - Throws: ``KeyStoreError`` if the key cannot be used; ``SignedCommandError`` if no host would accept the
    ///   command.
    package static func make(
        id: UUID = UUID(),
        payload: CommandPayload,
        audience: String,
        key: SecureKeyStore,
        now: Date,
        lifetime: Duration = .seconds(60)
    ) throws -> SignedCommand {
        guard lifetime > .zero, lifetime <= maximumLifetime else {
            throw SignedCommandError(
                .commandBadTime,
                message: "a command is valid for more than 0 and at most 300 seconds"
            )
        }
        let seconds = Double(lifetime.components.seconds) + Double(lifetime.components.attoseconds) * 1e-18
        return try SignedCommand(
            commandId: id,
            issuedAt: now,
            expiresAt: now.addingTimeInterval(seconds),
            deviceId: key.identity().deviceID,
            audience: audience,
            nonce: SecureRandom.bytes(16),
            payload: payload,
            sign: key.sign
        )
    }

    /// Whether the command was signed with an identity's key. Checks nothing else.
    package func isSigned(by identity: DeviceIdentity) -> Bool {
        identity.verifies(signatureBytes, of: signedBytes)
    }
}

extension SessionRequest {
    /// Creates and signs a request for a session.
    ///
    /// - Parameters:
    ///   - audience: The id of the host that the request is for.
    ///   - key: The device's key, which must exist.
    ///   - now: The host's time, as far as it is known.
    /// - Throws: ``KeyStoreError`` if the key cannot be used.
    package static func make(audience: String, key: SecureKeyStore, now: Date) throws -> SessionRequest {
        try SessionRequest(
            deviceId: key.identity().deviceID,
            audience: audience,
            issuedAt: now,
            nonce: SecureRandom.bytes(16),
            sign: key.sign
        )
    }

    /// Whether the request was signed with an identity's key. Checks nothing else.
    package func isSigned(by identity: DeviceIdentity) -> Bool {
        identity.verifies(signatureBytes, of: signedBytes)
    }
}
