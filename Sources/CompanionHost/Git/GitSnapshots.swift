import CompanionWire
import Crypto
import FoundationEssentials
import Glibc
import LocalState
import Subprocess

/// The content of a working tree, or of a folder of it, at one moment, as a tree object.
struct GitSnapshot: Sendable {
    let repository: GitRepository
    /// The object's name. It is the tree of the top directory, in which files outside of the folder are as in the
    /// commit.
    let tree: String
    /// The directory with the objects that the repository did not have.
    let objects: String
    /// The files that are in no commit, below the folder.
    let others: Set<GitPath>
    /// The files whose content is not in the tree, below the folder.
    let leftOut: [GitPath: Int]
    /// Git's warning about a directory that it could not open: files in there are not in the tree. Empty for none.
    let warning: String
    /// To be removed when nobody needs the snapshot any more; nil for one that is kept.
    let temporary: String?

    func remove() async {
        guard let temporary else { return }
        _ = try? await BlockingCall.run { try FileManager.default.removeItem(atPath: temporary) }
    }
}

/// A tree object with the content of a working tree.
struct GitTree: Sendable {
    var name: String
    /// The directories with objects of it, besides those that are kept.
    var objects: [String] = []
}

/// Keeps snapshots of working trees, without a trace in their repositories.
///
/// For each working tree the host has a git directory of its own, which has its own index and objects, and borrows the
/// objects of the repository. Git's own conversions (ends of lines, as `.gitattributes` says) are applied.
///
/// A file that is too large gets the entry of a submodule whose name is made of the file's size and time: a change is
/// noticed, its content is not kept.
struct GitSnapshots: Sendable {
    struct Limits: Sendable {
        /// Bytes of a file whose content is compared.
        var file = 8 << 20
        /// Bytes of all files that are not as in the commit.
        var total = 64 << 20
        /// How many of these there may be.
        var files = 20_000
        /// Bytes of a difference.
        var difference = 1 << 20
        /// For each run of git, unless its task has more.
        var time: Duration { max(.seconds(12), GitRepository.time) }
        /// After a list of files that took longer, git notes which files it has read, and that they are as before.
        var listing = Duration.seconds(1)
    }

    /// The first digits of the made-up object name of a file that was left out. ``repositoryMark`` are those of another
    /// repository inside this one.
    static let leftOutMark = "ffffffff"
    static let repositoryMark = "fffffffe"

    let directory: String
    var limits = Limits()
    let contents = LFSContents()
    private let lock = KeyedLock()

    /// Removes temporary files that an earlier host has left behind.
    init(directory: String, limits: Limits = Limits()) {
        (self.directory, self.limits) = (directory, limits)
        try? FileManager.default.removeItem(atPath: directory + "/tmp")
    }

    /// - Parameters:
    ///   - isKept: Whether its objects stay; if not, the snapshot has to be removed (``GitSnapshot/remove()``).
    ///   - earlier: The tree that it is compared with. Files of that tree count even if git ignores them by now.
    /// - Throws: ``GitError``, ``GitProgram/Failure``, `CancellationError`.
    func take(_ repository: GitRepository, isKept: Bool, after earlier: GitTree? = nil) async throws -> GitSnapshot {
        try await lock.runUnlessCancelled(repository.formerRoot ?? repository.root) {
            for _ in 0..<2 {
                do {
                    return try await takeOnce(repository, isKept: isKept, after: earlier)
                } catch let error as GitError where error.code == .changing {
                    continue
                }
            }
            return try await takeOnce(repository, isKept: isKept, after: earlier)
        }
    }

    private func takeOnce(
        _ repository: GitRepository,
        isKept: Bool,
        after earlier: GitTree?
    ) async throws -> GitSnapshot {
        let home = home(of: repository)
        let temporary = "\(directory)/tmp/\(UUID().uuidString)"
        let remove = { @Sendable in try FileManager.default.removeItem(atPath: temporary) }
        do {
            try await BlockingCall.run {
                try Self.prepare(home, temporary: temporary, of: repository)
                try Self.writeExclude(home, of: repository)
            }
            let snapshot = try await takeOnce(
                repository,
                isKept: isKept,
                in: home,
                temporary: temporary,
                after: earlier
            )
            if isKept { _ = try? await BlockingCall.run(remove) }
            return snapshot
        } catch {
            _ = try? await BlockingCall.run(remove)
            throw error
        }
    }

    private func takeOnce(
        _ repository: GitRepository,
        isKept: Bool,
        in home: String,
        temporary: String,
        after earlier: GitTree?
    ) async throws -> GitSnapshot {
        try await makeHome(of: repository)
        let found = try await listFiles(repository)
        // Git is ended when its output is cut.
        guard !found.isCut else { throw GitError(.tooMuch, "Too many uncommitted files") }
        guard found.isSuccess else { throw GitError(.unreadable, "Git cannot list the files: \(found.error)") }
        let listed = try await found.output + listFiles(of: earlier, in: repository)
        let pulled = try await LFSFiles(snapshots: self, repository: repository).pulledFiles(listed: listed)
        let index = temporary + "/index"
        let limits = limits
        let entries = try await BlockingCall.run {
            if FileStatus(home + "/index") != nil {
                try FileManager.default.copyItem(atPath: home + "/index", toPath: index)
            }
            return try WorkingEntries(listed: listed, except: pulled, of: repository, within: limits)
        }
        let objects = isKept ? home + "/objects" : temporary + "/objects"
        if !entries.placed.isEmpty {
            let placed = try await git(
                ["update-index", "-z", "--index-info"],
                of: repository,
                index: index,
                objects: objects,
                input: entries.placed
            )
            guard placed.isSuccess else { throw GitError(.changing, "Git cannot note the files: \(placed.error)") }
        }
        if !entries.read.isEmpty {
            let read = try await git(
                ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"],
                of: repository,
                index: index,
                objects: objects,
                input: entries.read
            )
            guard read.isSuccess else { throw GitError(.changing, "Git cannot read the files: \(read.error)") }
        }
        let tree = try await git(["write-tree", "--missing-ok"], of: repository, index: index, objects: objects)
        guard tree.isSuccess, let name = tree.lines.first else {
            throw GitError(.unreadable, "Git cannot write down the files: \(tree.error)")
        }
        return GitSnapshot(
            repository: repository,
            tree: String(name),
            objects: objects,
            others: Set(entries.others.compactMap { $0.below(repository.folder) }),
            leftOut: Dictionary(
                entries.leftOut.compactMap { path, size in path.below(repository.folder).map { ($0, size) } },
                uniquingKeysWith: { first, _ in first }
            ),
            warning: found.error,
            temporary: isKept ? nil : temporary
        )
    }

    /// Makes the host's own directory for a working tree, where there is none.
    private func makeHome(of repository: GitRepository) async throws {
        let home = home(of: repository)
        guard FileStatus(home + "/HEAD") == nil else { return }
        try await BlockingCall.run {
            for name in ["/objects", "/refs"] { try PrivateFile.makeDirectory(home + name) }
            // Git takes the directory for its own once it has this.
            try Self.write(Array("ref: refs/heads/main\n".utf8), to: home + "/HEAD")
        }
    }

    /// Writes the files of a commit to a working tree that has none, without filters and hooks, and its index.
    func checkOut(_ repository: GitRepository) async throws {
        guard let commit = repository.commit else { return }
        try await lock.runUnlessCancelled(repository.root) {
            let home = home(of: repository)
            try await BlockingCall.run { try PrivateFile.makeDirectory(home) }
            try await makeHome(of: repository)
            unlink(home + "/commit")
            if repository.isSparse {
                try await SparseCheckout(snapshots: self, repository: repository).checkOut(commit)
            } else {
                for arguments in [["read-tree", commit], ["checkout-index", "-a", "-q", "-u"]] {
                    try await write(arguments, in: repository)
                }
            }
            // Its own, for the agent and the owner.
            try await BlockingCall.run {
                try FileManager.default.copyItem(atPath: home + "/index", toPath: repository.own + "/index")
            }
        }
    }

    /// Runs git to write the files of a commit, or an index for them.
    func write(_ arguments: [String], in repository: GitRepository) async throws {
        let done = try await git(
            arguments,
            of: repository,
            index: home(of: repository) + "/index",
            within: .seconds(120)
        )
        guard !done.isSuccess else { return }
        let advice = repository.isPartial ? ". \(GitError.partial(repository.root))" : ""
        throw GitError(.unreadable, "Git cannot write the files: \(done.error)\(advice)")
    }

    /// Removes the host's own data about a working tree.
    func forget(root: String) async {
        for home in ["sha1", "sha256"].map({ home(root: root, format: $0) }) {
            _ = try? await BlockingCall.run { try FileManager.default.removeItem(atPath: home) }
        }
    }

    func home(of repository: GitRepository) -> String {
        home(root: repository.formerRoot ?? repository.root, format: repository.format)
    }

    private func home(root: String, format: String) -> String {
        let hash = SHA256.hash(data: Data(root.utf8)).prefix(8)
        return "\(directory)/\(hash.hexText)-\(format)"
    }

    private static func prepare(_ home: String, temporary: String, of repository: GitRepository) throws {
        try PrivateFile.makeDirectory(temporary + "/objects")
        try PrivateFile.makeDirectory(home + "/info")
    }

    /// Writes the owner's own ignore patterns, which apply besides the project's `.gitignore`.
    private static func writeExclude(_ home: String, of repository: GitRepository) throws {
        let user = getenv("HOME").map { String(cString: $0) + "/.config/git/ignore" }
        var lines: [UInt8] = []
        for path in [user, repository.common + "/info/exclude"].compactMap(\.self) {
            guard let status = FileStatus(path, followingLinks: false), status.kind == .file, status.size <= 1 << 20,
                let data = FileManager.default.contents(atPath: path)
            else { continue }
            lines += Array(data) + [UInt8(ascii: "\n")]
        }
        try write(lines, to: home + "/info/exclude", isDurable: false)
    }

    static func write(_ bytes: [UInt8], to path: String, isDurable: Bool = true) throws {
        try bytes.withUnsafeBytes { try PrivateFile.write($0, to: path, isDurable: isDurable) }
    }

    /// Runs git in the host's own directory for a working tree.
    ///
    /// - Parameter objects: The directory for new objects. Default: the one of the objects that are kept.
    func git(
        _ arguments: [String],
        of repository: GitRepository,
        paths: [[UInt8]] = [],
        index: String? = nil,
        objects: String? = nil,
        borrowing: [String] = [],
        input: [UInt8] = [],
        limit: Int = 1 << 20,
        within time: Duration? = nil
    ) async throws -> GitProgram.Result {
        let home = home(of: repository)
        var environment: [Environment.Key: String] = [
            "GIT_OBJECT_DIRECTORY": objects ?? home + "/objects",
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": ([home + "/objects", repository.objects] + borrowing)
                .map { GitPath($0.utf8).quoted }.joined(separator: ":"),
        ]
        environment["GIT_INDEX_FILE"] = index
        let directory = GitDirectory(root: repository.root, own: home, common: home)
        // An agent could write to a configuration that is kept there, too.
        let view = try await GitView(of: directory, with: GitSettings(format: repository.format))
        return try await view.use { [environment] shown in
            try await GitProgram.run(
                arguments,
                paths: paths,
                in: repository.root,
                environment: shown.merging(environment) { $1 },
                input: input,
                limit: limit,
                within: time ?? limits.time
            )
        }
    }
}
