package import CompanionWire
import FoundationEssentials
import LocalState

/// Stores session tokens in a file of their own, `sessions.json` in the data directory (mode 0600).
///
/// The device's key can get a new token at any time, so a damaged file counts as empty.
package struct SessionTokenStore: Sendable {
    private struct Content: Codable, Equatable {
        var version = 1
        /// Sessions by host id.
        var sessions: [String: SessionGrant] = [:]
    }

    private let file: RecordFile<Content>
    /// The path of `sessions.json`.
    package var path: String { file.path }

    /// - Parameter directory: The tool's data directory.
    package init(directory: String) {
        file = RecordFile(
            directory: directory,
            name: "sessions",
            empty: Content(),
            kind: "the sessions",
            remedy: "move the file away"
        )
    }

    /// The token for a host; nil if there is none. Whether it has expired is the host's to say, by its clock: a token
    /// that the host refuses is replaced.
    ///
    /// - Throws: `RecordFileError` if a newer version wrote the file; `PrivateFile.Failure` if other users may
    ///   have written it.
    package func token(hostID: String) throws -> String? {
        let content: Content
        do {
            content = try file.load()
        } catch let error as RecordFileError where error.isDamage {
            return nil
        }
        return content.sessions[hostID]?.token
    }

    /// Stores a token, replacing the earlier one.
    ///
    /// - Throws: `RecordFileError` if a newer version wrote the file; `PrivateFile.Failure` if it is refused, or cannot
    ///   be read or written.
    package func keep(_ grant: SessionGrant, hostID: String) throws {
        try file.update(replacesDamaged: true) { $0.sessions[hostID] = grant }
    }

    /// Removes the token for a host.
    ///
    /// - Throws: `RecordFileError` if a newer version wrote the file; `PrivateFile.Failure` if it is refused, or cannot
    ///   be read or written.
    package func forget(hostID: String) throws {
        try file.update(replacesDamaged: true) { $0.sessions[hostID] = nil }
    }

    /// Checks that the file is not damaged. Ignores its permissions; a missing file is no error.
    ///
    /// - Throws: `RecordFileError`.
    package func check() throws {
        _ = try file.load(isChecked: false)
    }
}
