package import FoundationEssentials

/// The body of `POST /companion/command`: a command under the device's signature (companion-v2, Signed commands).
package struct SignedCommand: Sendable, Hashable {
    /// The text that the signed bytes begin with, so that no signature of a session passes for one of a command.
    package static let signingPrefix = "copilotforge-command-v2\n"
    /// The longest time between `issuedAt` and `expiresAt`.
    package static let maximumLifetime = Duration.seconds(300)

    /// A UUID in lower case, whatever the case that it was sent in.
    package let commandId: String
    /// The time of the command by the device's clock, to the millisecond.
    package let issuedAt: Date
    /// The time after which the host refuses the command, to the millisecond.
    package let expiresAt: Date
    /// The device's id at the host: 1 to 128 bytes.
    package let deviceId: String
    /// The host that the command is for.
    package let audience: String
    /// 16 to 64 bytes, base64url.
    package let nonce: String
    /// An object with a `type`: see ``CommandPayload``.
    package let payload: JSONValue
    /// 64 bytes, standard base64.
    package let signature: String
    private let envelope: SignedEnvelope

    /// Reads and checks the shape of a command. It says nothing about the signature, the times or the payload's fields.
    ///
    /// - Throws: ``SignedCommandError`` with the code `command.bad_shape`.
    package static func parse(_ body: [UInt8]) throws(SignedCommandError) -> SignedCommand {
        try SignedCommand(SignedEnvelope(parsing: body, code: .commandBadShape))
    }

    /// Signs a new command.
    ///
    /// - Parameters:
    ///   - nonce: 16 bytes or more that were never used before.
    ///   - sign: Gives the Ed25519 signature (64 bytes) of the bytes that it is handed.
    /// - Throws: ``SignedCommandError`` for a member that hosts refuse, ``JSONValueError`` for a payload that cannot be
    ///   signed, and what `sign` throws.
    package init(
        commandId: UUID,
        issuedAt: Date,
        expiresAt: Date,
        deviceId: String,
        audience: String,
        nonce: [UInt8],
        payload: CommandPayload,
        sign: ([UInt8]) throws -> [UInt8]
    ) throws {
        let members: [String: JSONValue] = [
            "commandId": .string(commandId.uuidString.lowercased()),
            "issuedAt": .string(CompanionTimestamp.string(from: issuedAt)),
            "expiresAt": .string(CompanionTimestamp.string(from: expiresAt)),
            "deviceId": .string(deviceId), "audience": .string(audience),
            "nonce": .string(Base64URL.encode(nonce)), "payload": payload.json,
        ]
        try self.init(SignedEnvelope(members, prefix: Self.signingPrefix, code: .commandBadShape, sign: sign))
    }

    private init(_ envelope: SignedEnvelope) throws(SignedCommandError) {
        self.envelope = envelope
        let id = try envelope.text("commandId")
        guard id.utf8.count == 36, UUID(uuidString: id) != nil else {
            throw envelope.error("commandId", rule: "a UUID")
        }
        commandId = id.lowercased()
        issuedAt = try envelope.time("issuedAt")
        expiresAt = try envelope.time("expiresAt")
        deviceId = try envelope.text("deviceId")
        audience = try envelope.text("audience")
        nonce = try envelope.nonce("nonce")
        signature = try envelope.text("signature")
        guard let payload = envelope["payload"], payload["type"]?.string != nil else {
            throw envelope.error("payload", rule: "an object with a `type`")
        }
        self.payload = payload
    }

    /// The bytes that the signature covers: every member as it was received, those that this version does not know too.
    package var signedBytes: [UInt8] { envelope.signedBytes(prefix: Self.signingPrefix) }

    /// The signature's 64 bytes.
    package var signatureBytes: [UInt8] { envelope.signature }

    /// The body to send. A repetition sends the very same bytes.
    package var body: [UInt8] { envelope.body }
}

/// Why the body of a command or session request cannot be used.
package struct SignedCommandError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The code that the host answers with: `command.bad_shape` or `request.invalid`.
    package let code: CompanionErrorCode
    /// The reason for people. It names members, never their values.
    package let message: String

    package init(_ code: CompanionErrorCode, message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}
