import CompanionWire
import FoundationEssentials
import LocalState
import Logging

/// Keeps track of the directories in which the agents of chats work, in projects under git, and of the changes that
/// they make there.
///
/// A session begins with the first turn of a chat. The host keeps a snapshot of the working tree from then, so that no
/// earlier change is taken for the agent's.
package final class GitSessions: Sendable {
    /// The state of the files at the start of a turn.
    struct Start: Sendable {
        /// The directory that the agent works in.
        var directory: String
        /// The files at the start of the turn; nil if they could not be read.
        var snapshot: GitSnapshot?
    }

    let table: GitSessionTable
    let snapshots: GitSnapshots
    let clock: HostClock
    let logger: Logger
    /// Whether a new session gets a working tree of its own.
    private let usesWorktrees: Bool
    /// A lock for each chat: its session does not begin while it is being removed.
    let lock = KeyedLock()
    /// A lock for each working tree, because devices may ask for its changes as often as they like.
    let asking = KeyedLock()
    /// One at a time looks for a free name of a working tree, by repository.
    let naming = KeyedLock()

    init(
        database: HostDatabase,
        directory: String,
        usesWorktrees: Bool,
        limits: GitSnapshots.Limits = GitSnapshots.Limits(),
        clock: HostClock,
        logger: Logger
    ) {
        table = GitSessionTable(database: database)
        snapshots = GitSnapshots(directory: directory, limits: limits)
        self.usesWorktrees = usesWorktrees
        self.clock = clock
        self.logger = logger
    }

    var unsavedWork: UnsavedWork { UnsavedWork(snapshots: snapshots) }

    /// Finds the directory that a turn works in, and takes a snapshot of the files there.
    ///
    /// - Parameters:
    ///   - forget: Lets the agent forget its session of the chat, so that a new one begins.
    ///   - say: Called with messages for the turn's readers.
    /// - Throws: ``AgentError`` where the working tree cannot be made that the turn needs; `CancellationError`.
    func begin(
        _ turn: AgentTurn,
        project: ProjectCatalog.Project,
        forget: @Sendable (String) -> Void,
        say: @Sendable (String) -> Void
    ) async throws -> Start {
        do {
            return try await lock.runUnlessCancelled(turn.chatID) {
                let record = try await current(turn, project: project, forget: forget, say: say)
                // Where the files could not be kept, they are tried again.
                if let record, record.tree != nil || record.worktreeBranch != nil {
                    let directory = try Self.directory(of: turn, in: record)
                    return Start(directory: directory, snapshot: try await look(at: record))
                }
                return try await beginSession(turn, project: project, after: record, say: say)
            }
        } catch let error as CompanionHostError {
            logger.error("session not read", metadata: .failure(error, ["chat": "\(turn.chatID)"]))
            throw AgentError(message: "The host could not read where this chat works")
        }
    }

    /// How many files the agent has changed in a turn that has ended; nil if that cannot be found out in
    /// ``GitRepository/time``.
    func count(since start: Start) async -> Int? {
        guard let old = start.snapshot else { return nil }
        let (counts, continuation) = AsyncStream.makeStream(of: Int?.self)
        // Tasks of their own: reading a slow disk heeds no cancellation, and the turn's end does not wait for it.
        let counting = Task { [snapshots] in
            defer { continuation.finish() }
            guard var repository = try? await GitRepository.open(old.repository.root, folder: old.repository.folder)
            else { return }
            repository.firstCommit = old.repository.firstCommit
            guard
                let new = try? await snapshots.take(
                    repository,
                    isKept: false,
                    after: GitTree(name: old.tree, objects: [old.objects])
                )
            else { return }
            continuation.yield(try? await snapshots.count(from: old, to: new))
            await new.remove()
        }
        let limit = Task {
            try? await Task.sleep(for: GitRepository.time)
            continuation.finish()
        }
        defer {
            counting.cancel()
            limit.cancel()
        }
        var results = counts.makeAsyncIterator()
        return await results.next() ?? nil
    }

    /// The record of a chat that goes on where it has worked.
    private func current(
        _ turn: AgentTurn,
        project: ProjectCatalog.Project,
        forget: @Sendable (String) -> Void,
        say: @Sendable (String) -> Void
    ) async throws -> GitSessionRecord? {
        guard let record = try await table.record(ofChat: turn.chatID) else { return nil }
        if record.worktreeBranch == nil {
            // The agent may have made a `.git` in the project.
            if !record.folder.isEmpty { return record.projectDirectory.isSame(as: project.path) ? record : nil }
            // The device may have sent it to another directory.
            let root = GitRepository.root(around: turn.directory, inside: project.path)
            return root?.isSame(as: record.directory) == true ? record : nil
        }
        guard GitRepository.root(around: record.directory, inside: record.directory) == nil else { return record }
        // What is there would be on no list any more.
        guard FileStatus(record.directory, followingLinks: false) == nil else {
            throw AgentError(
                message: "The session's working tree \(record.directory) has no .git any more. Restore it, or remove "
                    + "the session with `pairtool worktrees remove --force`"
            )
        }
        say("The session's working tree \(record.directory) is gone: starting a new one")
        await forgetKept(of: record)
        try await table.forget(chat: turn.chatID)
        forget(turn.chatID)
        return nil
    }

    /// Opens the repository of a session.
    ///
    /// - Throws: As ``GitRepository/open(_:folder:)``; ``GitError`` also if the `.git` of a working tree that the host
    ///   has made leads elsewhere: an agent could show another repository with it.
    static func open(_ record: GitSessionRecord) async throws -> GitRepository {
        var repository = try await GitRepository.open(record.directory, folder: record.folder)
        repository.firstCommit = record.baseCommit
        guard record.entry != nil else { return repository }
        let entry = try await GitFile.reading { WorktreeEntry(of: record) }
        guard entry?.path.isSame(as: repository.own) == true else {
            throw GitError(.unreadable, "\(record.directory)/.git does not lead to the worktree's git directory")
        }
        return repository
    }

    private func look(at record: GitSessionRecord) async throws -> GitSnapshot? {
        do {
            let repository = try await Self.open(record)
            return try await snapshots.take(repository, isKept: false)
        } catch {
            guard Self.reason(of: error) != nil else { throw error }
            logger.notice("files not looked at", metadata: .failure(error))
            return nil
        }
    }

    /// Why the files could not be looked at, for people; nil for an error that ends the turn.
    static func reason(of error: any Error) -> String? {
        if let text = GitError.text(of: error) { return text }
        let endsTurn = error is CancellationError || error is AgentError || error is CompanionHostError
        return endsTurn || Task.isCancelled ? nil : "The host could not keep the files"
    }

    /// - Parameter earlier: The session whose files could not be kept; nil where the agent has not worked in the
    ///   project yet, and may have a working tree of its own.
    private func beginSession(
        _ turn: AgentTurn,
        project: ProjectCatalog.Project,
        after earlier: GitSessionRecord?,
        say: @Sendable (String) -> Void
    ) async throws -> Start {
        guard let place = try await place(of: turn, project: project, after: earlier) else {
            if usesWorktrees { say("No git repository: the agent works in the project's own directory") }
            return Start(directory: turn.directory)
        }
        var needsWorktree = false
        if usesWorktrees, earlier == nil { needsWorktree = try await !table.hasAgentSession(chat: turn.chatID) }
        var record = GitSessionRecord(
            chat: turn.chatID,
            project: project.id,
            repository: place.root,
            directory: place.root,
            folder: place.folder,
            startedAt: clock.now()
        )
        record.firstTriedAt = earlier.map { $0.firstTriedAt ?? $0.startedAt }
        var start = Start(directory: turn.directory)
        var opened: GitRepository?
        do {
            do {
                var repository = try await GitRepository.open(place.root, folder: place.folder)
                opened = repository
                if needsWorktree, repository.commit == nil {
                    needsWorktree = false
                    say("The repository has no commit yet: the agent works in the project's own directory")
                } else if needsWorktree {
                    (repository, record) = try await makeWorktree(of: repository, for: record)
                    start.directory = try Self.directory(of: turn, in: record)
                    say("Working on the branch \(record.worktreeBranch ?? ""), in \(repository.directory)")
                }
                record.baseCommit = repository.commit
                start.snapshot = try await snapshots.take(repository, isKept: true)
                try await SparseCheckout(snapshots: snapshots, repository: repository).keepAbsentFiles(
                    chat: turn.chatID
                )
                record.tree = start.snapshot?.tree
            } catch {
                guard let text = Self.reason(of: error) else { throw error }
                if needsWorktree, record.worktreeBranch == nil {
                    throw AgentError(message: "The session's working tree could not be made: \(text)")
                }
                logger.notice("state of the files not kept", metadata: .failure(error, ["chat": "\(turn.chatID)"]))
                record.problem = text
            }
            try await table.keep(record)
        } catch {
            // Nobody would know of it.
            if let opened, let branch = record.worktreeBranch {
                await discardWorktree(record.directory, branch: branch, of: opened)
            }
            throw error
        }
        return start
    }

    /// The repository that a new session works in; nil without git.
    private func place(
        of turn: AgentTurn,
        project: ProjectCatalog.Project,
        after earlier: GitSessionRecord?
    ) async throws -> GitRepository.Place? {
        if let earlier { return GitRepository.Place(root: earlier.repository, folder: earlier.folder) }
        guard let place = await GitRepository.place(around: turn.directory, inside: project.path) else { return nil }
        // What a session was in is not forgotten because an agent has removed its `.git`.
        if !place.folder.isEmpty, let record = try await table.record(ofChat: turn.chatID),
            GitRepository.root(around: record.directory, inside: record.directory) == nil
        {
            return nil
        }
        return place
    }

    /// Returns the directory that a turn works in: the one in the session's working tree that corresponds to the turn's
    /// directory in the project.
    private static func directory(
        of turn: AgentTurn,
        in record: GitSessionRecord
    ) throws(AgentError) -> String {
        guard record.worktreeBranch != nil else { return turn.directory }
        let below = turn.directory.dropping(prefix: record.repository + "/").map { record.directory + "/" + $0 }
        for directory in [below, record.projectDirectory] {
            if let directory, FileStatus(directory)?.kind == .directory { return directory }
        }
        throw AgentError(message: "The session's working tree no longer has \(record.projectDirectory)")
    }
}

// MARK: Changes

extension GitSessions {
    /// Returns the files that have changed since the session of a chat began.
    ///
    /// - Parameters:
    ///   - project: The chat's.
    ///   - wantsDifference: Whether the answer has the difference, beside the list of files.
    ///   - file: The only file or directory that is wanted.
    /// - Throws: ``HostError`` with `changes.unavailable`; ``CompanionHostError``.
    func changes(
        chatID: String,
        project: ProjectCatalog.Project,
        wantsDifference: Bool,
        file: String?
    ) async throws -> ChatChangesResponse {
        guard let record = try await table.record(ofChat: chatID) else {
            let isUnderGit = await GitRepository.place(around: project.path, inside: project.path) != nil
            throw HostError(
                .changesUnavailable,
                isUnderGit
                    ? "No agent has worked in this chat yet" : "The project is not a git repository"
            )
        }
        guard let tree = record.tree else {
            throw HostError(
                .changesUnavailable,
                "The state at the start of the session was not kept: \(record.problem ?? "the host ended")"
            )
        }
        do {
            guard GitRepository.root(around: record.directory, inside: record.directory) != nil else {
                throw GitError(.unreadable, "\(record.directory) is not a git repository any more")
            }
            return try await asking.runUnlessCancelled(record.directory) {
                let repository = try await Self.open(record)
                let now = try await snapshots.take(repository, isKept: false, after: GitTree(name: tree))
                let answer: ChatChangesResponse
                do {
                    answer = try await changes(
                        record,
                        tree: tree,
                        now: now,
                        wantsDifference: wantsDifference,
                        file: file
                    )
                } catch {
                    await now.remove()
                    throw error
                }
                await now.remove()
                return answer
            }
        } catch {
            guard let text = GitError.text(of: error) else { throw error }
            throw HostError(.changesUnavailable, text)
        }
    }

    /// Files that are listed.
    private static let listed = 5000
    /// Files that are listed of those that git ignores.
    private static let listedHidden = 100
    /// The files to compare if not all are needed. Git gets their names.
    private static let compared = 500

    private func changes(
        _ record: GitSessionRecord,
        tree: String,
        now: GitSnapshot,
        wantsDifference: Bool,
        file: String?
    ) async throws -> ChatChangesResponse {
        let repository = now.repository
        var changes = try await snapshots.changes(from: tree, to: now)
        if let file { changes = changes.filter { $0.paths.contains { $0.isMeant(by: file) } } }
        // Git knows files that are in no commit yet.
        if changes.contains(where: \.file.isUntracked) {
            let tracked = try await GitProgram.run(
                ["--literal-pathspecs", "ls-files", "-z", "--cached", "--"],
                paths: repository.pathspecs,
                in: repository.root,
                limit: 32 << 20,
                within: snapshots.limits.time
            )
            let known = Set(tracked.output.split(separator: 0).compactMap { GitPath($0).below(repository.folder) })
            for index in changes.indices where changes[index].paths.last.map(known.contains) == true {
                changes[index].file.isUntracked = false
            }
        }
        var difference: (text: String, isCut: Bool)?
        if wantsDifference, !changes.isEmpty {
            difference = try await snapshots.difference(
                from: tree,
                to: now,
                of: file == nil ? nil : Array(changes.prefix(Self.compared))
            )
        }
        let isShortened = wantsDifference && file != nil && changes.count > Self.compared
        var answer = ChatChangesResponse(
            chatId: record.chat,
            startedAt: record.startedAt,
            baseCommit: record.baseCommit,
            commit: repository.commit,
            branch: repository.branch,
            directory: repository.directory,
            files: changes.prefix(Self.listed).map(\.file),
            diff: wantsDifference ? difference?.text ?? "" : nil,
            truncated: difference?.isCut == true || isShortened || changes.count > Self.listed
        )
        answer.firstTriedAt = record.firstTriedAt
        let sparse = SparseCheckout(snapshots: snapshots, repository: repository)
        let absent = try await sparse.absentFiles(since: tree, chat: record.chat)
            .filter { path in file.map(path.isMeant) ?? true }
        if !absent.isEmpty { answer.notCheckedOut = absent.count }
        guard file == nil else { return answer }
        do {
            let hidden = try await snapshots.hiddenFiles(
                in: now,
                since: record.baseCommit,
                changedAfter: record.startedAt
            )
            answer.hidden = hidden.count
            if !hidden.isEmpty { answer.hiddenFiles = Array(hidden.map(\.text).sorted().prefix(Self.listedHidden)) }
        } catch {
            guard Self.reason(of: error) != nil else { throw error }
            logger.notice("hidden files not listed", metadata: .failure(error))
        }
        return answer
    }
}
