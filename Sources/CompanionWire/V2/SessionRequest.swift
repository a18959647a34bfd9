package import FoundationEssentials

/// A session of a paired device: the answer of `POST /companion/session`, and part of a pairing's end.
package struct SessionGrant: Codable, Sendable, Hashable {
    /// 32 random bytes, base64url: for `Authorization: Bearer`. A secret.
    package var token: String
    /// The end of the session, by the host's clock.
    package var expiresAt: Date

    package init(token: String, expiresAt: Date) {
        self.token = token
        self.expiresAt = expiresAt
    }
}

/// The body of `POST /companion/session`: signed with the device's key.
package struct SessionRequest: Sendable, Hashable {
    /// The text that the signed bytes begin with, so that no signature of a command passes for one of a session.
    package static let signingPrefix = "copilotforge-session-v2\n"

    /// The device's id at the host: 1 to 128 bytes.
    package let deviceId: String
    /// The id of the host that the request is for. Where it is missing, any host that gets to see the request can pass
    /// it on to another one that knows the device: this client always sends it.
    package let audience: String?
    /// The time of the request by the device's clock, to the millisecond.
    package let issuedAt: Date
    /// 16 to 64 bytes, base64url.
    package let nonce: String
    /// 64 bytes, standard base64.
    package let signature: String
    private let envelope: SignedEnvelope

    /// Reads and checks the shape of a request. It says nothing about the signature.
    ///
    /// - Throws: ``SignedCommandError`` with the code `request.invalid`.
    package static func parse(_ body: [UInt8]) throws(SignedCommandError) -> SessionRequest {
        try SessionRequest(SignedEnvelope(parsing: body, code: .requestInvalid))
    }

    /// Signs a new request.
    ///
    /// - Parameters:
    ///   - audience: The id of the host that the request is for.
    ///   - nonce: 16 bytes or more that were never used before.
    ///   - sign: Gives the Ed25519 signature (64 bytes) of the bytes that it is handed.
    /// - Throws: ``SignedCommandError`` for a member that hosts refuse, and what `sign` throws.
    package init(
        deviceId: String,
        audience: String?,
        issuedAt: Date,
        nonce: [UInt8],
        sign: ([UInt8]) throws -> [UInt8]
    ) throws {
        var members: [String: JSONValue] = [
            "deviceId": .string(deviceId), "issuedAt": .string(CompanionTimestamp.string(from: issuedAt)),
            "nonce": .string(Base64URL.encode(nonce)),
        ]
        members["audience"] = audience.map(JSONValue.string)
        try self.init(SignedEnvelope(members, prefix: Self.signingPrefix, code: .requestInvalid, sign: sign))
    }

    private init(_ envelope: SignedEnvelope) throws(SignedCommandError) {
        self.envelope = envelope
        deviceId = try envelope.text("deviceId")
        audience = envelope["audience"] == nil ? nil : try envelope.text("audience")
        issuedAt = try envelope.time("issuedAt")
        nonce = try envelope.nonce("nonce")
        signature = try envelope.text("signature")
    }

    /// The bytes that the signature covers: every member as it was received, those that this version does not know too.
    package var signedBytes: [UInt8] { envelope.signedBytes(prefix: Self.signingPrefix) }

    /// The signature's 64 bytes.
    package var signatureBytes: [UInt8] { envelope.signature }

    /// The body to send.
    package var body: [UInt8] { envelope.body }
}
