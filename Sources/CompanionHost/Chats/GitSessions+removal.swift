import CompanionWire
import GRDB
import LocalState
import Logging

/// When the branch of a working tree goes with it.
enum BranchEnding: Sendable, Hashable {
    /// If it is at the commit that was seen: later ones were not looked at.
    case at(String)
    /// If another reference leads to its commits.
    case withoutOwnCommits
    /// Not at all: by force, there is no time to look where it is.
    case never

    /// The ending of a branch on which no agent has worked: it goes if it is still at the commit where the host made
    /// it.
    init(ofNew session: GitSessionRecord) {
        self = .at(session.baseCommit ?? "")
    }
}

extension GitSessions {
    /// The result of the removal of a working tree.
    struct Removal: Sendable {
        /// Whether nothing is left of it but perhaps its branch.
        var isComplete: Bool
        /// A message for people about what could not be removed, and why; nil if all of it is gone.
        var problem: String?
    }

    /// Removes the working tree of a chat and its branch. Git runs for the branch only: nothing that an agent did to
    /// the repository or to the files keeps them.
    ///
    /// - Parameters:
    ///   - isForced: Whether also with work that is lost by that, and within 5 s.
    ///   - device: The id of the device that asks; nil for the owner.
    ///   - command: The id of its command. The result is stored in the transaction that removes the session: a
    ///     repetition must not remove what has taken its place since.
    ///   - catalog: As in ``worktrees(in:)``.
    ///   - isBusy: Whether the chat has a turn.
    ///   - forget: Lets the agent forget its session of the chat, before another one can begin.
    /// - Returns: The session that was removed, with a `problem` if a part of it stays.
    /// - Throws: ``HostError``: `request.not_found`, `request.invalid` for a session without a working tree of its own,
    ///   `chat.busy`, `session.unsaved`, `changes.unavailable` where it cannot be done.
    func remove(
        chat: String,
        isForced: Bool,
        by device: String?,
        command: String?,
        in catalog: ProjectCatalog?,
        isBusy: (String) -> Bool,
        forget: (String) -> Void
    ) async throws -> Worktree {
        let busy = HostError(.chatBusy, "The agent is working in this chat: wait for the answer, or cancel it")
        // A turn that begins holds the lock for as long as it looks at the files.
        guard !isBusy(chat) else { throw busy }
        return try await lock.run(chat) {
            guard !isBusy(chat) else { throw busy }
            let (session, known) = try await session(ofChat: chat, in: catalog)
            guard let branch = session.worktreeBranch else {
                throw HostError(.requestInvalid, "The chat has no working tree of its own: nothing is removed")
            }
            let limits = isForced ? RemovalLimits.forced : .usual
            // Beside the look, which may take too long.
            async let branchTip = isForced ? Self.tip(of: branch, in: session.repository, within: limits.branch) : nil
            let found = try await look(at: known, of: session, within: limits.look)
            var place = found.place
            let tip = if let tip = found.tip { Optional(tip) } else { await branchTip }
            if !isForced { try Self.refuseLoss(place, of: session) }
            var worktree = UnfinishedWorktree(session, isRemoval: true, isForced: isForced)
            worktree.tip = tip
            worktree.device = device
            worktree.command = command
            // An earlier removal may not have come to its end.
            if let earlier = try await table.unfinished(at: session.directory) {
                worktree.aside = earlier.aside
                let hasBegun = try? await BlockingCall.run { try earlier.hasBegun }
                worktree.isSeen = hasBegun == true && (earlier.isSeen || earlier.isForced)
            }
            try await table.begin(worktree)
            let removal: Removal
            do {
                let aside = try await worktree.setAside()
                if let aside, !isForced, !worktree.isSeen {
                    // Somebody may have saved a file before it was moved.
                    let again = try await look(at: known, of: session, movedTo: aside)
                    try Self.refuseLoss(again.place, of: session)
                    place = again.place
                    worktree.tip = again.tip
                    try await markSeen(&worktree)
                }
                let ending = worktree.tip.map { BranchEnding.at($0) } ?? (isForced ? .never : .withoutOwnCommits)
                var removed = try await removeFromDisk(session, within: limits, branch: ending, aside: aside)
                if aside == nil, !removed.isComplete {
                    removed.problem = "\(session.directory) could not be moved, and there was no time to empty it"
                }
                removal = removed
            } catch {
                // Else the next host goes on with it.
                if await worktree.putBack() {
                    try await table.finish(session.directory)
                } else if let refusal = error as? HostError {
                    throw HostError(refusal.code, refusal.text + ". It is in \(worktree.aside) now")
                }
                guard let text = GitError.text(of: error) else { throw error }
                throw HostError(.changesUnavailable, text)
            }
            place.problem = removal.problem
            try await forgetSession(of: worktree, place: place, isGone: removal.isComplete, audit: [:])
            forget(chat)
            if !removal.isComplete { removeTheRest(of: worktree) }
            return place
        }
    }

    /// Removes the session of a worktree, writes into the audit who has asked for it, and stores the result of the
    /// device's command.
    ///
    /// - Parameters:
    ///   - place: The command's result.
    ///   - isGone: Whether nothing is left to do with the worktree.
    ///   - detail: More that the audit notes.
    private func forgetSession(
        of worktree: UnfinishedWorktree,
        place: Worktree,
        isGone: Bool,
        audit detail: [String: JSONValue]
    ) async throws {
        let known: [String: JSONValue] = [
            "chat": .string(place.id), "branch": .string(place.branch ?? ""), "forced": .bool(worktree.isForced),
        ]
        let audit = (worktree.device, JSONValue.object(known.merging(detail) { $1 }), clock.now())
        try await table.forget(chat: place.id, audit: audit) { database in
            if isGone { try UnfinishedWorktree.deleteOne(database, key: worktree.directory) }
            guard let command = worktree.command else { return }
            let result = try CanonicalJSON(encoding: WorktreeResponse(session: place))
            try SeenCommand.update(command, result: result, in: database)
        }
    }

    /// - Returns: The commit at the end of a branch; nil if git does not tell in time.
    private static func tip(of branch: String, in repository: String, within time: Duration) async -> String? {
        let found = try? await abandoning(after: time) {
            try await GitBranch.find(branch, in: repository, within: time)?.tip
        }
        return found ?? nil
    }

    /// - Throws: ``HostError`` if work would be lost with a working tree, or if somebody has locked it.
    private static func refuseLoss(_ place: Worktree, of session: GitSessionRecord) throws {
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

    /// Removes the directory of a working tree, its entry in the repository, its branch, and the host's own data about
    /// it.
    ///
    /// - Parameters:
    ///   - ending: When its branch goes, too.
    ///   - aside: The path that the directory was moved to (``UnfinishedWorktree/setAside()``). Default: nil, it is at its place.
    ///   - isNew: Whether no agent has worked in it: then only files that the host has made are removed.
    /// - Throws: ``GitError`` if something cannot be removed.
    func removeFromDisk(
        _ session: GitSessionRecord,
        within limits: RemovalLimits,
        branch ending: BranchEnding,
        aside: String? = nil,
        isNew: Bool = false
    ) async throws -> Removal {
        // A task of its own: a cancelled one would not wait for the thread that removes the files.
        let outcome = try await Task {
            try await abandoning(after: limits.files + .milliseconds(300)) {
                try await BlockingCall.run {
                    try session.removeFiles(aside: aside, within: limits, isNew: isNew)
                }
            }
        }.value
        var removal = Removal(isComplete: outcome != nil && outcome != .unfinished)
        switch outcome {
        case .misled?:
            removal.problem = "\(session.directory) is behind a symbolic link now: nothing there was removed"
        case .kept(let reason)?: removal.problem = "Not all of it was removed: \(reason)"
        default: break
        }
        await forgetKept(of: session)
        guard removal.isComplete else {
            // Its branch goes when it is gone.
            removal.problem = "\(session.directory) is still being removed"
            return removal
        }
        guard let problem = await deleteBranch(of: session, ending: ending, within: limits.branch) else {
            return removal
        }
        removal.problem = [removal.problem, problem].compactMap(\.self).joined(separator: ". ")
        return removal
    }

    /// Stores that a worktree which was moved aside has no work: from now on, a file that is missing was removed by the
    /// host.
    private func markSeen(_ worktree: inout UnfinishedWorktree) async throws {
        worktree.isSeen = true
        try await table.begin(worktree)
    }

    /// Deletes the branch of a session, unless a working tree has it checked out.
    ///
    /// `git branch -D` would delete commits that came after the look: git compares the old value under the reference's
    /// lock (git-update-ref(1)).
    ///
    /// - Returns: Why it was kept, for people; nil if it is gone.
    private func deleteBranch(
        of session: GitSessionRecord,
        ending: BranchEnding,
        within time: Duration
    ) async -> String? {
        guard let branch = session.worktreeBranch else { return nil }
        do {
            let found = try await GitBranch.find(branch, in: session.repository, findsUse: true, within: time)
            guard let found else { return nil }
            guard !found.isInUse else { throw GitError(.changing, "another working tree has it checked out") }
            switch ending {
            case .never: throw GitError(.tooMuch, "there was no time to look for its commits")
            case .at(let tip):
                guard tip.isSame(as: found.tip) else { throw GitError(.changing, "it has new commits") }
            case .withoutOwnCommits:
                let repository = try await GitRepository.open(session.repository)
                guard try await unsavedWork.countCommits([found.tip], without: branch, in: repository) == 0 else {
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

    /// Removes the host's own data about a working tree that is gone. The directory's path suffices to find it.
    func forgetKept(of session: GitSessionRecord) async {
        await snapshots.forget(root: session.directory)
    }

    // MARK: Later

    /// Continues a removal that took too long to wait for. If the host ends meanwhile, the next one continues it.
    private func removeTheRest(of worktree: UnfinishedWorktree) {
        Task { await finish(worktree, isBusy: { _ in false }, forget: { _ in }) }
    }

    /// Finishes the work of an earlier host: a working tree that no session came to use is removed, unless somebody has
    /// worked in it, and one that was being removed is gone.
    ///
    /// - Parameters:
    ///   - limit: How long to wait; work that takes longer goes on beside the first turns.
    ///   - isBusy: Whether a chat has a turn: then nothing that it may use is removed.
    ///   - forget: Lets the agent forget its session of a chat.
    /// - Returns: The task, which may still be at work; nil if the database could not be read.
    @discardableResult
    func finishInterrupted(
        within limit: Duration,
        isBusy: @escaping @Sendable (String) -> Bool = { _ in false },
        forget: @escaping @Sendable (String) -> Void = { _ in }
    ) async -> Task<Void, Never>? {
        do {
            let worktrees = try await table.unfinished()
            // Nothing cancels it: in a cancelled task, git cannot be asked for work that would be lost.
            let ending = Task { [self] in
                for worktree in worktrees { await finish(worktree, isBusy: isBusy, forget: forget) }
            }
            _ = try await abandoning(after: limit) { await ending.value }
            return ending
        } catch {
            logger.error("unfinished worktrees not read", metadata: .failure(error))
            return nil
        }
    }

    /// Finishes the addition or removal of one working tree. If that is impossible now, it is left to the next host.
    private func finish(
        _ worktree: UnfinishedWorktree,
        isBusy: @Sendable (String) -> Bool,
        forget: @Sendable (String) -> Void
    ) async {
        do {
            try await lock.run(worktree.session.chat) {
                // A device may have asked for its removal meanwhile.
                guard let stored = try await table.unfinished(at: worktree.directory),
                    stored.aside.isSame(as: worktree.aside)
                else { return }
                try await end(stored, isBusy: isBusy, forget: forget)
            }
        } catch {
            let directory = worktree.directory
            logger.notice("worktree not removed yet", metadata: .failure(error, ["directory": "\(directory)"]))
        }
    }

    private func end(
        _ worktree: UnfinishedWorktree,
        isBusy: @Sendable (String) -> Bool,
        forget: @Sendable (String) -> Void
    ) async throws {
        var (worktree, session) = (worktree, worktree.session)
        // Where its disk is not mounted, all of it seems to be gone.
        guard try await BlockingCall.run({ [session] in WorktreeEntry.isRepositoryThere(session.repository) }) else {
            throw GitError(.unreadable, "\(session.repository) does not exist, or is not a git repository")
        }
        let known = try await table.session(ofChat: session.chat)
        let isListed = known?.record.directory.isSame(as: session.directory) == true
        var aside: String? = worktree.aside
        var mayHaveWork = false
        if try worktree.hasBegun {
            mayHaveWork = worktree.isRemoval && !worktree.isForced && !worktree.isSeen
        } else if !worktree.isRemoval {
            try await session.waitForGit()
            if await isUsed(session) {
                guard known == nil else { throw GitError(.changing, "There is new work in it") }
                session.problem = "The host ended while the session began"
                return try await table.keep(session)
            }
            aside = try await worktree.setAside()
        } else if isListed {
            guard !isBusy(session.chat) else { throw GitError(.changing, "The agent works in it") }
            if FileStatus(session.directory, followingLinks: false) != nil {
                // Nobody was told that it is gone, and somebody has gone on in it. Where git cannot tell, somebody has.
                guard await lookAgain(at: session, isForced: worktree.isForced) != nil else {
                    return try await table.finish(session.directory)
                }
                mayHaveWork = true
            }
            aside = try await worktree.setAside()
        }
        if mayHaveWork, let path = aside {
            guard let found = await lookAgain(at: session, movedTo: path, isForced: worktree.isForced) else {
                guard await worktree.putBack() else { throw GitError(.changing, "There is work in \(path)") }
                return try await table.finish(session.directory)
            }
            worktree.tip = found.tip
            try await markSeen(&worktree)
        }
        // Else it was removed: what is at its place now is somebody else's.
        var limits = RemovalLimits.usual
        // What cannot be removed from one that has begun, such as files of root, would keep it from ending for ever.
        limits.isForced = try worktree.isForced || worktree.hasBegun
        let isNew = !worktree.isRemoval
        let ending = isNew ? BranchEnding(ofNew: session) : worktree.tip.map { .at($0) } ?? .withoutOwnCommits
        let removal = try await removeFromDisk(session, within: limits, branch: ending, aside: aside, isNew: isNew)
        guard removal.isComplete else { throw GitError(.tooMuch, "It took too long") }
        if let problem = removal.problem { logger.notice("worktree removed", metadata: ["problem": "\(problem)"]) }
        guard worktree.isRemoval, isListed, let known else { return try await table.finish(session.directory) }
        var place = Worktree(known.record, title: known.title)
        if worktree.isSeen { place.unsaved = Worktree.Unsaved(files: 0, commits: 0) }
        place.problem = removal.problem
        try await forgetSession(of: worktree, place: place, isGone: true, audit: ["endedAtStart": true])
        forget(session.chat)
    }

    /// Looks at a working tree whose removal an earlier host has begun.
    ///
    /// - Returns: nil if it stays: with work, where git cannot tell, or, unless by force, if somebody has locked it.
    private func lookAgain(
        at session: GitSessionRecord,
        movedTo aside: String? = nil,
        isForced: Bool
    ) async -> WorktreeLook? {
        guard isForced || WorktreeEntry(of: session)?.isLocked != true,
            let found = try? await unsavedWork.find(in: session, movedTo: aside), found.unsaved.isEmpty
        else { return nil }
        return found
    }

    /// Whether a working tree that no session came to use has work in it all the same.
    private func isUsed(_ session: GitSessionRecord) async -> Bool {
        guard WorktreeEntry(of: session)?.hasIndex == true else { return false }
        return (try? await unsavedWork.find(in: session))?.unsaved.isEmpty != true
    }
}
