internal import CompanionWire
internal import FoundationEssentials
internal import LocalState

/// Stores the secrets that users got from hosts (such as the token of an AICLI server) in a file of their own,
/// `secrets.json` in the data directory (mode 0600), by host id.
package struct HostSecretStore: Sendable {
    package let path: String
    private let directory: String

    private struct Content: Codable, Equatable {
        var version = 1
        var secrets: [String: String] = [:]
    }

    /// - Parameter directory: The tool's data directory.
    package init(directory: String) {
        self.directory = directory
        path = directory + "/secrets.json"
    }

    /// The secret for a host; nil if none is stored.
    ///
    /// - Throws: ``PairedHostStoreError`` if the file is damaged, because a secret cannot be requested again;
    ///   ``PrivateFile/Failure`` if other users may have written it.
    package func load(hostID: String) throws -> String? {
        try load(isChecked: true).secrets[hostID]
    }

    /// Stores a secret, replacing the earlier one.
    package func keep(_ secret: String, hostID: String) throws {
        try update { $0.secrets[hostID] = secret }
    }

    /// Removes the secret for a host.
    package func forget(hostID: String) throws {
        try update { $0.secrets[hostID] = nil }
    }

    /// Checks that the file is not damaged. Ignores its permissions; a missing file is no error.
    ///
    /// - Throws: ``PairedHostStoreError``.
    package func check() throws {
        _ = try load(isChecked: false)
    }

    private func load(isChecked: Bool) throws -> Content {
        guard let bytes = try PrivateFile.readRecord(path, isChecked: isChecked) else { return Content() }
        guard let content = try? CompanionJSON.decoder().decode(Content.self, from: Data(bytes)) else {
            throw PairedHostStoreError(
                description: "the secrets of hosts in \(path) are damaged",
                remedy: "move the file away and pair with those hosts again: mv '\(path)' '\(path).damaged'"
            )
        }
        return content
    }

    private func update(_ change: (inout Content) -> Void) throws {
        try PrivateFile.update(
            path,
            lock: directory + "/secrets.lock",
            encoder: CompanionJSON.encoder(sorted: true),
            load: { try load(isChecked: true) },
            change
        )
    }
}
