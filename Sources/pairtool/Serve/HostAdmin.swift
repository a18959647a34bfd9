import CompanionApp
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
        result(device, id: device.id, text: text)
    }
}

extension AdminDevice {
    /// The device's permissions as text for the user.
    var rights: String {
        if isRevoked == true { return "nothing: revoked, but not stored yet" }
        return permissions.isEmpty ? "read" : permissions.map(\.rawValue).joined(separator: ", ")
    }
}
