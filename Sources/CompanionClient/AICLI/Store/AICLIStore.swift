import CompanionWire
import FoundationEssentials
import Glibc
import Identity
import LocalState

/// The projects of a server, and when they were listed.
struct AICLIListing: Codable, Sendable, Hashable {
    var version = 1
    var projects: [CompanionProject] = []
    var listedAt = Date.distantPast
}

/// What one AICLI server needs of this machine: sessions, waiting prompts, and the projects that they are for. A folder
/// of files that only their owner can read; each file is replaced as a whole. Messages are in ``AICLIMessages``.
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
        try load("sessions.json") ?? AICLISessionTable()
    }

    @discardableResult
    package func updateSessions<R>(_ change: (inout AICLISessionTable) throws -> R) throws -> R {
        try update("sessions.json", AICLISessionTable(), change)
    }

    /// The projects that the server last listed; nil if there are none yet.
    func listing() throws -> AICLIListing? {
        try load("projects.json")
    }

    func keep(_ projects: [CompanionProject], at now: Date) throws {
        try update("projects.json", AICLIListing()) {
            // Do not write the file every time only to update the date.
            guard $0.projects != projects || now.timeIntervalSince($0.listedAt) > 60 else { return }
            $0 = AICLIListing(projects: projects, listedAt: now)
        }
    }

    package var outboxStore: OutboxStore {
        OutboxStore(path: "\(directory)/outbox.json", lock: "\(directory)/lock")
    }

    package func outbox() throws -> Outbox {
        try outboxStore.load()
    }

    @discardableResult
    package func updateOutbox<R>(_ change: (inout Outbox) throws -> R) throws -> R {
        try outboxStore.update(change)
    }

    /// What an earlier version kept of a chat; nil if there is nothing.
    func transcript(chatID: String) throws -> AICLITranscript? {
        try load(Self.transcriptName(chatID))
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
        do {
            switch name {
            case "sessions.json": _ = try sessions()
            case "projects.json": _ = try listing()
            case "outbox.json": _ = try outbox()
            case _ where name.begins(with: "chat-") && name.ends(with: ".json"):
                _ = try load(name, as: AICLITranscript.self)
            default: break
            }
            return true
        } catch let error as PrivateFile.Failure where error.remedy != nil {
            // The file's owner or mode is wrong, so it was not read.
            return true
        } catch {
            return false
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

    /// - Throws: ``PairedHostStoreError`` if the file is damaged, ``PrivateFile/Failure`` if others can have written
    ///   it. The file is left unchanged.
    private func load<Value: Decodable>(_ name: String, as: Value.Type = Value.self) throws -> Value? {
        let path = "\(directory)/\(name)"
        guard let bytes = try PrivateFile.readRecord(path, limit: 64 << 20) else { return nil }
        do {
            return try CompanionJSON.decoder().decode(Value.self, from: Data(bytes))
        } catch {
            throw PairedHostStoreError(
                description: "\(path) is damaged",
                remedy: "move it away: mv '\(path)' '\(path).damaged'"
            )
        }
    }

    private func update<Value: Codable & Equatable, R>(
        _ name: String,
        _ empty: Value,
        _ change: (inout Value) throws -> R
    ) throws -> R {
        try PrivateFile.update(
            "\(directory)/\(name)",
            lock: "\(directory)/lock",
            encoder: CompanionJSON.encoder(sorted: true),
            load: { try load(name) ?? empty },
            change
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
