import CompanionWire
import GRDB
import Glibc
import LocalState
import Logging
import Subprocess

/// How long the parts of a removal may take.
struct RemovalLimits: Sendable {
    /// To look for what would be lost; nil for as long as that takes.
    var look: Duration?
    var files: Duration
    /// For each run of git.
    var branch: Duration

    static let usual = RemovalLimits(look: nil, files: .seconds(60), branch: GitRepository.time)
    /// By force: 5 s together, whatever git does.
    static let forced = RemovalLimits(look: .milliseconds(1500), files: .seconds(1), branch: .seconds(1))
}

/// When the branch of a working tree goes with it.
enum BranchEnding: Sendable, Hashable {
    /// If it is at the commit that was seen: later ones were not looked at.
    case at(String)
    /// If another reference leads to its commits.
    case withoutOwnCommits
    /// Always, as the owner has asked for it by force.
    case anywhere

    /// That of a branch on which no agent has worked: it is where the host has made it.
    init(ofNew session: GitSessionRecord) {
        self = .at(session.baseCommit ?? "")
    }
}

extension GitSessions {
    /// What came of the removal of a working tree.
    struct Removal: Sendable {
        /// Whether nothing is left of it but perhaps its branch.
        var isComplete: Bool
        /// What stays, and why, for people.
        var problem: String?
    }

    /// Removes the working tree of a chat and its branch. Git runs for the branch only: nothing that an agent did to the
    /// repository or to the files keeps them.
    ///
    /// - Parameters:
    ///   - isForced: Whether also with work that is lost by that, and within 5 s.
    ///   - device: Who asks; nil for the owner.
    ///   - catalog: As in ``places(in:)``.
    ///   - isBusy: Whether the chat has a turn.
    ///   - settle: Writes down what came of it, in the transaction after which the session is gone.
    ///   - forget: Lets the agent forget its session of the chat, before another one can begin.
    /// - Returns: What was removed.
    /// - Throws: ``HostError``: `request.not_found`, `request.invalid` for a session without a working tree of its own,
    ///   `chat.busy`, `session.unsaved`, `changes.unavailable` where it cannot be done.
    func remove(
        chat: String,
        isForced: Bool,
        by device: String?,
        in catalog: ProjectCatalog?,
        isBusy: (String) -> Bool,
        settle: @escaping @Sendable (AgentPlace, Database) throws -> Void,
        forget: (String) -> Void
    ) async throws -> AgentPlace {
        let busy = HostError(.chatBusy, "The agent works in this chat: wait for the answer, or cancel it")
        // A turn that begins holds the lock for as long as it looks at the files.
        guard !isBusy(chat) else { throw busy }
        return try await lock.run(chat) {
            guard !isBusy(chat) else { throw busy }
            let (session, known) = try await session(ofChat: chat, in: catalog)
            guard let branch = session.worktreeBranch else {
                throw HostError(.requestInvalid, "The chat has no working tree of its own: nothing is removed")
            }
            let limits = isForced ? RemovalLimits.forced : .usual
            let found = try await look(at: known, of: session, within: limits.look)
            var place = found.place
            let ending = found.tip.map { BranchEnding.at($0) } ?? (isForced ? .anywhere : .withoutOwnCommits)
            if !isForced { try Self.refuseLoss(place, of: session) }
            try await table.begin(UnfinishedWorktree(session, isRemoval: true))
            let removal: Removal
            do {
                removal = try await removeFromDisk(session, within: limits, branch: ending)
            } catch {
                try await table.finish(session.directory)
                guard let text = GitError.text(of: error) else { throw error }
                throw HostError(.changesUnavailable, text)
            }
            place.problem = removal.problem
            let detail: JSONValue = [
                "chat": .string(chat), "branch": .string(branch), "forced": .bool(isForced),
            ]
            try await table.forget(chat: chat, audit: (device, detail, clock.now())) { [place] database in
                if removal.isComplete { try UnfinishedWorktree.deleteOne(database, key: session.directory) }
                try settle(place, database)
            }
            forget(chat)
            if !removal.isComplete { removeTheRest(of: session, branch: ending) }
            return place
        }
    }

    /// - Throws: ``HostError`` if work would be lost with a working tree, or if somebody has locked it.
    private static func refuseLoss(_ place: AgentPlace, of session: GitSessionRecord) throws {
        guard let unsaved = place.unsaved else {
            throw HostError(
                .changesUnavailable,
                "The host cannot tell what would be lost: \(place.problem ?? "git gave no answer")"
            )
        }
        guard unsaved.isEmpty else {
            throw HostError(.sessionUnsaved, "\(session.directory) has work that would be lost: \(unsaved.text)")
        }
        guard WorktreeEntry(of: session)?.isLocked != true else {
            throw HostError(
                .changesUnavailable,
                "\(session.directory) is locked: unlock it with `git worktree unlock`, or remove it with --force"
            )
        }
    }

    /// Removes the directory of a working tree, what git keeps of it, its branch, and what the host keeps of it.
    ///
    /// - Parameters:
    ///   - ending: When its branch goes, too.
    ///   - isNew: Whether no agent has worked in it: then only what the host has made is removed.
    /// - Throws: ``GitError`` if something cannot be removed.
    func removeFromDisk(
        _ session: GitSessionRecord,
        within limits: RemovalLimits,
        branch ending: BranchEnding,
        isNew: Bool = false
    ) async throws -> Removal {
        let outcome = try await abandoning(after: limits.files + .milliseconds(300)) {
            try await BlockingCall.run { try Self.removeFiles(of: session, within: limits.files, isNew: isNew) }
        }
        var removal = Removal(isComplete: outcome == .removed || outcome == .misled)
        if outcome == .misled {
            removal.problem = "\(session.directory) is behind a symbolic link now: nothing there was removed"
        }
        await forgetKept(of: session)
        guard let problem = await deleteBranch(of: session, ending, within: limits.branch) else { return removal }
        removal.problem = [removal.problem, problem].compactMap(\.self).joined(separator: ". ")
        return removal
    }

    /// Blocks.
    private static func removeFiles(
        of session: GitSessionRecord,
        within time: Duration,
        isNew: Bool
    ) throws -> TreeRemoval.Outcome {
        let deadline = ContinuousClock.now + time
        let entry = WorktreeEntry(of: session)
        // Somebody else's directory may have been made at the same moment.
        let isOurs =
            entry?.directory?.isSame(as: session.directory) == true || entry?.isUsed(by: session.directory) == true
        do {
            // That is not so if nothing is in it.
            if isNew, !isOurs { rmdir(session.directory) }
            let outcome = isNew && !isOurs ? .removed : try TreeRemoval.remove(session.directory, until: deadline)
            guard let entry, !entry.isMoved(from: session.directory) else { return outcome }
            // The entry tells the next host that the directory is the host's.
            if isNew, outcome == .unfinished { return outcome }
            let ofEntry = try TreeRemoval.remove(entry.path, until: deadline)
            return ofEntry == .unfinished ? .unfinished : outcome
        } catch {
            throw GitError(.unreadable, error.message)
        }
    }

    /// Deletes the branch of a session, unless a working tree has it checked out.
    ///
    /// `git branch -D` would delete commits that came after the look: git compares the old value under the reference's lock
    /// (git-update-ref(1)).
    ///
    /// - Returns: Why it was kept, for people; nil if it is gone.
    private func deleteBranch(
        of session: GitSessionRecord,
        _ ending: BranchEnding,
        within time: Duration
    ) async -> String? {
        guard let branch = session.worktreeBranch else { return nil }
        do {
            let found = try await GitBranch.find(branch, in: session.repository, findsUse: true, within: time)
            guard let found else { return nil }
            guard !found.isInUse else { throw GitError(.changing, "another working tree has it checked out") }
            switch ending {
            case .anywhere: break
            case .at(let tip):
                guard tip.isSame(as: found.tip) else { throw GitError(.changing, "it has new commits") }
            case .withoutOwnCommits:
                let repository = try await GitRepository.open(session.repository)
                guard try await countCommits([found.tip], without: branch, in: repository) == 0 else {
                    throw GitError(.changing, "it has commits that are nowhere else")
                }
            }
            let deleted = try await GitProgram.run(
                ["update-ref", "--no-deref", "-d", "refs/heads/\(branch)", found.tip],
                in: session.repository,
                within: time
            )
            guard !deleted.isSuccess else { return nil }
            throw GitError(.unreadable, deleted.error)
        } catch {
            let reason = GitError.text(of: error) ?? "\(error)"
            logger.notice("branch kept", metadata: ["branch": "\(branch)", "reason": "\(reason)"])
            return "The branch \(branch) was kept: \(reason)"
        }
    }

    /// Removes what the host keeps of a working tree that is gone: it is found by the directory alone.
    func forgetKept(of session: GitSessionRecord) async {
        await snapshots.forget(root: session.directory)
    }

    // MARK: Later

    /// Goes on with a removal that has taken too long for who asked. A host that ends meanwhile leaves it to the next.
    private func removeTheRest(of session: GitSessionRecord, branch ending: BranchEnding) {
        Task { await finish(UnfinishedWorktree(session, isRemoval: true), branch: ending) }
    }

    /// Ends what an earlier host has begun: a working tree that no session came to use is removed, unless somebody has
    /// worked in it, and one that was being removed is gone.
    ///
    /// - Parameter limit: What takes longer goes on beside the first turns.
    func finishInterrupted(within limit: Duration) async {
        do {
            let worktrees = try await table.unfinished()
            _ = try await abandoning(after: limit) { [self] in
                for worktree in worktrees { await finish(worktree) }
            }
        } catch {
            logger.error("unfinished worktrees not read", metadata: .failure(error))
        }
    }

    /// Ends what was begun. What cannot be done now is left to the next host.
    ///
    /// - Parameter ending: When the branch of a removal goes, too. Default: where it was looked at, or if it has no
    ///   commits of its own.
    private func finish(_ worktree: UnfinishedWorktree, branch ending: BranchEnding? = nil) async {
        do {
            try await lock.run(worktree.session.chat) { try await end(worktree, branch: ending) }
        } catch {
            let directory = worktree.directory
            logger.notice("worktree not removed yet", metadata: .failure(error, ["directory": "\(directory)"]))
        }
    }

    private func end(_ worktree: UnfinishedWorktree, branch known: BranchEnding?) async throws {
        var session = worktree.session
        let record = try await table.record(ofChat: session.chat)
        let isListed = record?.directory.isSame(as: session.directory) == true
        var look: WorktreeLook?
        if !worktree.isRemoval {
            try await Self.waitForGit(making: session)
            if await isUsed(session) {
                guard record == nil else { throw GitError(.changing, "There is new work in it") }
                session.problem = "The host ended while the session began"
                return try await table.keep(session)
            }
        } else if isListed {
            look = await lookIfThere(session)
            // Nobody was told that it is gone, and somebody has gone on in it.
            if look?.unsaved.isEmpty == false { return try await table.finish(session.directory) }
        }
        let seen = look?.tip.map { BranchEnding.at($0) } ?? known ?? .withoutOwnCommits
        let isNew = !worktree.isRemoval
        let ending = isNew ? BranchEnding(ofNew: session) : seen
        let removal = try await removeFromDisk(session, within: .usual, branch: ending, isNew: isNew)
        guard removal.isComplete else { throw GitError(.tooMuch, "It took too long") }
        if worktree.isRemoval, isListed { try await table.forget(chat: session.chat) }
        try await table.finish(session.directory)
    }

    /// Looks at a working tree that was to be removed; nil if it is gone, or cannot be looked at.
    private func lookIfThere(_ session: GitSessionRecord) async -> WorktreeLook? {
        guard FileStatus(session.directory, followingLinks: false) != nil else { return nil }
        return try? await unsaved(session)
    }

    /// Whether a working tree that no session came to use has work in it all the same.
    private func isUsed(_ session: GitSessionRecord) async -> Bool {
        guard WorktreeEntry(of: session)?.hasIndex == true else { return false }
        return (try? await unsaved(session))?.unsaved.isEmpty != true
    }

    /// Waits until the git of a host that has been killed has made a working tree, or has failed to.
    ///
    /// - Throws: ``GitError`` if it takes too long.
    private static func waitForGit(making session: GitSessionRecord) async throws {
        let words = [session.directory, session.worktreeBranch ?? ""].map { Array($0.utf8) }
        let deadline = ContinuousClock.now + GitRepository.time
        while ContinuousClock.now < deadline {
            let isAtWork = try await BlockingCall.run {
                ProcessTable.now().entries.contains { process in
                    let arguments = ProcessTable.arguments(of: process.id)
                    return words.contains(where: arguments.contains)
                }
            }
            guard isAtWork else { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw GitError(.changing, "Git is still making it")
    }
}

extension WorktreeEntry {
    /// The one of a session's working tree; nil where there is none. Blocks.
    init?(of session: GitSessionRecord) {
        if let path = session.entry, FileStatus(path, followingLinks: false) != nil {
            self.init(path: path)
            return
        }
        // The repository's `.git` is elsewhere now.
        guard let common = Self.common(of: session.repository) else { return nil }
        self.init(of: session.directory, in: common)
    }
}
