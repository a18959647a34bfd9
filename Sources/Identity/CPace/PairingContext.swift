package import CompanionWire

/// The secret that a pairing proves. It is never sent.
package enum PairingSecret: Sendable {
    /// Six decimal digits.
    case code(String)
    /// The token of a QR code.
    case token(String)

    /// The name of the method. The host gets it with the share, and both sides prove it.
    package var method: PairingMethod {
        switch self {
        case .code: .code
        case .token: .token
        }
    }

    /// The draft's PRS: the method's name, a colon and the secret.
    func passwordRelatedString() throws(KeyStoreError) -> SecretBytes {
        let text =
            switch self {
            case .code(let text), .token(let text): text
            }
        let mark = method.rawValue + ":"
        var bytes = try SecretBytes(count: mark.utf8.count + text.utf8.count)
        bytes.withUnsafeMutableBytes { buffer in
            buffer.copyBytes(from: mark.utf8)
            UnsafeMutableRawBufferPointer(rebasing: buffer[mark.utf8.count...]).copyBytes(from: text.utf8)
        }
        return bytes
    }
}

/// Everything that both sides of a pairing have to agree on: if any of it differs, their tags differ.
///
/// Names, keys and ids are the texts exactly as they were sent.
package struct PairingContext: Sendable, Hashable {
    /// 16 bytes, from `hello`.
    package var clientNonce: [UInt8]
    /// 16 bytes, from the answer to `hello`.
    package var hostNonce: [UInt8]
    /// SHA-256 over the SubjectPublicKeyInfo of the host's TLS key, 32 bytes. The device takes the key from its own
    /// connection, the host takes its own.
    package var spki: [UInt8]
    /// 16 hex digits, derived from the host's public key.
    package var hostID: String
    /// In base64.
    package var hostPublicKey: String
    /// The host's name, which both sides bind to the exchange.
    package var hostName: String
    /// In base64.
    package var devicePublicKey: String
    /// The device's name, which both sides bind to the exchange.
    package var deviceName: String
    /// The permissions that the device requests, in the order sent.
    package var permissions: [CompanionPermission]

    package init(
        clientNonce: [UInt8],
        hostNonce: [UInt8],
        spki: [UInt8],
        hostID: String,
        hostPublicKey: String,
        hostName: String,
        devicePublicKey: String,
        deviceName: String,
        permissions: [CompanionPermission]
    ) {
        self.clientNonce = clientNonce
        self.hostNonce = hostNonce
        self.spki = spki
        self.hostID = hostID
        self.hostPublicKey = hostPublicKey
        self.hostName = hostName
        self.devicePublicKey = devicePublicKey
        self.deviceName = deviceName
        self.permissions = permissions
    }

    var sid: [UInt8] { clientNonce + hostNonce }

    /// CI of the draft.
    var channelIdentifier: [UInt8] { lvCat(Array("copilotforge-pair-v2".utf8), spki, Array(hostID.utf8)) }

    /// ADa of the draft.
    func deviceData(method: PairingMethod) -> [UInt8] {
        let permissions = permissions.map(\.rawValue).joined(separator: ",")
        return lvCat(["device", method.rawValue, devicePublicKey, deviceName, permissions].map { Array($0.utf8) })
    }

    /// ADb of the draft.
    var hostData: [UInt8] { lvCat(["host", hostPublicKey, hostName].map { Array($0.utf8) }) }

    func check() throws(PairingExchangeError) {
        guard clientNonce.count == 16, hostNonce.count == 16, spki.count == 32 else {
            throw PairingExchangeError(.badContext, message: "a pairing needs nonces of 16 bytes and a pin of 32")
        }
        // Different lists of permissions must not give the same text.
        guard permissions.allSatisfy({ !$0.rawValue.isEmpty && !$0.rawValue.utf8.contains(UInt8(ascii: ",")) }) else {
            throw PairingExchangeError(.badContext, message: "the name of a permission is empty or holds a comma")
        }
    }
}
