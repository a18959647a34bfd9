import CompanionWire
import FoundationEssentials
import PairingAgent

/// The projects of a server, and when it listed them.
struct AICLIListing: Codable, Sendable, Hashable {
    var version = 1
    var projects: [CompanionProject] = []
    var listedAt = Date.distantPast
}

/// What this machine keeps of one AICLI server: sessions, prompts that wait, and what was said. A folder of files that
/// only their owner may read, each replaced as a whole.
package struct AICLIStore: Sendable {
    package let directory: String

    /// - Parameters:
    ///   - data: The tool's data directory.
    ///   - hostID: 16 hex digits.
    package init(data: String, hostID: String) {
        // The id is a hash; whatever else it may be, it stays one name of a folder.
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

    /// The projects as the server listed them last; nil where it never did.
    func projects() throws -> AICLIListing? {
        try load("projects.json")
    }

    func keep(_ projects: [CompanionProject], at now: Date) throws {
        try update("projects.json", AICLIListing()) {
            // A date alone is not worth a write at every look.
            guard $0.projects != projects || now.timeIntervalSince($0.listedAt) > 60 else { return }
            $0 = AICLIListing(projects: projects, listedAt: now)
        }
    }

    package func outbox() throws -> AICLIOutbox {
        try load("outbox.json") ?? AICLIOutbox()
    }

    @discardableResult
    package func updateOutbox<R>(_ change: (inout AICLIOutbox) throws -> R) throws -> R {
        try update("outbox.json", AICLIOutbox(), change)
    }

    /// - Parameter chatID: See ``AICLISessionTable/chatID(for:)``.
    package func transcript(chatID: String) throws -> AICLITranscript {
        try load(Self.transcriptName(chatID)) ?? AICLITranscript()
    }

    @discardableResult
    package func updateTranscript<R>(
        chatID: String,
        _ change: (inout AICLITranscript) throws -> R
    ) throws -> R {
        try update(Self.transcriptName(chatID), AICLITranscript(), change)
    }

    /// The paths of the files that do not hold what they should.
    package func damagedFiles() -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.sorted().filter { !isWhole($0) }.map { "\(directory)/\($0)" }
    }

    private func isWhole(_ name: String) -> Bool {
        do {
            switch name {
            case "sessions.json": _ = try sessions()
            case "projects.json": _ = try projects()
            case "outbox.json": _ = try outbox()
            case _ where name.begins(with: "chat-") && name.ends(with: ".json"):
                _ = try load(name, as: AICLITranscript.self)
            default: break
            }
            return true
        } catch let error as PrivateFile.Failure where error.remedy != nil {
            // Refused, and not looked at.
            return true
        } catch {
            return false
        }
    }

    /// Removes all that is kept of the server.
    package func removeAll() throws {
        guard PrivateFile.isDirectory(directory) else { return }
        try FileManager.default.removeItem(atPath: directory)
    }

    private static func transcriptName(_ chatID: String) -> String {
        "chat-\(DeviceIdentity.shortHash(chatID)).json"
    }

    /// - Throws: ``PairedHostStoreError`` for a file that is damaged, ``PrivateFile/Failure`` for one that others can
    ///   have written; it is left as it is.
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
            load: { try load(name) ?? empty },
            change
        )
    }
}
