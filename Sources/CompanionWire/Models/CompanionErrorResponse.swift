package import FoundationEssentials

/// The JSON body of a failed request: `{ok:false, error:"text"}`, with a `code` and more where the host speaks v2.
package struct CompanionErrorResponse: Codable, Sendable, Hashable, Error {
    /// Always false.
    package var ok: Bool
    /// The reason for the failure, for people. The text is the host's: sanitise it.
    package var error: String
    /// The error's stable name; nil from a host that speaks v1.
    package var code: CompanionErrorCode?
    /// Whether the same request may succeed later.
    package var retryable: Bool?
    /// The host's clock, where the error is about times.
    package var serverTime: Date?
    /// How many wrong codes or tokens the challenge still takes.
    package var triesLeft: Int?
    /// The lowest version of the protocol that the host speaks.
    package var minimumVersion: Int?
    /// The highest version of the protocol that the host speaks.
    package var maximumVersion: Int?

    package init(
        error: String,
        code: CompanionErrorCode? = nil,
        retryable: Bool? = nil,
        serverTime: Date? = nil,
        triesLeft: Int? = nil,
        minimumVersion: Int? = nil,
        maximumVersion: Int? = nil
    ) {
        self.ok = false
        self.error = error
        self.code = code
        self.retryable = retryable
        self.serverTime = serverTime
        self.triesLeft = triesLeft
        self.minimumVersion = minimumVersion
        self.maximumVersion = maximumVersion
    }

    /// Only `ok` and `error` have to be there: an error is told, whatever else is wrong with the body.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        ok = try container.decode(Bool.self, forKey: .ok)
        error = try container.decode(String.self, forKey: .error)
        code = try? container.decodeIfPresent(CompanionErrorCode.self, forKey: .code)
        retryable = try? container.decodeIfPresent(Bool.self, forKey: .retryable)
        serverTime = try? container.decodeIfPresent(Date.self, forKey: .serverTime)
        triesLeft = try? container.decodeIfPresent(Int.self, forKey: .triesLeft)
        minimumVersion = try? container.decodeIfPresent(Int.self, forKey: .minimumVersion)
        maximumVersion = try? container.decodeIfPresent(Int.self, forKey: .maximumVersion)
    }

    /// The texts that deployed hosts answer with, letter for letter.
    package enum Text {
        /// The request needs a connected device, and there is none.
        package static let noDeviceConnected = "No paired companion device connected"
        /// The assistant's account is not signed in at the host.
        package static let authRequired = "Copilot auth is required on Mac host"
        /// The host shows no code at the moment.
        package static let noActivePairing = "No active pairing session"
        /// The time of the code is over.
        package static let pairingExpired = "Pairing session expired"
        /// The six digits are wrong.
        package static let invalidCode = "Invalid pairing code"
        /// The token of the QR code is wrong.
        package static let invalidToken = "Invalid pairing token"
        /// The device sent no public key when it paired.
        package static let missingPublicKey = "Missing device public key"
        /// The request names no device.
        package static let missingDeviceID = "Missing device id"
        /// The request names no chat.
        package static let missingChatID = "Missing chat id"
        /// The prompt is missing or empty.
        package static let promptRequired = "Prompt is required"
        /// The answer of a pairtool host to plain HTTP at its port of HTTPS.
        package static let httpsOnly =
            "This port speaks HTTPS: use https://. GET /health at the port of HTTP tells which it is."
    }
}
