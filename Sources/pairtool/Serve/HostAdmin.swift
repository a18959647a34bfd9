import CompanionApp
import CompanionClient
import CompanionWire
import LocalState
import Terminal

extension Output {
    /// The admin socket of this user's host.
    var adminPath: String { context.paths.runtime + "/host.sock" }

    /// This user's host, asked by its owner.
    var owner: AdminClient { AdminClient(path: adminPath) }

    /// The host's device that the user named.
    func ownDevice(_ word: String) async throws -> AdminDevice {
        try NameMatch.find(
            word,
            in: try await owner.devices(),
            kind: "device",
            listing: "pairtool host devices",
            ids: { [$0.id] },
            names: { [$0.name] }
        )
    }
}

extension AdminDevice {
    /// The device's permissions as text for the user.
    var rights: String {
        if isRevoked == true { return "nothing: revoked, but not stored yet" }
        return permissions.rights
    }
}
