import CompanionWire
import FoundationEssentials
import LocalState

/// The findings of a look at a working tree.
struct WorktreeLook: Sendable {
    var unsaved: Worktree.Unsaved
    /// The commit at the end of its branch; nil if there was no such branch. Later commits were not looked at.
    var tip: String?
}

/// Finds the work that would be lost with a working tree.
struct UnsavedWork: Sendable {
    let snapshots: GitSnapshots

    /// Finds the work that would be lost with a working tree: files that differ from its commit, commits that no other
    /// reference leads to, and anything else that only its git directory holds, such as an unfinished rebase. Files
    /// that git ignores, now and by the `.gitignore` files of the commit at which the session began, do not count. A
    /// submodule with files counts.
    ///
    /// - Parameter aside: The path that the working tree was moved to. Default: nil, it is at its place.
    /// - Throws: ``GitError`` where git cannot tell, as with a directory that it cannot open.
    func find(in session: GitSessionRecord, movedTo aside: String? = nil) async throws -> WorktreeLook {
        let directory = aside ?? session.directory
        let isThere = FileStatus(directory, followingLinks: false) != nil
        let entry = try await BlockingCall.run {
            let entry = WorktreeEntry(of: session)
            // Git would look for what is unsaved in another repository.
            guard !isThere || entry?.isUsed(by: directory) == true else {
                throw GitError(.unreadable, "\(session.directory)/.git does not lead to the worktree's git directory")
            }
            return entry
        }
        let formerRoot = isThere && aside != nil ? session.directory : nil
        var opened = try await GitRepository.open(isThere ? directory : session.repository, movedFrom: formerRoot)
        opened.firstCommit = session.baseCommit
        let repository = opened
        var files: Set<GitPath> = []
        var tips: Set<String> = []
        if isThere {
            // A worktree of the host's has a commit, unless someone has taken it away.
            guard let commit = repository.commit else { throw GitError(.unreadable, "The branch has no commit") }
            tips.insert(commit)
            files = try await changedFiles(of: repository, since: commit, in: session)
        }
        let content = try await BlockingCall.run {
            try entry?.content(digits: repository.digits) ?? WorktreeEntry.Content()
        }
        tips.formUnion(content.objects)
        var tip: String?
        if let branch = session.worktreeBranch {
            tip = try await GitBranch.find(branch, in: repository.root, of: repository.moved)?.tip
            if let tip { tips.insert(tip) }
            // It goes with the branch.
            let log = "\(repository.common)/logs/refs/heads/\(branch)"
            let text = try await BlockingCall.run {
                let text = WorktreeEntry.text(of: log, limit: 64 << 20)
                guard text != nil || FileStatus(log, followingLinks: false) == nil else {
                    throw GitError(.unreadable, "\(log) cannot be read")
                }
                return text ?? []
            }
            tips.formUnion(WorktreeEntry.objects(in: text, digits: repository.digits))
        }
        let unsaved = Worktree.Unsaved(
            files: files.count,
            commits: try await countCommits(tips, without: session.worktreeBranch, in: repository),
            unfinished: content.unfinished.sorted().map { GitPath($0.utf8).text }
        )
        return WorktreeLook(unsaved: unsaved, tip: tip)
    }

    private func changedFiles(
        of repository: GitRepository,
        since commit: String,
        in session: GitSessionRecord
    ) async throws -> Set<GitPath> {
        let now = try await snapshots.take(repository, isKept: false)
        var files: Set<GitPath>
        do {
            try GitSnapshots.checkIsWhole(now.warning)
            files = try await snapshots.hiddenFiles(in: now, since: session.baseCommit)
            files.formUnion(try await snapshots.changes(from: commit, to: now).flatMap(\.paths))
        } catch {
            await now.remove()
            throw error
        }
        await now.remove()
        // What was only staged.
        let staged = try await GitProgram.run(
            ["diff-index", "--cached", "-z", "--raw", "--no-renames", "--ignore-submodules=dirty", "HEAD"],
            in: repository.root,
            of: repository.moved,
            limit: 32 << 20,
            within: snapshots.limits.time
        )
        guard staged.isSuccess else {
            throw GitError(.unreadable, "Git cannot read what is staged: \(staged.error)")
        }
        files.formUnion(GitSnapshots.parse(staged.output, digits: repository.digits).flatMap(\.paths))
        files.formUnion(try await filledSubmodules(in: repository))
        return files
    }

    /// How many commits some names lead to and no reference that stays.
    ///
    /// - Parameters:
    ///   - tips: Names of objects, or of references. Those that are no commits, or are not there, do not count.
    ///   - branch: That of the working tree.
    func countCommits(
        _ tips: Set<String>,
        without branch: String?,
        in repository: GitRepository
    ) async throws -> Int {
        guard !tips.isEmpty else { return 0 }
        let listed = try await GitProgram.run(
            ["for-each-ref", "--format=%(objectname) %(refname)%00%(symref)"],
            in: repository.root,
            of: repository.moved,
            limit: 64 << 20,
            within: snapshots.limits.time
        )
        guard listed.isSuccess, !listed.isCut else {
            throw GitError(.unreadable, "Git cannot list the references: \(listed.error)")
        }
        let going = ["refs/worktree/", "refs/bisect/", "refs/rewritten/"]
        let names = branch.map { ["refs/heads/\($0)"] } ?? []
        var input = tips.sorted()
        for line in listed.output.split(separator: UInt8(ascii: "\n")) {
            let parts = line.split(separator: 0, omittingEmptySubsequences: false)
            // A symbolic reference holds nothing, and may lead to what is removed.
            guard parts.count == 2, parts[1].isEmpty, let blank = parts[0].firstIndex(of: UInt8(ascii: " ")) else {
                continue
            }
            let name = parts[0][(blank + 1)...]
            let isOwn = going.contains { name.starts(with: $0.utf8) } || names.contains { name.elementsEqual($0.utf8) }
            if !isOwn { input.append("^" + String(decoding: parts[0][..<blank], as: UTF8.self)) }
        }
        let counted = try await GitProgram.run(
            ["rev-list", "--count", "--ignore-missing", "--stdin"],
            in: repository.root,
            of: repository.moved,
            input: Array((input.joined(separator: "\n") + "\n").utf8),
            within: snapshots.limits.time
        )
        guard counted.isSuccess, let count = counted.lines.first.flatMap({ Int($0) }) else {
            throw GitError(.unreadable, "Git cannot count the commits: \(counted.error)")
        }
        return count
    }

    /// The submodules of a working tree that have files. The host does not look into them, and they would be gone as
    /// well.
    private func filledSubmodules(in repository: GitRepository) async throws -> [GitPath] {
        let listed = try await GitProgram.run(
            ["ls-files", "-s", "-z"],
            in: repository.root,
            of: repository.moved,
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
                FileStatus("\(repository.root)/\(name)/.git", followingLinks: false) == nil
            {
                continue
            }
            filled.append(path)
        }
        return filled
    }
}
