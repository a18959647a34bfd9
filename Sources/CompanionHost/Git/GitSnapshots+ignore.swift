import FoundationEssentials
import Glibc
import LocalState

/// What git ignores, as it was when a session began: an agent can write a `.gitignore`, and would hide files with it.
extension GitSnapshots {
    /// - Parameter list: What was kept when the session began. Default: what git ignores now.
    func listFiles(
        _ repository: GitRepository,
        _ home: String,
        ignoring list: String?
    ) async throws -> GitProgram.Result {
        // What was read once for a commit stays in the index.
        if FileManager.default.contents(atPath: home + "/commit") == Self.note(of: repository) {
            async let isThere = hasCommit(repository)
            do {
                try await markSkipped(repository, home)
                let start = ContinuousClock.now
                let kinds = ["--modified", "--deleted", "--others"]
                let listed = try await listOnce(kinds, repository, home, ignoring: list)
                if try await isThere, listed.isSuccess || listed.isCut {
                    if start.duration(to: .now) > limits.listing { _ = try? await refresh(repository, home) }
                    return listed
                }
            } catch let error as GitProgram.Failure where error.reason == .tooSlow {
                // Files that were only touched are read once more below, and not by the next turn.
            }
        }
        try await readCommit(repository, home)
        try await markSkipped(repository, home)
        async let others = listOnce(["--others"], repository, home, ignoring: list)
        try await refresh(repository, home)
        let changed = try await listOnce(["--modified", "--deleted"], repository, home, ignoring: list)
        try Self.write(Array(Self.note(of: repository)), to: home + "/commit", isDurable: false)
        var listed = try await others
        guard listed.isSuccess, !listed.isCut else { return listed }
        guard changed.isSuccess, !changed.isCut else { return changed }
        listed.output += changed.output
        return listed
    }

    /// The host's own index remembers which files are as in the commit: they are read once.
    private func refresh(_ repository: GitRepository, _ home: String) async throws {
        _ = try await git(
            repository.folder.isEmpty
                ? ["update-index", "-q", "--refresh"] : ["--literal-pathspecs", "add", "--refresh", "--"],
            repository,
            paths: repository.pathspecs,
            index: home + "/index"
        )
    }

    /// Fills the index with the commit. What it knows of files that are as before stays.
    func readCommit(_ repository: GitRepository, _ home: String) async throws {
        unlink(home + "/commit")
        let seed = repository.commit.map { ["read-tree", "-m", $0] } ?? ["read-tree", "--empty"]
        if try await !git(seed, repository, index: home + "/index").isSuccess {
            // An index that was damaged.
            unlink(home + "/index")
            unlink(home + "/index.lock")
            let again = try await git(seed, repository, index: home + "/index")
            guard again.isSuccess else { throw GitError(.unreadable, "Git cannot read the commit: \(again.error)") }
        }
        guard !repository.folder.isEmpty else { return }
        // Git takes a folder without a file that it knows for another repository, once an agent makes a `.git` there.
        let name = String(repeating: "1", count: repository.digits)
        let marked = try await git(
            ["update-index", "-z", "--index-info"],
            repository,
            index: home + "/index",
            input: Array("100644 \(name)\t\(repository.folder)/.pairtool\0".utf8)
        )
        guard marked.isSuccess else { throw GitError(.unreadable, "Git cannot note the folder: \(marked.error)") }
    }

    /// What is noted of the commit that the index was filled with, and of the folder that is looked at.
    static func note(of repository: GitRepository) -> Data {
        Data(((repository.commit ?? "none") + (repository.folder.isEmpty ? "" : "\n" + repository.folder)).utf8)
    }

    private func hasCommit(_ repository: GitRepository) async throws -> Bool {
        guard let commit = repository.commit else { return true }
        return try await git(["cat-file", "-e", commit + "^{tree}"], repository).isSuccess
    }

    private func listOnce(
        _ kinds: [String],
        _ repository: GitRepository,
        _ home: String,
        ignoring list: String?
    ) async throws -> GitProgram.Result {
        try await git(
            ["--literal-pathspecs", "ls-files", "-z", "-t"] + kinds
                + [list.map { "--exclude-from=" + $0 } ?? "--exclude-standard", "--"],
            repository,
            paths: repository.pathspecs,
            index: home + "/index",
            limit: 32 << 20
        )
    }

    /// Keeps all that git ignores now as one list: by files that are tracked, in the folder, or above it.
    ///
    /// - Parameters:
    ///   - listed: By ``listFiles(_:_:ignoring:)``.
    ///   - list: nil where nothing is to be kept.
    func keepIgnoreFiles(
        _ repository: GitRepository,
        _ home: String,
        listed: [UInt8],
        in list: String?
    ) async throws {
        guard let list else { return }
        let wanted = "**/.gitignore"
        let folder = GitPath(repository.folder.utf8)
        let start: [UInt8] = repository.folder.isEmpty ? [] : folder.pattern + [UInt8(ascii: "/")]
        async let tracked = git(
            ["ls-files", "-z", "--cached", "--", ":(glob)" + wanted],
            repository,
            index: home + "/index",
            limit: 32 << 20
        )
        // Those that ignore themselves.
        async let ignored = git(
            ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory", "--"],
            repository,
            paths: [Array(":(glob)".utf8) + start + Array(wanted.utf8)],
            index: home + "/index",
            // Git prints all directories that it ignores as well.
            limit: 32 << 20
        )
        let known = try Self.names(await tracked)
        var names = try known.union(Self.names(await ignored))
        let others = listed.split(separator: 0).filter { $0.first == UInt8(ascii: "?") }
        names.formUnion(others.map { GitPath($0.dropFirst(2)) })
        var inside: GitPath? = repository.folder.isEmpty ? nil : folder
        while let below = inside {
            inside = below.directory
            let above: [UInt8] = inside.map { $0.bytes + [UInt8(ascii: "/")] } ?? []
            names.insert(GitPath(above + Array(".gitignore".utf8)))
        }
        let files = names.filter { name in
            name.bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).last?
                .elementsEqual(".gitignore".utf8) == true
        }
        try await BlockingCall.run {
            let root = open(repository.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard root >= 0 else { throw GitError.notKept }
            defer { close(root) }
            var lines = FileManager.default.contents(atPath: home + "/info/exclude").map { Array($0) } ?? []
            var trackedLines = lines
            var size = 0
            // The last line that fits decides: a directory's own list comes after those above it.
            for file in files.sorted(by: { $0.depth < $1.depth }) {
                guard let content = try Self.content(ofIgnoreFile: file, in: root) else { continue }
                // What each line gets in addition is at most `!/`, the directory and `/**/`.
                let added = (file.directory?.pattern.count ?? 0) + 6
                size += content.count + (content.count { $0 == UInt8(ascii: "\n") } + 1) * added
                guard size <= 16 << 20 else {
                    throw GitError(.tooMuch, "The project has too many patterns of files to ignore")
                }
                let more = Self.lines(ofIgnoreFile: content, in: file.directory)
                lines += more
                if known.contains(file) { trackedLines += more }
            }
            try Self.write(trackedLines, to: list + "-tracked")
            try Self.write(lines, to: list)
        }
    }

    /// - Returns: nil for a list that is gone, or that git does not read either. Blocks.
    private static func content(ofIgnoreFile path: GitPath, in root: Int32) throws -> [UInt8]? {
        let name = path.bytes.map { CChar(bitPattern: $0) } + [0]
        // Opening a pipe must not block.
        let descriptor = openat(root, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            guard [ENOENT, ENOTDIR, ELOOP, EACCES].contains(errno) else { throw GitError.notKept }
            return nil
        }
        defer { close(descriptor) }
        guard let status = FileStatus(descriptor: descriptor) else { throw GitError.notKept }
        guard status.kind == .file else { return nil }
        do {
            return try PrivateFile.content(of: descriptor, named: path.text, limit: 1 << 20)
        } catch {
            throw GitError.notKept
        }
    }

    /// How many files have come or changed since a session began that only lists hide which were not tracked then; nil
    /// where the lists were not kept.
    func hiddenFiles(_ repository: GitRepository, chat: String, since start: Date) async throws -> Int? {
        let home = home(of: repository)
        let list = "\(home)/info/ignore-files-\(Self.hash(ofChat: chat))"
        guard FileStatus(list) != nil, FileStatus(list + "-tracked") != nil else { return nil }
        @Sendable func others(_ list: String) async throws -> Set<GitPath> {
            try Self.names(
                await git(
                    ["--literal-pathspecs", "ls-files", "-z", "--others", "--exclude-from=" + list, "--"],
                    repository,
                    paths: repository.pathspecs,
                    index: home + "/index",
                    limit: 32 << 20
                )
            )
        }
        async let all = others(list + "-tracked")
        let shown = try await others(list)
        let hidden = try await all.subtracting(shown)
        return try await BlockingCall.run {
            let root = open(repository.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard root >= 0 else { throw GitError(.unreadable, "\(repository.root) cannot be opened") }
            defer { close(root) }
            return hidden.count { path in
                let name = path.bytes.map { CChar(bitPattern: $0) } + [0]
                // Copied, unpacked and moved files keep the times of their content.
                return FileStatus(nameBytes: name, in: root).map { $0.statusChangedAt >= start } ?? false
            }
        }
    }

    private static func names(_ result: GitProgram.Result) throws -> Set<GitPath> {
        guard !result.isCut else { throw GitError(.tooMuch, "Git ignores too many files") }
        guard result.isSuccess else {
            throw GitError(.unreadable, "Git cannot list what it ignores: \(result.error)")
        }
        return Set(result.output.split(separator: 0).map { GitPath($0) })
    }

    /// The lines of a `.gitignore` as they are written at the top directory (gitignore(5)).
    static func lines(ofIgnoreFile content: [UInt8], in directory: GitPath?) -> [UInt8] {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let above = directory?.pattern
        var lines: [UInt8] = []
        for line in content.dropFirst(content.starts(with: mark) ? 3 : 0).split(separator: UInt8(ascii: "\n")) {
            guard line.first != UInt8(ascii: "#") else { continue }
            guard let above else {
                lines += Array(line) + [UInt8(ascii: "\n")]
                continue
            }
            let isNegated = line.first == UInt8(ascii: "!")
            let pattern = isNegated ? line.dropFirst() : line
            var name = pattern
            if name.last == UInt8(ascii: "\r") { name = name.dropLast() }
            while name.last == UInt8(ascii: " ") { name = name.dropLast() }
            guard !name.isEmpty else { continue }
            lines += Array((isNegated ? "!/" : "/").utf8)
            lines += above
            // A pattern with a slash before its end is meant from its own directory on, another one anywhere below.
            let isAnchored = name.dropLast().contains(UInt8(ascii: "/"))
            lines += Array((!isAnchored ? "/**/" : name.first == UInt8(ascii: "/") ? "" : "/").utf8)
            lines += Array(pattern) + [UInt8(ascii: "\n")]
        }
        return lines
    }
}

extension GitError {
    fileprivate static let notKept = GitError(.unreadable, "Git's lists of ignored files cannot be kept")
}

extension GitPath {
    /// How many directories are above it.
    fileprivate var depth: Int { bytes.count { $0 == UInt8(ascii: "/") } }
}
