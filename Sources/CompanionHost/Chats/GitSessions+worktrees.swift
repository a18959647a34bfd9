import CompanionWire
import Crypto
import FoundationEssentials
import GRDB
import Glibc
import LocalState
import Logging

extension GitSessions {
    /// Makes a working tree beside the repository's top for a chat, on a branch of its own that begins at what is
    /// checked out.
    func makeWorktree(
        of repository: GitRepository,
        chat: String
    ) async throws -> (repository: GitRepository, branch: String) {
        let parent = repository.root + "-worktrees"
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
                    return (try await makeWorktree(of: repository, path: path, branch: branch), branch)
                }
                throw GitError(.tooMuch, "there are too many of this name in \(parent)")
            }
        } catch {
            if error is CancellationError { throw error }
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

    /// Removes a new working tree, which no agent has used yet, and its branch. Also in a cancelled task.
    func discardWorktree(_ path: String, branch: String, of repository: GitRepository) async {
        // A task of its own, because git does not run in a cancelled one.
        await Task { [logger, snapshots] in
            do {
                if FileStatus(path, followingLinks: false) != nil {
                    let removed = try await GitProgram.run(
                        // Twice: git has locked one that was not finished.
                        ["worktree", "remove", "--force", "--force", "--", path],
                        in: repository.root,
                        within: .seconds(60)
                    )
                    guard removed.isSuccess else {
                        throw GitError(.unreadable, "Git could not remove it: \(removed.error)")
                    }
                }
                if try await Self.hasBranch(branch, in: repository.root) {
                    let deleted = try await GitProgram.run(
                        ["branch", "--quiet", "-D", "--", branch],
                        in: repository.root,
                        within: GitRepository.time
                    )
                    guard deleted.isSuccess else { throw GitError(.unreadable, deleted.error) }
                }
            } catch {
                logger.notice("worktree kept", metadata: .failure(error, ["directory": "\(path)"]))
            }
            var made = repository
            made.root = path
            await snapshots.forget(made)
        }.value
    }

    /// The beginning of a chat's id, or of its hash where a device has chosen an odd one.
    private static func shortName(_ chat: String) -> String {
        let start = chat.utf8.prefix(8)
        let isPlain = start.count == 8 && start.allSatisfy { (0x61...0x66).contains($0) || (0x30...0x39).contains($0) }
        guard !isPlain else { return String(decoding: start, as: UTF8.self) }
        return SHA256.hash(data: Data(chat.utf8)).prefix(4).hexText
    }

    private static func hasBranch(_ branch: String, in directory: String) async throws -> Bool {
        try await GitProgram.run(
            ["show-ref", "--verify", "--quiet", "refs/heads/\(branch)"],
            in: directory,
            within: GitRepository.time
        ).isSuccess
    }

    // MARK: Listing

    /// The sessions, the newest first.
    ///
    /// - Parameter catalog: Only those in its projects; nil for all, as the owner sees them.
    func places(in catalog: ProjectCatalog?) async throws -> [AgentPlace] {
        try await table.all().filter { Self.isListed($0.record, in: catalog) }.map {
            AgentPlace($0.record, title: $0.title)
        }
    }

    private static func isListed(_ record: GitSessionRecord, in catalog: ProjectCatalog?) -> Bool {
        guard let catalog else { return true }
        return catalog.project(id: record.project) != nil
    }

    /// One session, with what would be lost if its working tree were removed.
    ///
    /// - Parameter catalog: As in ``places(in:)``.
    /// - Throws: ``HostError`` with `request.not_found`.
    func place(ofChat chat: String, in catalog: ProjectCatalog?) async throws -> AgentPlace {
        guard let found = try await table.session(ofChat: chat), Self.isListed(found.record, in: catalog) else {
            throw HostError(.requestNotFound, "No agent has a session of this chat in a project under git")
        }
        var place = AgentPlace(found.record, title: found.title)
        guard place.isWorktree else { return place }
        do {
            place.unsaved = try await asking.runUnlessCancelled(found.record.directory) {
                try await unsaved(found.record)
            }
        } catch {
            // Also where the host's own disk is full: the session can still be seen, and removed by force.
            guard let text = Self.reason(of: error) else { throw error }
            logger.notice("working tree not looked at", metadata: .failure(error, ["chat": "\(chat)"]))
            place.problem = text
        }
        return place
    }

    // MARK: Removing

    /// Removes the working tree of a chat and its branch.
    ///
    /// - Parameters:
    ///   - isForced: Whether also with work that is lost by that.
    ///   - device: Who asks; nil for the owner.
    ///   - catalog: As in ``places(in:)``.
    ///   - isBusy: Whether the chat has a turn.
    ///   - settle: Writes down what came of it, in the transaction after which the session is gone.
    ///   - forget: Lets the agent forget its session of the chat, before another one can begin.
    /// - Returns: What was removed.
    /// - Throws: ``HostError``: `request.not_found`, `request.invalid` for a session without a working tree of its own,
    ///   `chat.busy`, `session.unsaved`, `changes.unavailable` where git cannot do it.
    func remove(
        chat: String,
        isForced: Bool,
        by device: String?,
        in catalog: ProjectCatalog?,
        isBusy: (String) -> Bool,
        settle: @escaping @Sendable (AgentPlace, Database) throws -> Void,
        forget: (String) -> Void
    ) async throws -> AgentPlace {
        try await lock.run(chat) {
            guard !isBusy(chat) else {
                throw HostError(.chatBusy, "The agent works in this chat: wait for the answer, or cancel it")
            }
            let place = try await place(ofChat: chat, in: catalog)
            guard let record = try await table.record(ofChat: chat), let branch = record.worktreeBranch else {
                throw HostError(.requestInvalid, "The chat has no working tree of its own: nothing is removed")
            }
            if !isForced {
                guard let unsaved = place.unsaved else {
                    throw HostError(
                        .changesUnavailable,
                        "The host cannot tell what would be lost: \(place.problem ?? "git gave no answer")"
                    )
                }
                guard unsaved.isEmpty else {
                    throw HostError(
                        .sessionUnsaved,
                        "\(record.directory) has work that would be lost: \(unsaved.text)"
                    )
                }
            }
            do {
                try await remove(record, branch: branch)
            } catch {
                guard let text = GitError.text(of: error) else { throw error }
                throw HostError(.changesUnavailable, text)
            }
            let detail: JSONValue = [
                "chat": .string(chat), "branch": .string(branch), "forced": .bool(isForced),
            ]
            try await table.forget(chat: chat, audit: (device, detail, clock.now())) { try settle(place, $0) }
            forget(chat)
            return place
        }
    }

    private func remove(_ record: GitSessionRecord, branch: String) async throws {
        let time = Duration.seconds(60)
        if FileStatus(record.directory, followingLinks: false) != nil {
            // What it would ask about was looked at. A locked one stays.
            let removed = try await GitProgram.run(
                ["worktree", "remove", "--force", "--", record.directory],
                in: record.repository,
                within: time
            )
            guard removed.isSuccess else { throw GitError(.unreadable, "Git could not remove it: \(removed.error)") }
        } else {
            _ = try await GitProgram.run(["worktree", "prune"], in: record.repository, within: time)
        }
        await forgetKept(of: record)
        guard try await Self.hasBranch(branch, in: record.repository) else { return }
        let deleted = try await GitProgram.run(
            ["branch", "--quiet", "-D", "--", branch],
            in: record.repository,
            within: GitRepository.time
        )
        if !deleted.isSuccess {
            logger.notice("branch kept", metadata: ["branch": "\(branch)", "reason": "\(deleted.error)"])
        }
    }

    /// Removes what is kept of a working tree that is gone.
    func forgetKept(of record: GitSessionRecord) async {
        // What is kept is found by the repository and the directory, which need not exist any more.
        guard var made = try? await GitRepository.open(record.repository) else { return }
        made.root = record.directory
        await snapshots.forget(made)
    }

    /// What would be lost with a working tree: files that are not as in a commit, and commits that are on no other
    /// branch. Files that are ignored now, and were when the session began, do not count. A submodule that has been
    /// filled counts.
    private func unsaved(_ record: GitSessionRecord) async throws -> AgentPlace.Unsaved {
        var tips: [String] = []
        var directory = record.repository
        var files: Set<GitPath> = []
        if FileStatus(record.directory, followingLinks: false) != nil {
            let repository = try await GitRepository.open(record.directory)
            directory = record.directory
            if let commit = repository.commit { tips.append(commit) }
            // A worktree of the host's has a commit, unless someone has taken it away.
            guard let commit = repository.commit else { throw GitError(.unreadable, "The branch has no commit") }
            // With what was ignored when the session began, and with what is ignored now.
            for chat in [record.chat, nil] {
                let now = try await snapshots.take(repository, isKept: false, chat: chat)
                let changes: [GitSnapshots.Change]
                do {
                    changes = try await snapshots.changes(from: commit, to: now)
                } catch {
                    await now.remove()
                    throw error
                }
                await now.remove()
                files.formUnion(changes.flatMap(\.paths))
            }
            // What was only staged.
            let staged = try await GitProgram.run(
                ["diff-index", "--cached", "-z", "--raw", "--no-renames", "--ignore-submodules=dirty", "HEAD"],
                in: directory,
                limit: 32 << 20,
                within: snapshots.limits.time
            )
            guard staged.isSuccess else {
                throw GitError(.unreadable, "Git cannot read what is staged: \(staged.error)")
            }
            files.formUnion(GitSnapshots.parse(staged.output, digits: repository.digits).flatMap(\.paths))
            files.formUnion(try await filledSubmodules(in: directory))
        }
        var commits = 0
        if let branch = record.worktreeBranch {
            if try await Self.hasBranch(branch, in: directory) { tips.append("refs/heads/\(branch)") }
            if !tips.isEmpty {
                let listed = try await GitProgram.run(
                    ["rev-list", "--count"] + tips
                        + ["--not", "--exclude=\(branch)", "--branches", "--tags", "--remotes", "--"],
                    in: directory,
                    within: snapshots.limits.time
                )
                guard listed.isSuccess, let count = listed.lines.first.flatMap({ Int($0) }) else {
                    throw GitError(.unreadable, "Git cannot count the commits: \(listed.error)")
                }
                commits = count
            }
        }
        return AgentPlace.Unsaved(files: files.count, commits: commits)
    }

    /// The submodules of a working tree that have files. The host does not look into them, and they would be gone as
    /// well.
    private func filledSubmodules(in directory: String) async throws -> [GitPath] {
        let listed = try await GitProgram.run(
            ["ls-files", "-s", "-z"],
            in: directory,
            limit: 128 << 20,
            within: snapshots.limits.time
        )
        guard !listed.isCut else { throw GitError(.tooMuch, "The working tree has too many files") }
        guard listed.isSuccess else { throw GitError(.unreadable, "Git cannot list the files: \(listed.error)") }
        var filled: [GitPath] = []
        // `160000 0123… 0`, a tab, and the path.
        for line in listed.output.split(separator: 0) where line.starts(with: "160000 ".utf8) {
            guard let tab = line.firstIndex(of: UInt8(ascii: "\t")) else { continue }
            let path = GitPath(line[(tab + 1)...])
            // One whose name is not text cannot be looked for.
            if let name = String(validating: path.bytes, as: UTF8.self),
                FileStatus("\(directory)/\(name)/.git", followingLinks: false) == nil
            {
                continue
            }
            filled.append(path)
        }
        return filled
    }
}

extension AgentPlace {
    fileprivate init(_ record: GitSessionRecord, title: String) {
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
