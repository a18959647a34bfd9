package import CompanionWire
package import FoundationEssentials
import History
import LocalState

/// The data of one Lumi host: the files that were pulled from it, unchanged, and the data that was made on this
/// machine. Conversations are here only until they are moved to the history: ``LumiConversations``.
///
/// Everything is in one directory of the host's own: files 0600, directory 0700, each written so that a crash or a full
/// disk leaves the old or the new one.
package struct LumiStore: Sendable {
    /// The most bytes that a pulled file may have: a frame of the protocol holds fewer.
    package static let sizeLimit = 8 << 20

    /// The host's directory; made when something is first written.
    package let directory: String

    package init(directory: String) {
        self.directory = directory
    }

    /// - Parameters:
    ///   - data: The tool's data directory.
    ///   - hostID: The id of the host's record: made here, of hexadecimal digits.
    package init(data: String, hostID: String) {
        precondition(hostID.allSatisfy(\.isHexDigit), "a host's id names a directory")
        self.init(directory: "\(data)/lumi/\(hostID)")
    }

    /// The path of a pulled file, which may not exist yet.
    package func path(of file: LumiSyncFile) -> String { "\(directory)/\(file.name)" }

    /// Puts a pulled file in the place of the last one.
    ///
    /// - Throws: ``LumiStoreError``, with nothing changed, where the bytes are not what the file should hold.
    package func replace(_ file: LumiSyncFile, with bytes: [UInt8]) throws(LumiStoreError) {
        guard bytes.count <= Self.sizeLimit else {
            throw LumiStoreError(
                .tooLarge,
                message: "The file \(file.name) has more than \(Self.sizeLimit >> 20) MiB; it was not stored."
            )
        }
        do {
            try Self.check(bytes, of: file)
        } catch {
            // What does not decode may be secret: nothing of it goes into the message.
            throw LumiStoreError(
                .malformed,
                message: "The file \(file.name) has unexpected content; it was not stored."
            )
        }
        try write(bytes, to: path(of: file))
    }

    /// The agents as they were pulled; nil where they never were. ``loadAgents()`` has those made here too.
    func loadPulledAgents() throws(LumiStoreError) -> LumiItems<LumiAgent>? {
        try load(.agents)
    }

    /// The automations; nil where they were never pulled.
    package func loadAutomations() throws(LumiStoreError) -> LumiItems<LumiAutomation>? {
        try load(.automations)
    }

    /// The keys of providers; nil where they were never pulled.
    package func loadAPIKeys() throws(LumiStoreError) -> LumiAPIKeys? {
        try load(.apiKeys)
    }

    /// The paths of the pulled files that do not hold what they should.
    package func damagedPulledFiles() -> [String] {
        LumiSyncFile.allCases.filter { file in
            do {
                if let bytes = try PrivateFile.read(path(of: file), limit: 64 << 20) { try Self.check(bytes, of: file) }
                return false
            } catch {
                return true
            }
        }.map(path)
    }

    private static func check(_ bytes: [UInt8], of file: LumiSyncFile) throws {
        let data = Data(bytes)
        let decoder = LumiJSON.decoder()
        switch file {
        case .agents: _ = try decoder.decode(LumiItems<LumiAgent>.self, from: data)
        case .conversations: _ = try decoder.decode(LumiItems<LumiConversation>.self, from: data)
        case .automations: _ = try decoder.decode(LumiItems<LumiAutomation>.self, from: data)
        case .settings: _ = try decoder.decode([String: AnyJSON].self, from: data)
        case .apiKeys: _ = try decoder.decode(LumiAPIKeys.self, from: data)
        case .health: _ = try decoder.decode(AnyJSON.self, from: data)
        }
    }

    /// Takes every JSON: what is in it is not used here.
    private struct AnyJSON: Decodable {
        init(from decoder: any Decoder) {}
    }
}

extension LumiStore {
    private func load<Content: Decodable>(_ file: LumiSyncFile) throws(LumiStoreError) -> Content? {
        try read(path(of: file), remedy: "pull it again: pairtool lumi sync")
    }

    private struct Version: Decodable {
        var version: Int
    }

    /// Reads JSON from a file of the store; nil where there is none.
    ///
    /// - Parameters:
    ///   - newest: The version of the file's format that this program writes. Default: the file has none.
    ///   - remedy: What helps where the file is damaged.
    func read<Content: Decodable>(
        _ path: String,
        newest: Int? = nil,
        remedy: String
    ) throws(LumiStoreError) -> Content? {
        let read: (content: Content, bytes: [UInt8])? = try readWithBytes(path, newest: newest, remedy: remedy)
        return read?.content
    }

    /// As ``read(_:newest:remedy:)``, with the bytes of the file.
    func readWithBytes<Content: Decodable>(
        _ path: String,
        newest: Int? = nil,
        remedy: String
    ) throws(LumiStoreError) -> (content: Content, bytes: [UInt8])? {
        let bytes: [UInt8]?
        do {
            bytes = try PrivateFile.readRecord(path, limit: 64 << 20)
        } catch {
            throw LumiStoreError(
                .unusable,
                message: "the data stored for the host cannot be read: \(error)",
                remedy: error.remedy
            )
        }
        guard let bytes else { return nil }
        let (decoder, data) = (LumiJSON.decoder(), Data(bytes))
        // The rest of a newer file may have another shape.
        if let newest, let version = try? decoder.decode(Version.self, from: data).version, version > newest {
            throw LumiStoreError(
                .newer,
                message: "\(path) was written by a newer version of pairtool",
                remedy: "update pairtool"
            )
        }
        do {
            return (content: try decoder.decode(Content.self, from: data), bytes: bytes)
        } catch {
            throw LumiStoreError(.damaged, message: "\(path) is damaged", remedy: remedy)
        }
    }

    func write(_ bytes: [UInt8], to path: String) throws(LumiStoreError) {
        do {
            try bytes.withUnsafeBytes { try PrivateFile.write($0, to: path) }
        } catch {
            throw LumiStoreError(.unusable, message: "it cannot be stored: \(error)")
        }
    }

    /// Writes JSON to a file of the store.
    func writeJSON(_ content: some Encodable, to path: String) throws(LumiStoreError) {
        let data: Data
        do {
            data = try LumiJSON.encoder().encode(content)
        } catch {
            throw LumiStoreError(.unusable, message: "it cannot be stored: it cannot be encoded")
        }
        try write(Array(data), to: path)
    }

    /// Runs a body while no other process changes what was made here.
    func withLock<R>(_ body: () throws -> R) throws -> R {
        try FileLock.withBlocking(directory + "/lock", body)
    }

    func lockAwaited<R>(_ body: () async throws -> R) async throws -> R {
        try await FileLock.with(directory + "/lock", onWait: {}) { _ in try await body() }
    }
}

/// Agents that were made, changed or deleted here: apart from what was pulled, so that no pull undoes it, and nothing
/// of it goes to the Mac.
extension LumiStore {
    /// The origin of an agent.
    package enum AgentOrigin: String, Sendable, Codable {
        case pulled
        /// Pulled, and changed here: a copy counts in its place.
        case edited
        case here
    }

    private struct OwnAgents: Codable {
        var version = 1
        /// Those made here, and the copies of pulled ones.
        var agents: [LumiAgent] = []
        /// Those that are not shown if they are pulled.
        var deleted: Set<UUID> = []
    }

    var ownAgentsPath: String { directory + "/agents_here.json" }

    /// The agents as they were pulled, with what was done to them here; nil where none were pulled or made.
    package func loadAgents() throws(LumiStoreError) -> LumiItems<LumiAgent>? {
        let pulled = try loadPulledAgents()
        guard let own = try ownAgents() else { return pulled }
        var list = pulled ?? LumiItems()
        let copies = Dictionary(own.agents.map { ($0.id, $0) }) { $1 }
        let known = Set(list.items.map(\.id))
        list.items = list.items.filter { !own.deleted.contains($0.id) }.map { copies[$0.id] ?? $0 }
        list.items += own.agents.filter { !known.contains($0.id) }
        return list
    }

    /// Returns the origin of an agent: `here` if it was not pulled. For many agents, use ``origins()``.
    package func origin(of id: UUID) throws(LumiStoreError) -> AgentOrigin { try origins()(id) }

    /// Reads the files once, and returns a function that gives the origin of each agent by its id.
    package func origins() throws(LumiStoreError) -> (UUID) -> AgentOrigin {
        let pulled = Set(try loadPulledAgents()?.items.map(\.id) ?? [])
        let own = Set(try ownAgents()?.agents.map(\.id) ?? [])
        return { id in pulled.contains(id) ? own.contains(id) ? .edited : .pulled : .here }
    }

    /// Keeps a new agent, or a changed one. A pulled one stays as it is beneath its copy.
    package func keep(_ agent: LumiAgent) throws {
        try changeAgents { own in
            own.agents.removeAll { $0.id == agent.id }
            own.agents.append(agent)
            own.deleted.remove(agent.id)
        }
    }

    /// Deletes an agent here. A pulled one stays hidden until it is restored, even if the Mac lists it again.
    package func delete(_ id: UUID) throws {
        try changeAgents { own in
            own.agents.removeAll { $0.id == id }
            own.deleted.insert(id)
        }
    }

    /// The pulled agents that were changed or deleted here, as they were pulled.
    package func changedAgents() throws(LumiStoreError) -> [LumiAgent] {
        guard let own = try ownAgents() else { return [] }
        let ids = Set(own.agents.map(\.id)).union(own.deleted)
        return try loadPulledAgents()?.items.filter { ids.contains($0.id) } ?? []
    }

    /// Takes back what was done here to a pulled agent.
    package func restore(_ id: UUID) throws {
        try changeAgents { own in
            own.agents.removeAll { $0.id == id }
            own.deleted.remove(id)
        }
    }

    private func ownAgents() throws(LumiStoreError) -> OwnAgents? {
        try read(
            ownAgentsPath,
            newest: OwnAgents().version,
            remedy: "move it away: mv '\(ownAgentsPath)' '\(ownAgentsPath).damaged'"
        )
    }

    private func changeAgents(_ change: (inout OwnAgents) -> Void) throws {
        try withLock {
            var own = try ownAgents() ?? OwnAgents()
            change(&own)
            try writeJSON(own, to: ownAgentsPath)
        }
    }

    /// Whether the file of what was done here holds what it should.
    func checkOwnAgents() throws(LumiStoreError) { _ = try ownAgents() }
}

/// A conversation as it is shown.
extension LumiStore {
    /// The id of the project for conversations without a known agent.
    package static let otherProjectID = "lumi"
    static let pathPrefix = "agent:"

    /// The agent that a project's path names; nil for other paths.
    package static func agentID(path: String?) -> UUID? {
        guard let path, path.begins(with: pathPrefix) else { return nil }
        return UUID(uuidString: String(path.dropFirst(pathPrefix.count)))
    }

    /// As it is shown and typed: in lower case.
    package static func id(_ id: UUID) -> String { id.uuidString.lowercased() }

    /// An id as pairtool shows it, and as a Mac does.
    package static func ids(_ id: UUID) -> [String] { [Self.id(id), id.uuidString] }

    /// Returns a message as it is shown, with marks for a picture and for an answer that broke off.
    package static func message(_ message: LumiMessage) -> CompanionMessage {
        CompanionMessage(
            id: id(message.id),
            role: message.role == "agent" ? .assistant : CompanionMessage.Role(rawValue: message.role),
            text: KeptChat.marked(
                message.content,
                picture: message.imageData != nil,
                brokenOff: message.isStreaming
            ),
            createdAt: message.timestamp
        )
    }
}

extension LumiConversation {
    /// The title, or else the beginning of what was said first.
    package var displayTitle: String {
        if let title, !title.isEmpty { return title }
        let first = messages.first { $0.isFromUser } ?? messages.first
        let newlines: Set<Unicode.Scalar> = ["\n", "\u{B}", "\u{C}", "\r", "\u{85}", "\u{2028}", "\u{2029}"]
        let lines = first?.content.unicodeScalars.split(whereSeparator: newlines.contains)
        return lines?.first.map { String($0).scalars(atMost: 60) } ?? "Conversation"
    }
}
