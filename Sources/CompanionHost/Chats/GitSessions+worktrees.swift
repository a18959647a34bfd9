import CompanionWire
import Crypto
import FoundationEssentials
import GRDB
import Glibc
import LocalState
import Logging
import Subprocess

extension GitSessions {
    /// Makes a working tree beside the repository's top for a new session, on a branch of its own that begins at the
    /// commit which is checked out. If that fails, all of it is removed again.
    ///
    /// - Returns: The working tree, and the session in it.
    func makeWorktree(
        of repository: GitRepository,
        for session: GitSessionRecord
    ) async throws -> (repository: GitRepository, session: GitSessionRecord) {
        let (parent, chat) = (repository.root + "-worktrees", session.chat)
        do {
            guard try await repository.hasFolder() else {
                let folder = GitPath(repository.folder.utf8).text
                throw GitError(
                    .unreadable,
                    "the commit that is checked out does not have the project's folder \(folder). Commit it first"
                )
            }
            try await BlockingCall.run {
                // A link would lead to a directory that the owner does not expect.
                let status = FileStatus(parent, followingLinks: false)
                guard status == nil || status?.kind == .directory && status?.owner == geteuid() else {
                    throw GitError(.unreadable, "\(parent) is not a directory of the host's user")
                }
                try PrivateFile.makeDirectory(parent)
            }
            // Another chat may have the same short name.
            return try await naming.runUnlessCancelled(repository.root) {
                // A branch of that name leaves no room for branches below it.
                let start = try await Self.hasBranch("pairtool", in: repository.root) ? "pairtool-" : "pairtool/"
                for number in 1...99 {
                    let name = Self.shortName(chat) + (number == 1 ? "" : "-\(number)")
                    let (path, branch) = (parent + "/" + name, start + name)
                    guard FileStatus(path, followingLinks: false) == nil,
                        try await repository.hasRoom(forBranch: branch)
                    else { continue }
                    let begun = try await begin(session, of: repository, path: path, branch: branch)
                    guard let begun else { continue }
                    do {
                        return (try await makeWorktree(of: repository, path: path, branch: branch), begun)
                    } catch {
                        await discardWorktree(path, branch: branch, of: repository)
                        throw error
                    }
                }
                throw GitError(.tooMuch, "there are too many of this name in \(parent)")
            }
        } catch {
            if error is CancellationError || error is CompanionHostError { throw error }
            let text = GitError.text(of: error) ?? "\(error)"
            throw AgentError(message: "The session's working tree could not be made: \(text)")
        }
    }

    private func makeWorktree(
        of repository: GitRepository,
        path: String,
        branch: String
    ) async throws -> GitRepository {
        try await repository.addWorktree(at: path, branch: branch)
        do {
            let made = try await GitRepository.open(path, folder: repository.folder)
            try await snapshots.checkOut(made)
            return made
        } catch {
            await discardWorktree(path, branch: branch, of: repository)
            throw error
        }
    }

    /// Stores that a working tree is being made, before anything of it is on the disk.
    ///
    /// - Returns: The session in it; nil where something is left of an earlier one of this name.
    private func begin(
        _ session: GitSessionRecord,
        of repository: GitRepository,
        path: String,
        branch: String
    ) async throws -> GitSessionRecord? {
        var begun = session
        (begun.directory, begun.worktreeBranch, begun.baseCommit) = (path, branch, repository.commit)
        // Git takes the name of the directory, where that is free.
        let name = path.cut(atLast: "/").map { String($0.after) } ?? path
        let entry = WorktreeEntry(path: "\(repository.common)/worktrees/\(name)")
        guard !entry.exists, try await table.unfinished(at: path) == nil else { return nil }
        begun.entry = entry.path
        try await table.begin(UnfinishedWorktree(begun, isRemoval: false))
        return begun
    }

    /// Removes a new working tree, which no agent has used yet, and its branch. Also in a cancelled task.
    ///
    /// - Parameter path: The path under which it is stored as unfinished. A working tree that is not stored is left
    ///   alone.
    func discardWorktree(_ path: String, branch: String, of repository: GitRepository) async {
        // A task of its own, because git does not run in a cancelled one.
        await Task { [logger] in
            do {
                guard let worktree = try await table.unfinished(at: path) else { return }
                let session = worktree.session
                let ending = BranchEnding(ofNew: session)
                let aside = try await worktree.setAside()
                let removal = try await removeFromDisk(
                    session,
                    within: .usual,
                    branch: ending,
                    aside: aside,
                    isNew: true
                )
                // Else the next host tries it again.
                if removal.isComplete { try await table.finish(path) }
            } catch {
                logger.notice("worktree kept", metadata: .failure(error, ["directory": "\(path)"]))
            }
        }.value
    }

    /// The beginning of a chat's id, or of its hash where a device has chosen an odd one.
    private static func shortName(_ chat: String) -> String {
        let start = chat.utf8.prefix(8)
        let isPlain = start.count == 8 && start.allSatisfy { (0x61...0x66).contains($0) || (0x30...0x39).contains($0) }
        guard !isPlain else { return String(decoding: start, as: UTF8.self) }
        return SHA256.hash(data: Data(chat.utf8)).prefix(4).hexText
    }

    /// - Throws: ``GitError`` where git cannot tell, ``GitProgram/Failure``, `CancellationError`.
    static func hasBranch(_ branch: String, in directory: String) async throws -> Bool {
        let found = try await GitProgram.run(
            ["show-ref", "--verify", "--quiet", "refs/heads/\(branch)"],
            in: directory,
            within: GitRepository.time
        )
        if case .exited(1) = found.status { return false }
        guard found.isSuccess else { throw GitError(.unreadable, found.error) }
        return true
    }

    // MARK: Listing

    /// The sessions, the newest first.
    ///
    /// - Parameter catalog: Only those in its projects; nil for all, as the owner sees them.
    func worktrees(in catalog: ProjectCatalog?) async throws -> [Worktree] {
        try await table.all().filter { Self.isListed($0.record, in: catalog) }.map {
            Worktree($0.record, title: $0.title)
        }
    }

    private static func isListed(_ record: GitSessionRecord, in catalog: ProjectCatalog?) -> Bool {
        guard let catalog else { return true }
        return catalog.project(id: record.project) != nil
    }

    /// Returns one session, with the work that would be lost if its working tree were removed.
    ///
    /// - Parameter catalog: As in ``worktrees(in:)``.
    /// - Throws: ``HostError`` with `request.not_found`.
    func worktree(ofChat chat: String, in catalog: ProjectCatalog?) async throws -> Worktree {
        let (session, place) = try await session(ofChat: chat, in: catalog)
        return try await look(at: place, of: session).place
    }

    /// - Throws: ``HostError`` with `request.not_found`.
    func session(
        ofChat chat: String,
        in catalog: ProjectCatalog?
    ) async throws -> (session: GitSessionRecord, place: Worktree) {
        guard let found = try await table.session(ofChat: chat), Self.isListed(found.record, in: catalog) else {
            throw HostError(.requestNotFound, "No agent has a session for this chat in a git project")
        }
        return (found.record, Worktree(found.record, title: found.title))
    }

    /// Finds the work that would be lost with a working tree.
    ///
    /// - Parameters:
    ///   - aside: As in ``UnsavedWork/find(in:movedTo:)``.
    ///   - limit: How long that may take. Default: as long as git does.
    /// - Returns: The place with its unsaved work, and the commit that its branch was at; nil if that is not known.
    func look(
        at place: Worktree,
        of session: GitSessionRecord,
        movedTo aside: String? = nil,
        within limit: Duration? = nil
    ) async throws -> (place: Worktree, tip: String?) {
        guard place.isWorktree else { return (place, nil) }
        var place = place
        var tip: String?
        do {
            let look = { @Sendable [self] in
                try await asking.runUnlessCancelled(session.directory) {
                    try await unsavedWork.find(in: session, movedTo: aside)
                }
            }
            let found: WorktreeLook? =
                if let limit { try await abandoning(after: limit, look) } else { try await look() }
            place.unsaved = found?.unsaved
            tip = found?.tip
        } catch {
            // Also where the host's own disk is full: the session can still be seen, and removed by force.
            guard let text = Self.reason(of: error) else { throw error }
            logger.notice("working tree not looked at", metadata: .failure(error, ["chat": "\(session.chat)"]))
            place.problem = text
        }
        return (place, tip)
    }
}

extension Worktree {
    init(_ record: GitSessionRecord, title: String) {
        self.init(
            id: record.chat,
            title: title,
            projectId: record.project,
            directory: record.worktreeBranch == nil ? record.projectDirectory : record.directory,
            isWorktree: record.worktreeBranch != nil,
            branch: record.worktreeBranch,
            startedAt: record.startedAt,
            baseCommit: record.baseCommit,
            problem: record.problem
        )
    }
}
