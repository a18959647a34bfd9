package import CompanionWire
package import FoundationEssentials

/// Keeps the tokens of sessions in a file of their own, `sessions.json` in the data directory (mode 0600).
///
/// A token can be had anew with the device's key, so a file that is damaged counts as empty.
package struct SessionTokenStore: Sendable {
    package let path: String
    private let directory: String

    private struct Content: Codable, Equatable {
        var version = 1
        /// By the host's id.
        var sessions: [String: SessionGrant] = [:]
    }

    /// - Parameter directory: The tool's data directory.
    package init(directory: String) {
        self.directory = directory
        path = directory + "/sessions.json"
    }

    /// The token for a host, unless its time is over.
    ///
    /// - Throws: ``PrivateFile/Failure`` for a file that others can have written.
    package func token(hostID: String, now: Date) throws -> String? {
        guard let grant = try load().sessions[hostID], grant.expiresAt > now else { return nil }
        return grant.token
    }

    /// Keeps a token in place of the last one.
    package func keep(_ grant: SessionGrant, hostID: String) throws {
        try update { $0.sessions[hostID] = grant }
    }

    /// Forgets the token for a host.
    package func forget(hostID: String) throws {
        try update { $0.sessions[hostID] = nil }
    }

    /// Whether the file is whole, whoever else may use it; one that is not there is.
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
        try PrivateFile.update(path, lock: directory + "/sessions.lock", load: load, change)
    }
}
