import CompanionWire
package import FoundationEssentials
import Identity
import LocalState
import NIOConcurrencyHelpers

/// Conversations that were begun or gone on with here: one file each, apart from what was pulled, so that no pull loses
/// them.
extension LumiStore {
    /// How many pictures of a conversation are kept: they are large, and only the last are sent again.
    static let keptPictures = 2

    private var localDirectory: String { directory + "/local" }

    /// The name of a file is made of a UUID's digits: nothing of a peer reaches the path.
    private func localPath(_ id: UUID) -> String { "\(localDirectory)/\(id.uuidString).json" }

    /// What was said here in a conversation; nil where nothing was.
    package func localConversation(_ id: UUID) throws(LumiStoreError) -> LumiConversation? {
        try read(localPath(id), remedy: "move it away: mv '\(localPath(id))' '\(localPath(id)).damaged'")
    }

    /// Adds messages to a conversation, pulled or not.
    ///
    /// - Parameter conversation: What it is; its messages are not looked at.
    package func append(_ messages: [LumiMessage], to conversation: LumiConversation) throws {
        try withLock {
            var local = conversation
            local.messages = []
            if let before = try localConversation(conversation.id) {
                local.messages = before.messages
                local.createdAt = before.createdAt ?? local.createdAt
            }
            local.messages += messages
            let pictured = local.messages.indices.filter { local.messages[$0].imageData != nil }
            for index in pictured.dropLast(Self.keptPictures) { local.messages[index].imageData = nil }
            local.updatedAt = local.messages.compactMap(\.timestamp).max() ?? local.updatedAt
            try writeJSON(local, to: localPath(conversation.id))
        }
        forgetMemory()
    }

    /// The conversations, pulled and made here put together, newest first. What was said here in a conversation whose
    /// file is damaged is not in them: ``conversation(_:)`` tells.
    package func conversations() throws(LumiStoreError) -> [LumiConversation] {
        try listing().conversations
    }

    /// The conversations, and the ids of those made here whose files cannot be read.
    func listing() throws(LumiStoreError) -> (conversations: [LumiConversation], damaged: [UUID]) {
        var damaged: [UUID] = []
        var all: [LumiConversation] = []
        var rows: [UUID: Int] = [:]
        for conversation in try loadConversations()?.items ?? [] where rows[conversation.id] == nil {
            rows[conversation.id] = all.count
            all.append(conversation)
        }
        for id in localIDs() {
            do {
                guard let local = try localConversation(id) else { continue }
                if let row = rows[local.id] { all[row].merge(local) } else { all.append(local) }
            } catch {
                // One file keeps no other conversation from being listed.
                if rows[id] == nil { damaged.append(id) }
            }
        }
        all.sort { ($0.lastActivity ?? .distantPast, $0.id) > ($1.lastActivity ?? .distantPast, $1.id) }
        return (all, damaged)
    }

    /// One conversation, as ``conversations()`` has it.
    package func conversation(_ id: UUID) throws(LumiStoreError) -> LumiConversation? {
        let pulled = try loadConversations()?.items.first { $0.id == id }
        guard let local = try localConversation(id) else { return pulled }
        guard var merged = pulled else { return local }
        merged.merge(local)
        return merged
    }

    /// The paths of the files made here that do not hold what they should.
    package func damagedLocalFiles() -> [String] {
        var damaged = localIDs().filter { id in
            isDamaged { () throws(LumiStoreError) in _ = try localConversation(id) }
        }.map(localPath)
        if isDamaged({ () throws(LumiStoreError) in _ = try starred() }) { damaged.append(starsPath) }
        if isDamaged(checkOwnAgents) { damaged.append(ownAgentsPath) }
        return damaged
    }

    private func isDamaged(_ read: () throws(LumiStoreError) -> Void) -> Bool {
        do {
            try read()
            return false
        } catch {
            // One that is refused, for others can have written it, is not looked at. One of a newer version is whole.
            return error.code != .newer && (error.code != .unusable || error.remedy == nil)
        }
    }

    /// When a conversation was last pulled or gone on with.
    package var changedAt: Date {
        let files = [path(of: .conversations), path(of: .agents), ownAgentsPath] + localIDs().map(localPath)
        return files.compactMap { FileStatus($0)?.changedAt }.max() ?? .distantFuture
    }

    private func localIDs() -> [UUID] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: localDirectory)) ?? []
        return names.compactMap { $0.dropping(suffix: ".json").flatMap { UUID(uuidString: String($0)) } }
    }
}

extension LumiConversation {
    /// Adds the messages that were made here, in the order of their times.
    fileprivate mutating func merge(_ local: LumiConversation) {
        let known = Set(messages.map(\.id))
        for message in local.messages where !known.contains(message.id) {
            // Behind everything that is not newer: pulled messages may lack a time, and keep their order.
            let place = messages.lastIndex { ($0.timestamp ?? .distantPast) <= (message.timestamp ?? .distantFuture) }
            messages.insert(message, at: place.map { $0 + 1 } ?? 0)
        }
        updatedAt = [updatedAt, local.updatedAt].compactMap(\.self).max()
    }
}

/// Which agents the user marked, here and not on the Mac.
extension LumiStore {
    private struct Stars: Codable {
        var agents: Set<UUID> = []
    }

    var starsPath: String { directory + "/stars.json" }

    /// The ids of the marked agents.
    package func starred() throws(LumiStoreError) -> Set<UUID> {
        let stars: Stars? = try read(starsPath, remedy: "remove it: rm '\(starsPath)'")
        return stars?.agents ?? []
    }

    package func star(_ id: UUID, _ isStarred: Bool) throws {
        try withLock {
            var stars = Stars(agents: try starred())
            if isStarred { stars.agents.insert(id) } else { stars.agents.remove(id) }
            try writeJSON(stars, to: starsPath)
        }
    }
}

extension FamilyFiles {
    /// What ``LumiStore`` keeps.
    package static let lumi = FamilyFiles(directory: "lumi") { data, host in
        let store = LumiStore(directory: "\(data)/lumi/\(host)")
        return store.damagedPulledFiles().map { Damage($0, canBePulledAgain: true) }
            + store.damagedLocalFiles().map { Damage($0) }
    }
}
