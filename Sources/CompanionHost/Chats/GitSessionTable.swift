import CompanionWire
import FoundationEssentials
import GRDB
import Glibc
import LocalState

/// A session: the place where a chat's agent works, and the files that were there at its start.
struct GitSessionRecord: HostRecord, Hashable {
    static let databaseTableName = "gitSession"

    var chat: String
    var project: String
    /// The top directory of the project's repository.
    var repository: String
    /// The top directory of the working tree that the agent works in.
    var directory: String
    /// The project in there (``GitRepository/folder``).
    var folder = ""
    var startedAt: Date
    var baseCommit: String?
    /// nil where ``problem`` says why.
    var tree: String?
    /// The branch of a working tree that the host made.
    var worktreeBranch: String?
    var problem: String?
    /// When the session began, where the files could first be read at ``startedAt``.
    var firstTriedAt: Date?
    /// The path of the working tree's entry in the repository (``WorktreeEntry``); nil for a session without a working
    /// tree of its own.
    var entry: String?

    /// The project's directory in the working tree that the agent works in.
    var projectDirectory: String { GitRepository.directory(directory, folder: folder) }
}

/// A working tree of the host's own that is being made or removed. It is stored before anything of it is on the disk,
/// and until nothing is left to do, so that the next host finishes the work if this one crashes.
struct UnfinishedWorktree: HostRecord, Hashable {
    var directory: String
    /// Whether it is being removed; else it is being made, for a session that is not stored yet.
    var isRemoval: Bool
    var session: GitSessionRecord
    /// The path that the directory is moved to in one step before anything in it is removed. Once that exists, the
    /// removal has begun.
    var aside: String
    /// Whether it is removed even if work is lost by that, or if a part of it cannot be removed.
    var isForced: Bool
    /// The commit of its branch when it was looked at, for a removal. The branch goes only if it is still there. nil if
    /// that is not known.
    var tip: String?
    /// Whether it was looked at once more after it was moved, and had no work. Nothing of it is removed before that,
    /// except by force.
    var isSeen = false
    /// The id of the device that has asked for a removal; nil for the owner.
    var device: String?
    /// The id of its command.
    var command: String?

    init(_ session: GitSessionRecord, isRemoval: Bool, isForced: Bool = false) {
        (directory, self.isRemoval, self.session) = (session.directory, isRemoval, session)
        let parent = session.directory.cut(atLast: "/").map { String($0.before) } ?? ""
        aside = "\(parent)/.pairtool-removed-\(UUID().uuidString)"
        self.isForced = isForced
    }

    /// Whether the removal of the directory has begun. Blocks.
    ///
    /// - Throws: ``GitError`` where the system cannot tell, as on a disk that does not answer.
    var hasBegun: Bool {
        get throws(GitError) {
            guard faccessat(AT_FDCWD, aside, F_OK, AT_SYMLINK_NOFOLLOW) != 0 else { return true }
            guard errno == ENOENT else {
                throw GitError(.unreadable, "\(aside) cannot be looked at: \(PrivateFile.systemMessage())")
            }
            return false
        }
    }
}

/// The sessions of agents in projects under git, in the host's database.
struct GitSessionTable: Sendable {
    let database: HostDatabase

    func record(ofChat chat: String) async throws(CompanionHostError) -> GitSessionRecord? {
        try await database.read { try GitSessionRecord.fetchOne($0, key: chat) }
    }

    /// All, with the titles of their chats, the newest first.
    func all() async throws(CompanionHostError) -> [(record: GitSessionRecord, title: String)] {
        try await sessions("ORDER BY startedAt DESC, gitSession.chat")
    }

    /// A chat's, with its title.
    func session(ofChat chat: String) async throws(CompanionHostError) -> (record: GitSessionRecord, title: String)? {
        try await sessions("WHERE gitSession.chat = ?", arguments: [chat]).first
    }

    private func sessions(
        _ selection: String,
        arguments: StatementArguments = StatementArguments()
    ) async throws(CompanionHostError) -> [(record: GitSessionRecord, title: String)] {
        try await database.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT gitSession.*, title FROM gitSession LEFT JOIN chat ON chat.id = gitSession.chat \(selection)
                    """,
                arguments: arguments
            ).map { (try GitSessionRecord(row: $0), $0["title"] ?? "") }
        }
    }

    /// Stores a session. Its working tree is finished with that.
    func keep(_ record: GitSessionRecord) async throws(CompanionHostError) {
        try await database.write { database in
            try UnfinishedWorktree.deleteOne(database, key: record.directory)
            try record.insert(database, onConflict: .replace)
        }
    }

    /// Stores that a working tree is about to be made or removed on the disk.
    func begin(_ worktree: UnfinishedWorktree) async throws(CompanionHostError) {
        // Also a power cut leaves nothing that is not known.
        try await database.write(durably: true) { try worktree.save($0) }
    }

    /// Nothing is left to do with a working tree.
    func finish(_ directory: String) async throws(CompanionHostError) {
        try await database.write { _ = try UnfinishedWorktree.deleteOne($0, key: directory) }
    }

    func unfinished(at directory: String) async throws(CompanionHostError) -> UnfinishedWorktree? {
        try await database.read { try UnfinishedWorktree.fetchOne($0, key: directory) }
    }

    func unfinished() async throws(CompanionHostError) -> [UnfinishedWorktree] {
        try await database.read { try UnfinishedWorktree.order(Column("directory")).fetchAll($0) }
    }

    /// Whether the agent has a session of a chat from before it was noted here.
    func hasAgentSession(chat: String) async throws(CompanionHostError) -> Bool {
        try await database.read { try AgentSessions.Stored.exists($0, key: chat) }
    }

    /// Removes the session of a chat. The next prompt begins a new one.
    ///
    /// - Parameters:
    ///   - audit: The row that is added to the audit for it; nil for none.
    ///   - settle: Makes further changes in the same transaction.
    func forget(
        chat: String,
        audit: (device: String?, detail: JSONValue, at: Date)? = nil,
        settle: @escaping @Sendable (Database) throws -> Void = { _ in }
    ) async throws(CompanionHostError) {
        try await database.write { database in
            try GitSessionRecord.deleteOne(database, key: chat)
            try AgentSessions.Stored.deleteOne(database, key: chat)
            try ChatRecord.filter(Column("id") == chat).updateAll(database, Column("mode").set(to: nil))
            try settle(database)
            guard let audit else { return }
            try AuditLog.append(
                .sessionRemoved,
                device: audit.device,
                detail: audit.detail,
                at: audit.at,
                in: database
            )
        }
    }
}
