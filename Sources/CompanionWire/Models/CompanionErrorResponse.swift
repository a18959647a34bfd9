/// The JSON body of a failed request: `{ok:false, error:"text"}`.
package struct CompanionErrorResponse: Codable, Sendable, Hashable, Error {
    package var ok: Bool
    package var error: String

    package init(error: String) {
        self.ok = false
        self.error = error
    }

    /// The texts that deployed hosts answer with, letter for letter.
    package enum Text {
        package static let noDeviceConnected = "No paired companion device connected"
        package static let authRequired = "Copilot auth is required on Mac host"
        package static let noActivePairing = "No active pairing session"
        package static let pairingExpired = "Pairing session expired"
        package static let invalidCode = "Invalid pairing code"
        package static let invalidToken = "Invalid pairing token"
        package static let missingPublicKey = "Missing device public key"
        package static let missingDeviceID = "Missing device id"
        package static let missingChatID = "Missing chat id"
        package static let promptRequired = "Prompt is required"
    }
}
