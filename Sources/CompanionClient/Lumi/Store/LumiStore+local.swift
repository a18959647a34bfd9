import CompanionWire
package import FoundationEssentials
import Glibc
import Identity
import LocalState

/// Pulled conversations that wait to be moved to the history.
extension LumiStore {
    /// How many pictures of a conversation are kept: they are large, and only the last are sent again.
    static let keptPictures = 2

    /// Pulled conversations while they are moved: no pull changes this file.
    private var takenPath: String { directory + "/conversations.taken.json" }

    /// Whether there is anything to move.
    var hasConversations: Bool {
        [path(of: .conversations), takenPath].contains { FileStatus($0) != nil }
    }

    /// The pulled conversations that are to be moved next, and the mark of their file; nil if there are none. Needs the
    /// lock, and blocks.
    func takePulled() throws -> (conversations: [LumiConversation], mark: Int64)? {
        let pulled = path(of: .conversations)
        if FileStatus(takenPath) == nil {
            guard FileStatus(pulled) != nil else { return nil }
            guard rename(pulled, takenPath) == 0 else {
                throw LumiStoreError(.unusable, message: "\(pulled) cannot be moved: \(PrivateFile.systemMessage())")
            }
        }
        do {
            guard let (taken, bytes) = try readTaken() else { return nil }
            var ids: Set<UUID> = []
            return (taken.items.filter { ids.insert($0.id).inserted }, Self.mark(of: bytes))
        } catch {
            // Back to where the next pull replaces it, unless there is a newer one.
            guard link(takenPath, pulled) == 0 else { throw error }
            unlink(takenPath)
            let _: LumiItems<LumiConversation>? = try read(pulled, remedy: "pull it again: pairtool lumi sync")
            throw error
        }
    }

    private func readTaken() throws(LumiStoreError) -> (content: LumiItems<LumiConversation>, bytes: [UInt8])? {
        try readWithBytes(takenPath, remedy: "remove it: rm '\(takenPath)'; then pull again: pairtool lumi sync")
    }

    /// Removes what ``takePulled()`` returned.
    func removeTaken() { unlink(takenPath) }

    /// Tells a pulled file from others.
    package static func mark(of bytes: [UInt8]) -> Int64 {
        let hash = DeviceIdentity.shortHash(String(decoding: bytes, as: UTF8.self))
        return Int64(bitPattern: UInt64(hash, radix: 16) ?? 0)
    }

    /// The paths of the files made here that do not hold what they should.
    package func damagedLocalFiles() -> [String] {
        var damaged: [String] = []
        if isDamaged({ () throws(LumiStoreError) in _ = try readTaken() }) { damaged.append(takenPath) }
        if isDamaged({ () throws(LumiStoreError) in _ = try starred() }) { damaged.append(starsPath) }
        if isDamaged(checkOwnAgents) { damaged.append(ownAgentsPath) }
        return damaged
    }

    private func isDamaged(_ read: () throws(LumiStoreError) -> Void) -> Bool {
        do {
            try read()
            return false
        } catch {
            // A file that others may have written is refused unread. One of a newer version is intact.
            return error.code != .newer && (error.code != .unusable || error.remedy == nil)
        }
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

    /// Marks an agent, or removes its mark.
    package func star(_ id: UUID, isStarred: Bool) throws {
        try withLock {
            var stars = Stars(agents: try starred())
            if isStarred { stars.agents.insert(id) } else { stars.agents.remove(id) }
            try writeJSON(stars, to: starsPath)
        }
    }
}

extension LumiStore {
    /// Its files, as `doctor` looks at them. Those that were pulled can be pulled again.
    package static let files = FamilyFiles(directory: "lumi") { data, host in
        let store = LumiStore(directory: "\(data)/lumi/\(host)")
        return store.damagedPulledFiles().map { FamilyFiles.Damage($0, canBePulledAgain: true) }
            + store.damagedLocalFiles().map { FamilyFiles.Damage($0) }
    }
}
