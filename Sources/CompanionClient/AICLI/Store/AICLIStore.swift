import CompanionWire
import FoundationEssentials
import Glibc
import Identity
import LocalState

/// The sessions and waiting prompts of one AICLI server, in a folder of files that only their owner can read. Each file
/// is replaced as a whole. Messages are in ``AICLIMessages``, projects in the history.
package struct AICLIStore: Sendable {
    /// The path of the server's folder, which may not exist yet.
    package let directory: String

    /// - Parameters:
    ///   - data: The tool's data directory.
    ///   - hostID: 16 hex digits.
    package init(data: String, hostID: String) {
        // The id is a hash. In any case, keep only characters that are safe in a folder name.
        let name = hostID.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
        directory = "\(data)/aicli/\(name.isEmpty ? "host" : name)"
    }

    /// Reads the sessions. The table is empty if none were stored.
    ///
    /// - Throws: `RecordFileError` if the file is damaged or of a later version; `PrivateFile.Failure` if it cannot be
    ///   read or is refused.
    package func sessions() throws -> AICLISessionTable {
        try sessionFile.load()
    }

    /// Reads, changes and stores the sessions, while no other process does the same. Blocks until it is its turn.
    ///
    /// - Returns: The result of `change`.
    /// - Throws: As ``sessions()`` does; errors of `change` and of writing.
    @discardableResult
    package func updateSessions<R>(_ change: (inout AICLISessionTable) throws -> R) throws -> R {
        try sessionFile.update(change)
    }

    /// The file of waiting prompts. It shares its lock with the sessions.
    package var outboxStore: OutboxStore {
        OutboxStore(path: "\(directory)/outbox.json", lock: lock)
    }

    /// Reads the waiting prompts. The outbox is empty if none were stored.
    ///
    /// - Throws: As ``OutboxStore/load()`` does.
    package func outbox() throws -> Outbox {
        try outboxStore.load()
    }

    /// Changes the waiting prompts, as ``OutboxStore/update(_:)`` does.
    @discardableResult
    package func updateOutbox<R>(_ change: (inout Outbox) throws -> R) throws -> R {
        try outboxStore.update(change)
    }

    /// The paths of the files that are damaged.
    package func damagedFiles() -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.sorted().filter { !isWhole($0) }.map { "\(directory)/\($0)" }
    }

    private func isWhole(_ name: String) -> Bool {
        switch name {
        case "sessions.json": sessionFile.isWhole
        case "outbox.json": outboxStore.isWhole
        default: true
        }
    }

    /// Removes all local data of the server.
    package func removeAll() throws {
        guard FileStatus(directory)?.kind == .directory else { return }
        try FileManager.default.removeItem(atPath: directory)
    }

    /// One for all files of the server.
    private var lock: String { "\(directory)/lock" }

    private var sessionFile: RecordFile<AICLISessionTable> { file("sessions.json", empty: AICLISessionTable()) }

    private func file<Content: Decodable & Sendable>(_ name: String, empty: Content) -> RecordFile<Content> {
        RecordFile(
            path: "\(directory)/\(name)",
            lock: lock,
            limit: 64 << 20,
            decoder: CompanionJSON.decoder(),
            encoder: CompanionJSON.encoder(sorted: true),
            empty: empty,
            remedy: "move it away"
        )
    }
}

extension CompanionProject {
    /// A project's chat: servers have one for each.
    var onlyChat: CompanionChat {
        CompanionChat(
            id: AICLISessionTable.chatID(for: localPath),
            projectId: id,
            title: name,
            lastUpdatedAt: lastUpdatedAt
        )
    }
}

extension AICLIStore {
    /// Its files, as `doctor` looks at them.
    package static let files = FamilyFiles(directory: "aicli") { data, host in
        AICLIStore(data: data, hostID: host).damagedFiles().map { FamilyFiles.Damage($0) }
    }
}

extension WaitingPrompt {
    /// The chat as the host knows it; nil if it is created first.
    package var chat: String? {
        // AICLI's prompts name their chat by its directory.
        chatID ?? (projectID == nil ? AICLISessionTable.chatID(for: workingDirectory) : nil)
    }
}
