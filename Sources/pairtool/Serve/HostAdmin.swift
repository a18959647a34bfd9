import CompanionHost
import CompanionWire
import FoundationEssentials
import LocalState

extension Output {
    /// The admin socket of this user's host.
    var adminPath: String { context.paths.runtime + "/host.sock" }

    /// Sends a request to this user's host.
    func ask(_ request: AdminRequest) async throws -> AdminResponse {
        try await AdminClient(path: adminPath).send(request)
    }

    /// The host's device that the user named.
    func adminDevice(_ word: String) async throws -> AdminDevice {
        try NameMatch.find(
            word,
            in: try await ask(AdminRequest(.devices)).devices ?? [],
            kind: "device",
            listing: "pairtool host devices",
            ids: { [$0.id] },
            names: { [$0.name] }
        )
    }

    /// Writes one device, with a sentence about it in text output.
    func adminDevice(_ device: AdminDevice, text: () -> String) {
        result(AdminDeviceRow(device), id: device.id, text: text)
    }
}

/// A device of the host, in JSON.
struct AdminDeviceRow: Encodable {
    var id: String
    var name: String
    var permissions: [String]
    var expiresAt: Date?
    var protocolVersion: Int
    var pairedAt: Date
    var lastSeenAt: Date
    /// true if the device is revoked but the host could not store that yet.
    var isRevoked: Bool?

    init(_ device: AdminDevice) {
        id = device.id
        name = device.name
        permissions = device.permissions.map(\.rawValue)
        expiresAt = device.expiresAt
        protocolVersion = device.protocolVersion
        pairedAt = device.pairedAt
        lastSeenAt = device.lastSeenAt
        isRevoked = device.isRevoked
    }

    /// The device's permissions as text for the user.
    var rights: String {
        if isRevoked == true { return "nothing: revoked, but not stored yet" }
        return permissions.isEmpty ? "read" : permissions.joined(separator: ", ")
    }
}
