import CompanionWire
import Glibc
import LocalState

/// How long the parts of a removal may take.
struct RemovalLimits: Sendable {
    /// For the search for work that would be lost; nil for no limit.
    var look: Duration?
    var files: Duration
    /// For each run of git.
    var branch: Duration
    /// Whether to go on after an entry that cannot be removed.
    var isForced = false

    static var usual: RemovalLimits { RemovalLimits(look: nil, files: .seconds(60), branch: GitRepository.time) }
    /// By force: 5 s together, whatever git does. A test of what is removed, not of how fast, allows more.
    @TaskLocal static var forced = RemovalLimits(
        look: .milliseconds(1500),
        files: .seconds(1),
        branch: .seconds(1),
        isForced: true
    )
}

extension UnfinishedWorktree {
    /// Moves the directory aside, to the path at which it is removed. From then on nobody finds it to work in it, and
    /// the next host knows that its removal has begun.
    ///
    /// - Returns: The path that it has now; nil where it is at its place: it is new and not the host's, or, by force,
    ///   it cannot be moved.
    /// - Throws: ``GitError`` if it cannot be moved.
    func setAside() async throws -> String? {
        try await BlockingCall.run { try moveAside() }
    }

    private func moveAside() throws -> String? {
        do {
            if try hasBegun { return aside }
            guard isRemoval || session.isDirectoryOfHost else { return nil }
            try TreeRemoval.rename(directory, to: aside)
            return aside
        } catch {
            if isForced { return nil }
            throw (error as? TreeRemoval.Failure).map { GitError(.unreadable, $0.message) } ?? error
        }
    }

    /// Moves the directory back to its place, where it can be seen and removed by force.
    ///
    /// - Returns: Whether nothing is left aside.
    func putBack() async -> Bool {
        let isBack = try? await BlockingCall.run {
            if try hasBegun, FileStatus(directory, followingLinks: false) == nil {
                try TreeRemoval.rename(aside, to: directory)
            }
            return try !hasBegun
        }
        return isBack ?? false
    }
}

extension GitSessionRecord {
    /// Whether the directory is the one that the host has made: somebody else's may have been made at the same moment.
    /// Blocks.
    fileprivate var isDirectoryOfHost: Bool {
        guard let entry = WorktreeEntry(of: self) else { return false }
        return entry.directory?.isSame(as: directory) == true || entry.isUsed(by: directory)
    }

    /// Removes the directory and its entry in the repository. Blocks.
    ///
    /// - Parameters:
    ///   - aside: The path that the directory was moved to; nil for one at its place.
    ///   - isNew: Whether no agent has worked in it.
    /// - Throws: ``GitError`` if something cannot be removed.
    func removeFiles(
        aside: String?,
        within limits: RemovalLimits,
        isNew: Bool
    ) throws -> TreeRemoval.Outcome {
        let deadline = ContinuousClock.now + limits.files
        let entry = WorktreeEntry(of: self)
        let isOurs = !isNew || aside != nil || isDirectoryOfHost
        let path = aside ?? directory
        do {
            // Somebody else's directory is not empty.
            if !isOurs { rmdir(path) }
            let outcome =
                !isOurs ? .removed : try TreeRemoval.remove(path, until: deadline, isForced: limits.isForced)
            // Git notes in an entry where the working tree was found last.
            guard let entry, entry.directory?.isSame(as: path) == true || !entry.isMoved(from: directory) else {
                return outcome
            }
            // The entry tells the next host that the directory is the host's.
            if isNew, outcome == .unfinished { return outcome }
            let ofEntry = try TreeRemoval.remove(entry.path, until: deadline, isForced: limits.isForced)
            return ofEntry == .removed || ofEntry == .misled || outcome == .unfinished ? outcome : ofEntry
        } catch {
            // It is put back.
            let rest = aside.flatMap { error.message.dropping(prefix: $0) }
            throw GitError(.unreadable, rest.map { directory + String($0) } ?? error.message)
        }
    }

    /// Waits until the git of a host that has been killed has made a working tree, or has failed to.
    ///
    /// - Throws: ``GitError`` if it takes too long.
    func waitForGit() async throws {
        let words = [directory, worktreeBranch].compactMap(\.self).map { Array($0.utf8) }
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

    /// Whether the directory that all working trees of a repository share can be opened. Blocks.
    static func isRepositoryThere(_ repository: String) -> Bool {
        guard let common = common(of: repository) else { return false }
        let directory = Glibc.open(common, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return false }
        close(directory)
        return true
    }
}
