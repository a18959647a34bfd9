import FoundationEssentials
import Glibc
import LocalState

/// Lists of files, and those that git ignores.
extension GitSnapshots {
    /// Lists the files that are not as in the commit, by `ls-files -z -t`, without those that git ignores.
    func listFiles(_ repository: GitRepository) async throws -> GitProgram.Result {
        let home = home(of: repository)
        // What was read once for a commit stays in the index.
        if FileManager.default.contents(atPath: home + "/commit") == Self.note(of: repository) {
            async let isThere = hasCommit(repository)
            do {
                try await SparseCheckout(snapshots: self, repository: repository).markSkipped()
                let start = ContinuousClock.now
                let kinds = ["--modified", "--deleted", "--others"]
                let listed = try await listOnce(kinds, in: repository)
                if try await isThere, listed.isSuccess || listed.isCut {
                    if start.duration(to: .now) > limits.listing { _ = try? await refresh(repository) }
                    return listed
                }
            } catch let error as GitProgram.Failure where error.reason == .tooSlow {
                // Files that were only touched are read once more below, and not by the next turn.
            }
        }
        try await readCommit(repository)
        try await SparseCheckout(snapshots: self, repository: repository).markSkipped()
        async let others = listOnce(["--others"], in: repository)
        try await refresh(repository)
        let changed = try await listOnce(["--modified", "--deleted"], in: repository)
        try Self.write(Array(Self.note(of: repository)), to: home + "/commit", isDurable: false)
        var listed = try await others
        guard listed.isSuccess, !listed.isCut else { return listed }
        guard changed.isSuccess, !changed.isCut else { return changed }
        listed.output += changed.output
        if listed.error.isEmpty { listed.error = changed.error }
        return listed
    }

    /// The host's own index remembers which files are as in the commit: they are read once.
    private func refresh(_ repository: GitRepository) async throws {
        _ = try await git(
            repository.folder.isEmpty
                ? ["update-index", "-q", "--refresh"] : ["--literal-pathspecs", "add", "--refresh", "--"],
            of: repository,
            paths: repository.pathspecs,
            index: home(of: repository) + "/index"
        )
    }

    /// Fills the index with the commit. Its knowledge of unchanged files is kept.
    private func readCommit(_ repository: GitRepository) async throws {
        let home = home(of: repository)
        unlink(home + "/commit")
        let seed = repository.commit.map { ["read-tree", "-m", $0] } ?? ["read-tree", "--empty"]
        if try await !git(seed, of: repository, index: home + "/index").isSuccess {
            // An index that was damaged.
            unlink(home + "/index")
            unlink(home + "/index.lock")
            let again = try await git(seed, of: repository, index: home + "/index")
            guard again.isSuccess else { throw GitError(.unreadable, "Git cannot read the commit: \(again.error)") }
        }
        guard !repository.folder.isEmpty else { return }
        // Git takes a folder without a file that it knows for another repository, once an agent makes a `.git` there.
        let name = String(repeating: "1", count: repository.digits)
        let marked = try await git(
            ["update-index", "-z", "--index-info"],
            of: repository,
            index: home + "/index",
            input: Array("100644 \(name)\t\(repository.folder)/.pairtool\0".utf8)
        )
        guard marked.isSuccess else { throw GitError(.unreadable, "Git cannot note the folder: \(marked.error)") }
    }

    /// The note about the index: the commit that it was filled with, and the folder that is looked at.
    static func note(of repository: GitRepository) -> Data {
        Data(((repository.commit ?? "none") + (repository.folder.isEmpty ? "" : "\n" + repository.folder)).utf8)
    }

    private func hasCommit(_ repository: GitRepository) async throws -> Bool {
        guard let commit = repository.commit else { return true }
        return try await git(["cat-file", "-e", commit + "^{tree}"], of: repository).isSuccess
    }

    private func listOnce(
        _ kinds: [String],
        in repository: GitRepository
    ) async throws -> GitProgram.Result {
        try await git(
            ["--literal-pathspecs", "ls-files", "-z", "-t"] + kinds + ["--exclude-standard", "--"],
            of: repository,
            paths: repository.pathspecs,
            index: home(of: repository) + "/index",
            limit: 32 << 20
        )
    }

    /// Lists the files of an earlier tree that the commit does not have, as new ones.
    func listFiles(of earlier: GitTree?, in repository: GitRepository) async throws -> [UInt8] {
        guard let earlier else { return [] }
        let listed = try await git(
            ["--literal-pathspecs", "diff-index", "--cached", "-z", "--no-renames", "--name-only", "--diff-filter=D"]
                + [earlier.name, "--"],
            of: repository,
            paths: repository.pathspecs,
            index: home(of: repository) + "/index",
            borrowing: earlier.objects,
            limit: 32 << 20
        )
        guard listed.isSuccess, !listed.isCut else {
            throw GitError(.unreadable, "Git cannot list the earlier files: \(listed.error)")
        }
        let paths = listed.output.split(separator: 0).map { GitPath($0) }
        let replaced = try await committedDirectories(of: repository, among: paths)
        return paths.filter { !replaced.contains($0) }.flatMap { Array("? ".utf8) + $0.bytes + [0] }
    }

    /// The paths that are directories now, and have files of the commit in them. As another repository, each would take the
    /// place of those files.
    private func committedDirectories(
        of repository: GitRepository,
        among paths: [GitPath]
    ) async throws -> Set<GitPath> {
        let hasDirectory = try await BlockingCall.run {
            let root = open(repository.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard root >= 0 else { throw GitError(.unreadable, "\(repository.root) cannot be opened") }
            defer { close(root) }
            return paths.contains { path in
                let name = path.bytes.map { CChar(bitPattern: $0) } + [0]
                return FileStatus(nameBytes: name, in: root)?.kind == .directory
            }
        }
        guard hasDirectory else { return [] }
        let listed = try await git(
            ["--literal-pathspecs", "ls-files", "-z", "--cached", "--"],
            of: repository,
            paths: repository.pathspecs,
            index: home(of: repository) + "/index",
            limit: 256 << 20
        )
        guard listed.isSuccess, !listed.isCut else {
            throw GitError(.unreadable, "Git cannot list the commit's files: \(listed.error)")
        }
        var directories: Set<GitPath> = []
        for file in listed.output.split(separator: 0) {
            var directory = GitPath(file).directory
            while let next = directory, directories.insert(next).inserted { directory = next.directory }
        }
        return directories
    }

    /// The files below the folder that are not in a snapshot because git ignores them, and would not by the
    /// `.gitignore` files of a commit alone: an agent can write such files and the owner's lists, and must not hide
    /// work with them.
    ///
    /// - Parameters:
    ///   - now: A snapshot of just now that is not kept. Its index is of no use after this.
    ///   - commit: That of the session's start; nil if there was none.
    ///   - start: Only files that have come or changed since then; nil for all.
    /// - Throws: ``GitError``; where all are asked for, also if git could not open a directory.
    func hiddenFiles(
        in now: GitSnapshot,
        since commit: String?,
        changedAfter start: Date? = nil
    ) async throws -> Set<GitPath> {
        let repository = now.repository
        guard let temporary = now.temporary else { throw GitError(.unreadable, "The snapshot has no index") }
        let index = temporary + "/index"
        // If the working tree has no list of this name, git reads those of the index that are marked as not checked out.
        let name = UUID().uuidString
        if let commit { try await addIgnoreFiles(of: commit, named: name, to: index, in: repository) }
        let listed = try await git(
            ["--literal-pathspecs", "ls-files", "-z", "--others", "--exclude-per-directory=" + name, "--"],
            of: repository,
            // With the folder alone, git forgets the lists above it.
            paths: repository.folder.isEmpty ? [] : repository.pathspecs + [Array(name.utf8)],
            index: index,
            limit: 32 << 20
        )
        guard !listed.isCut else { throw GitError(.tooMuch, "Git ignores too many files") }
        guard listed.isSuccess else {
            throw GitError(.unreadable, "Git cannot list what it ignores: \(listed.error)")
        }
        if start == nil { try Self.checkIsWhole(listed.error) }
        // Another repository has a slash at its end.
        let slash = UInt8(ascii: "/")
        let hidden = listed.output.split(separator: 0).map { GitPath($0.last == slash ? $0.dropLast() : $0) }
        guard let start else { return Set(hidden.compactMap { $0.below(repository.folder) }) }
        return try await BlockingCall.run {
            let root = open(repository.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard root >= 0 else { throw GitError(.unreadable, "\(repository.root) cannot be opened") }
            defer { close(root) }
            let changed = hidden.filter { path in
                let name = path.bytes.map { CChar(bitPattern: $0) } + [0]
                // Copied, unpacked and moved files keep the times of their content.
                return FileStatus(nameBytes: name, in: root).map { $0.statusChangedAt >= start } ?? false
            }
            return Set(changed.compactMap { $0.below(repository.folder) })
        }
    }

    /// - Parameter warning: What git wrote to standard error while it listed files: it goes on after a directory that
    ///   it cannot open, or a list of ignored files that it cannot read.
    /// - Throws: ``GitError`` if there is one.
    static func checkIsWhole(_ warning: String) throws(GitError) {
        guard !warning.isEmpty else { return }
        // A path that is too long to be opened is none for people.
        let reason = warning.utf8.count < 1000 ? ": \(warning)" : ""
        throw GitError(.unreadable, "Git cannot list all files\(reason)")
    }

    /// Adds the `.gitignore` files of a commit to an index under another name, as files that are not checked out.
    private func addIgnoreFiles(
        of commit: String,
        named name: String,
        to index: String,
        in repository: GitRepository
    ) async throws {
        let listed = try await git(["ls-tree", "-r", "-z", "--full-tree", commit], of: repository, limit: 256 << 20)
        guard listed.isSuccess, !listed.isCut else {
            throw GitError(.unreadable, "Git cannot read the commit of the session's start: \(listed.error)")
        }
        var entries: [UInt8] = []
        var paths: [UInt8] = []
        let file = Array(".gitignore".utf8)
        // `100644 blob 0123…`, a tab, and the path. Git does not follow links.
        for line in listed.output.split(separator: 0) where line.starts(with: "100".utf8) {
            guard let tab = line.firstIndex(of: UInt8(ascii: "\t")), line.suffix(file.count).elementsEqual(file) else {
                continue
            }
            let directory = line[(tab + 1)...].dropLast(file.count)
            guard directory.isEmpty || directory.last == UInt8(ascii: "/") else { continue }
            let path = Array(directory) + Array(name.utf8) + [0]
            entries += Array(line[...tab]) + path
            paths += path
        }
        for (options, input) in [(["--index-info"], entries), (["--skip-worktree", "--stdin"], paths)] {
            let done = try await git(["update-index", "-z"] + options, of: repository, index: index, input: input)
            guard done.isSuccess else {
                throw GitError(.unreadable, "Git cannot note the lists of ignored files: \(done.error)")
            }
        }
    }
}
