import CompanionWire
import Crypto
import FoundationEssentials
import Glibc
import LocalState

/// A sparse checkout: a file that is not checked out does not count as deleted.
struct SparseCheckout: Sendable {
    let snapshots: GitSnapshots
    let repository: GitRepository

    private var index: String { snapshots.home(of: repository) + "/index" }

    /// Marks files in the host's index as not checked out, if the repository's own index does so and they do not exist.
    /// Files that exist are compared, whatever the repository's index says.
    func markSkipped() async throws {
        guard repository.isSparse else { return }
        async let theirs = absentFiles()
        async let ours = snapshots.git(Self.listing, of: repository, index: index, limit: Self.listLimit)
        let absent = try await theirs
        let (known, marked) = try Self.skipped(await ours)
        let add = absent.intersection(known.union(marked)).subtracting(marked)
        for (option, paths) in [("--skip-worktree", add), ("--no-skip-worktree", marked.subtracting(absent))]
        where !paths.isEmpty {
            let done = try await snapshots.git(
                ["update-index", "-z", option, "--stdin"],
                of: repository,
                index: index,
                input: Array(paths.map { $0.bytes + [0] }.joined())
            )
            guard done.isSuccess else {
                throw GitError(.unreadable, "Git cannot note what is not checked out: \(done.error)")
            }
        }
    }

    /// Stores the list of files that are not checked out when the session of a chat begins.
    func keepAbsentFiles(chat: String) async throws {
        let list = absentList(chat: chat)
        guard repository.isSparse else {
            unlink(list)
            return
        }
        let absent = try await absentFiles()
        try await BlockingCall.run { try GitSnapshots.write(Array(absent.map { $0.bytes + [0] }.joined()), to: list) }
    }

    /// The files of a tree that are not checked out, and were when the session of a chat began: an agent can have git
    /// skip files that it has removed.
    ///
    /// - Parameter tree: The tree of the working tree from then.
    /// - Returns: Those below the folder.
    func absentFiles(since tree: String, chat: String) async throws -> Set<GitPath> {
        guard repository.isSparse else { return [] }
        var absent = try await absentFiles()
        let list = absentList(chat: chat)
        let kept = try await GitFile.reading { try GitFile.read(list, limit: Self.listLimit) ?? [] }
        absent.subtract(kept.split(separator: 0).map { GitPath($0) })
        guard !absent.isEmpty else { return [] }
        let listed = try await snapshots.git(
            ["ls-tree", "-r", "-z", "--name-only", "--full-tree", tree],
            of: repository,
            limit: Self.listLimit
        )
        guard listed.isSuccess, !listed.isCut else {
            throw GitError(.unreadable, "Git cannot list the files from the start of the session: \(listed.error)")
        }
        absent.formIntersection(listed.output.split(separator: 0).map { GitPath($0) })
        return Set(absent.compactMap { $0.below(repository.folder) })
    }

    private func absentList(chat: String) -> String {
        let hash = SHA256.hash(data: Data(chat.utf8)).prefix(16).hexText
        return "\(snapshots.home(of: repository))/info/absent-\(hash)"
    }

    /// The files that the repository's own index says are not checked out, and that are not there.
    private func absentFiles() async throws -> Set<GitPath> {
        let listed = try await GitProgram.run(
            Self.listing,
            in: repository.root,
            of: repository.moved,
            limit: Self.listLimit,
            within: snapshots.limits.time
        )
        let wanted = try Self.skipped(listed).skipped
        return try await BlockingCall.run {
            let root = open(repository.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard root >= 0 else { throw GitError(.unreadable, "\(repository.root) cannot be opened") }
            defer { close(root) }
            var directories = KnownDirectories(root: root)
            return wanted.filter { directories.lacks($0) }
        }
    }

    private static let listing = ["ls-files", "-z", "-t", "--cached"]
    private static let listLimit = 256 << 20

    /// The files in an index: those that are checked out, and those that are not.
    private static func skipped(_ result: GitProgram.Result) throws -> (known: Set<GitPath>, skipped: Set<GitPath>) {
        guard !result.isCut else { throw GitError(.tooMuch, "The working tree has too many files") }
        guard result.isSuccess else { throw GitError(.unreadable, "Git cannot read the index: \(result.error)") }
        var known: Set<GitPath> = []
        var skipped: Set<GitPath> = []
        for line in result.output.split(separator: 0) where line.count > 2 {
            let path = GitPath(line.dropFirst(2))
            if line.first == UInt8(ascii: "S") { skipped.insert(path) } else { known.insert(path) }
        }
        return (known, skipped)
    }

    /// Remembers which directories exist: most files that are not checked out have none.
    private struct KnownDirectories {
        let root: Int32
        private var known: [GitPath: Bool] = [:]

        init(root: Int32) {
            self.root = root
        }

        mutating func lacks(_ path: GitPath) -> Bool {
            if let directory = path.directory {
                if let isLacking = known[directory] {
                    if isLacking { return true }
                } else {
                    let isLacking = lacks(directory)
                    known[directory] = isLacking
                    if isLacking { return true }
                }
            }
            return FileStatus(nameBytes: path.bytes.map { CChar(bitPattern: $0) } + [0], in: root) == nil
        }
    }

    /// Writes the index and the files of a commit to a working tree, in the shape that the repository has.
    func checkOut(_ commit: String) async throws {
        let shape = try await GitFile.reading {
            try GitFile.read(repository.own + "/info/sparse-checkout", limit: 16 << 20) ?? []
        }
        let path = snapshots.home(of: repository) + "/info/sparse-checkout"
        try await BlockingCall.run { try GitSnapshots.write(shape, to: path, isDurable: false) }
        defer { unlink(path) }
        let settings = ["core.sparseCheckout=true", "core.sparseCheckoutCone=\(repository.isCone)"]
        try await snapshots.write(settings.flatMap { ["-c", $0] } + ["read-tree", "-m", "-u", commit], in: repository)
    }
}
