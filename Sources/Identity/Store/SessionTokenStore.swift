package import CompanionWire
package import FoundationEssentials
internal import LocalState

/// Stores session tokens in a file of their own, `sessions.json` in the data directory (mode 0600).
///
/// The device's key can get a new token at any time, so a damaged file counts as empty.
package struct SessionTokenStore: Sendable {
    package let path: String
    private let directory: String

    private struct Content: Codable, Equatable {
        var version = 1
        /// Sessions by host id.
        var sessions: [String: SessionGrant] = [:]
    }

    /// - Parameter directory: The tool's data directory.
    package init(directory: String) {
        self.directory = directory
        path = directory + "/sessions.json"
    }

    /// The token for a host; nil if there is none or it has expired.
    ///
    /// - Throws: ``PrivateFile/Failure`` if other users may have written the file.
    package func token(hostID: String, now: Date) throws -> String? {
        guard let grant = try load().sessions[hostID], grant.expiresAt > now else { return nil }
        return grant.token
    }

    /// Stores a token, replacing the earlier one.
    package func keep(_ grant: SessionGrant, hostID: String) throws {
        try update { $0.sessions[hostID] = grant }
    }

    /// Removes the token for a host.
    package func forget(hostID: String) throws {
        try update { $0.sessions[hostID] = nil }
    }

    /// Checks that the file is not damaged. Ignores its permissions; a missing file is no error.
    ///
    /// - Throws: ``PairedHostStoreError``.
    package func check() throws {
        guard let bytes = try PrivateFile.readRecord(path, isChecked: false), !bytes.isEmpty else { return }
        guard (try? CompanionJSON.decoder().decode(Content.self, from: Data(bytes))) == nil else { return }
        throw PairedHostStoreError(
            description: "the sessions in \(path) are damaged",
            remedy: "move the file away: mv '\(path)' '\(path).damaged'"
        )
    }

    private func load() throws -> Content {
        guard let bytes = try PrivateFile.readRecord(path), !bytes.isEmpty else { return Content() }
        return (try? CompanionJSON.decoder().decode(Content.self, from: Data(bytes))) ?? Content()
    }

    private func update(_ change: (inout Content) -> Void) throws {
        try PrivateFile.update(
            path,
            lock: directory + "/sessions.lock",
            encoder: CompanionJSON.encoder(sorted: true),
            load: load,
            change
        )
    }
}
