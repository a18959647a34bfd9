internal import FoundationEssentials

/// Who this workstation is to its hosts: the public half of its Ed25519 key pair.
package struct DeviceIdentity: Sendable, Hashable {
    /// 32 bytes.
    package let publicKey: [UInt8]

    /// The public key as it goes over the wire: standard base64 with padding, 44 characters.
    package var publicKeyText: String { Data(publicKey).base64EncodedString() }

    /// The id under which hosts list this device.
    package var deviceID: String { Self.deviceID(publicKeyText: publicKeyText) }

    /// The id that hosts give to a device: the first 16 hex digits of SHA-256 over the trimmed text of its public key.
    package static func deviceID(publicKeyText: String) -> String {
        let start = publicKeyText.firstIndex { !$0.isWhitespace } ?? publicKeyText.endIndex
        let trimmed = publicKeyText[start...].reversed().drop { $0.isWhitespace }.reversed()
        return shortHash(String(trimmed))
    }

    /// The first 16 hex digits of SHA-256 over a text: a label, not a proof.
    package static func shortHash(_ text: String) -> String {
        Sodium.sha256(Array(text.utf8)).prefix(8).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }
}
