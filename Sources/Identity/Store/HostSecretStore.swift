import LocalState

/// Stores the secrets that users got from hosts (such as the token of an AICLI server) in a file of their own,
/// `secrets.json` in the data directory (mode 0600), by host id.
package struct HostSecretStore: Sendable {
    private struct Content: Codable, Equatable {
        var version = 1
        var secrets: [String: String] = [:]
    }

    private let file: RecordFile<Content>
    /// The path of `secrets.json`.
    package var path: String { file.path }

    /// - Parameter directory: The tool's data directory.
    package init(directory: String) {
        file = RecordFile(
            directory: directory,
            name: "secrets",
            empty: Content(),
            kind: "the secrets of hosts",
            remedy: "move the file away and pair with those hosts again"
        )
    }

    /// The secret for a host; nil if none is stored.
    ///
    /// - Throws: `RecordFileError` if the file is damaged, because a secret cannot be requested again;
    ///   `PrivateFile.Failure` if other users may have written it.
    package func load(hostID: String) throws -> String? {
        try file.load().secrets[hostID]
    }

    /// Stores a secret, replacing the earlier one.
    ///
    /// - Throws: `RecordFileError` if the file is damaged or was written by a newer version; `PrivateFile.Failure` if
    ///   it is refused, or cannot be read or written.
    package func keep(_ secret: String, hostID: String) throws {
        try file.update { $0.secrets[hostID] = secret }
    }

    /// Removes the secret for a host.
    ///
    /// - Throws: `RecordFileError` if the file is damaged or was written by a newer version; `PrivateFile.Failure` if
    ///   it is refused, or cannot be read or written.
    package func forget(hostID: String) throws {
        try file.update { $0.secrets[hostID] = nil }
    }

    /// Checks that the file is not damaged. Ignores its permissions; a missing file is no error.
    ///
    /// - Throws: `RecordFileError`.
    package func check() throws {
        _ = try file.load(isChecked: false)
    }
}
