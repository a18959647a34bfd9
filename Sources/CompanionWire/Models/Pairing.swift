package import FoundationEssentials

/// The body of `POST /companion/pairing/start`.
package struct PairingStartRequest: Codable, Sendable, Hashable {
    /// Seconds that the challenge shall live. Hosts truncate it and clamp it to 60…900; absent means 300.
    package var ttlSeconds: Double?

    package init(ttlSeconds: Double? = nil) {
        self.ttlSeconds = ttlSeconds
    }
}

/// The answer of `POST /companion/pairing/start`.
package struct PairingStartResponse: Codable, Sendable, Hashable {
    package var ok: Bool
    /// Six decimal digits.
    package var code: String
    /// The time when the challenge ends, by the host's clock.
    package var expiresAt: Date
    /// A ``PairingPayload`` as JSON text.
    package var qrPayload: String

    package init(code: String, expiresAt: Date, qrPayload: String) {
        self.ok = true
        self.code = code
        self.expiresAt = expiresAt
        self.qrPayload = qrPayload
    }
}

/// The body of `POST /companion/pairing/complete`.
package struct PairingCompleteRequest: Codable, Sendable, Hashable {
    /// Six decimal digits, as a string.
    package var pairingCode: String
    /// The token of the QR code; nil when the code was typed.
    package var pairingToken: String?
    /// The name under which the host lists the device.
    package var deviceName: String
    /// The device's Ed25519 public key, standard base64 with padding.
    package var devicePublicKey: String

    package init(pairingCode: String, pairingToken: String?, deviceName: String, devicePublicKey: String) {
        self.pairingCode = pairingCode
        self.pairingToken = pairingToken
        self.deviceName = deviceName
        self.devicePublicKey = devicePublicKey
    }
}
