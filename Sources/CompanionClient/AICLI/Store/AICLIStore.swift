import CompanionWire
import FoundationEssentials
import Glibc
import Identity
import LocalState

/// The projects of a server as earlier versions kept them, and when they were listed. They are moved to the history.
struct AICLIListing: Decodable, Sendable {
    var projects: [CompanionProject] = []
    var listedAt = Date.distantPast
}

/// What one AICLI server needs of this machine: sessions and waiting prompts. A folder of files that only their owner
/// can read; each file is replaced as a whole. Messages are in ``AICLIMessages``, projects in the history.
package struct AICLIStore: Sendable {
    package let directory: String

    /// - Parameters:
    ///   - data: The tool's data directory.
    ///   - hostID: 16 hex digits.
    package init(data: String, hostID: String) {
        // The id is a hash. In any case, keep only characters that are safe in a folder name.
        let name = hostID.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
        directory = "\(data)/aicli/\(name.isEmpty ? "host" : name)"
    }

    package func sessions() throws -> AICLISessionTable {
        try sessionFile.load()
    }

    @discardableResult
    package func updateSessions<R>(_ change: (inout AICLISessionTable) throws -> R) throws -> R {
        try sessionFile.update(change)
    }

    package var outboxStore: OutboxStore {
        OutboxStore(path: "\(directory)/outbox.json", lock: lock)
    }

    package func outbox() throws -> Outbox {
        try outboxStore.load()
    }

    @discardableResult
    package func updateOutbox<R>(_ change: (inout Outbox) throws -> R) throws -> R {
        try outboxStore.update(change)
    }

    /// The projects that an earlier version kept; nil if there are none.
    func oldListing() throws -> AICLIListing? {
        try listingFile.stored()
    }

    func removeOldListing() {
        // Another process may have done it.
        unlink("\(directory)/projects.json")
    }

    /// What an earlier version kept of a chat; nil if there is nothing.
    func transcript(chatID: String) throws -> AICLITranscript? {
        try transcriptFile(Self.transcriptName(chatID)).stored()
    }

    func removeTranscript(chatID: String) {
        // Another process may have done it.
        unlink("\(directory)/\(Self.transcriptName(chatID))")
    }

    /// Whether an earlier version kept messages that were not moved yet.
    var hasTranscripts: Bool {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.contains { $0.begins(with: "chat-") && $0.ends(with: ".json") }
    }

    /// The paths of the files that are damaged.
    package func damagedFiles() -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.sorted().filter { !isWhole($0) }.map { "\(directory)/\($0)" }
    }

    private func isWhole(_ name: String) -> Bool {
        switch name {
        case "sessions.json": sessionFile.isWhole
        case "projects.json": listingFile.isWhole
        case "outbox.json": outboxStore.isWhole
        case _ where name.begins(with: "chat-") && name.ends(with: ".json"): transcriptFile(name).isWhole
        default: true
        }
    }

    /// Removes all local data of the server.
    package func removeAll() throws {
        guard FileStatus(directory)?.kind == .directory else { return }
        try FileManager.default.removeItem(atPath: directory)
    }

    private static func transcriptName(_ chatID: String) -> String {
        "chat-\(DeviceIdentity.shortHash(chatID)).json"
    }

    /// One for all files of the server.
    private var lock: String { "\(directory)/lock" }

    private var sessionFile: RecordFile<AICLISessionTable> { file("sessions.json", empty: AICLISessionTable()) }

    private var listingFile: RecordFile<AICLIListing> { file("projects.json", empty: AICLIListing()) }

    private func transcriptFile(_ name: String) -> RecordFile<AICLITranscript> {
        file(name, empty: AICLITranscript(messages: []))
    }

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

extension FamilyFiles {
    /// What ``AICLIStore`` keeps.
    package static let aicli = FamilyFiles(directory: "aicli") { data, host in
        AICLIStore(data: data, hostID: host).damagedFiles().map { Damage($0) }
    }
}

/// The messages of a chat as earlier versions kept them, in a file of their own. They are moved to the history.
struct AICLITranscript: Decodable, Sendable {
    var messages: [CompanionMessage]
}

extension WaitingPrompt {
    /// The chat as the host knows it; nil if it is created first.
    package var chat: String? {
        // AICLI's prompts name their chat by its directory.
        chatID ?? (projectID == nil ? AICLISessionTable.chatID(for: workingDirectory) : nil)
    }
}
