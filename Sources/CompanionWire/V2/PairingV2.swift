package import FoundationEssentials

/// The kind of secret that proves a pairing (companion-v2, Pairing). Unknown names are kept as they are.
package struct PairingMethod: RawRepresentable, Codable, Sendable, Hashable {
    package let rawValue: String

    package init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Six decimal digits, typed.
    package static let code = PairingMethod(rawValue: "code")
    /// The token of a QR code.
    package static let token = PairingMethod(rawValue: "token")
}

/// The body of `POST /companion/pairing/hello`.
package struct PairingHelloRequest: Codable, Sendable, Hashable {
    /// 16 random bytes, base64url.
    package var clientNonce: String

    package init(clientNonce: String) {
        self.clientNonce = clientNonce
    }
}

/// The answer of `POST /companion/pairing/hello`.
package struct PairingHelloResponse: Codable, Sendable, Hashable {
    /// Names the exchange in the next two steps.
    package var pairingId: String
    /// 16 random bytes, base64url.
    package var hostNonce: String
    /// The host's Ed25519 public key, standard base64.
    package var hostPublicKey: String
    /// The host's name for people: untrusted text until pairing has ended.
    package var hostName: String
    /// The methods that the host accepts at the moment.
    package var methods: [PairingMethod]
    /// When the challenge began, by the host's clock; nil for the first one of a host, and from earlier hosts.
    package var startedAt: Date?
    /// When the challenge ends, by the host's clock.
    package var expiresAt: Date
    /// The host's clock.
    package var serverTime: Date

    package init(
        pairingId: String,
        hostNonce: String,
        hostPublicKey: String,
        hostName: String,
        methods: [PairingMethod],
        startedAt: Date? = nil,
        expiresAt: Date,
        serverTime: Date
    ) {
        self.pairingId = pairingId
        self.hostNonce = hostNonce
        self.hostPublicKey = hostPublicKey
        self.hostName = hostName
        self.methods = methods
        self.startedAt = startedAt
        self.expiresAt = expiresAt
        self.serverTime = serverTime
    }
}

/// The body of `POST /companion/pairing/share`.
package struct PairingShareRequest: Codable, Sendable, Hashable {
    /// The id of the exchange, from the answer to the first step.
    package var pairingId: String
    /// The secret that the device has: the digits or the QR code.
    package var method: PairingMethod
    /// The device's CPace share Ya: 32 bytes, standard base64.
    package var share: String
    /// The name that the host shows for the device.
    package var deviceName: String
    /// The device's Ed25519 public key, standard base64.
    package var devicePublicKey: String
    /// The permissions that the device asks for. Both sides prove the list with its order.
    package var permissions: [CompanionPermission]

    package init(
        pairingId: String,
        method: PairingMethod,
        share: String,
        deviceName: String,
        devicePublicKey: String,
        permissions: [CompanionPermission]
    ) {
        self.pairingId = pairingId
        self.method = method
        self.share = share
        self.deviceName = deviceName
        self.devicePublicKey = devicePublicKey
        self.permissions = permissions
    }
}

/// The answer of `POST /companion/pairing/share`.
package struct PairingShareResponse: Codable, Sendable, Hashable {
    /// The host's CPace share Yb: 32 bytes, standard base64.
    package var share: String

    package init(share: String) {
        self.share = share
    }
}

/// The body of `POST /companion/pairing/confirm`.
package struct PairingConfirmRequest: Codable, Sendable, Hashable {
    /// The id of the exchange, from the answer to the first step.
    package var pairingId: String
    /// The device's tag Ta: 64 bytes, standard base64.
    package var tag: String

    package init(pairingId: String, tag: String) {
        self.pairingId = pairingId
        self.tag = tag
    }
}

/// The answer of `POST /companion/pairing/confirm`. Nothing in it counts before the tag is verified.
package struct PairingConfirmResponse: Codable, Sendable, Hashable {
    /// The host's tag Tb: 64 bytes, standard base64.
    package var tag: String
    /// The device as the host has recorded it.
    package var connectedDevice: ConnectedCompanionDevice
    /// The permissions that the device has from now on: those that it asked for, or fewer.
    package var permissions: [CompanionPermission]
    /// The device's first session.
    package var session: SessionGrant

    package init(
        tag: String,
        connectedDevice: ConnectedCompanionDevice,
        permissions: [CompanionPermission],
        session: SessionGrant
    ) {
        self.tag = tag
        self.connectedDevice = connectedDevice
        self.permissions = permissions
        self.session = session
    }
}

/// The versions of the companion protocol that this build speaks, and how they are named.
package enum ProtocolVersion {
    /// The header of a request that says which version it speaks; absent means 1.
    package static let header = "X-CopilotForge-Companion-Version"
    /// The header of a request by which a device says how it came; see `HostRoute.Rung`. For people only.
    package static let viaHeader = "X-CopilotForge-Companion-Via"
    /// The lowest version that this build speaks.
    package static let minimum = 1
    /// The highest version that this build speaks.
    package static let maximum = 2
}
