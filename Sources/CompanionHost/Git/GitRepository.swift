import CompanionWire
import Glibc
import LocalState

/// A repository's working tree, and the directories in which git keeps its data.
struct GitRepository: Sendable, Hashable {
    /// The top directory of the working tree: absolute, symbolic links resolved.
    var root: String
    /// The only folder of it that is looked at, as that of a project: relative, without a slash at its ends; empty for
    /// all.
    var folder: String
    /// The directory with the working tree's own `HEAD` and index.
    var own: String
    /// The directory that all working trees of the repository share.
    var common: String
    /// `sha1` or `sha256`.
    var format: String
    /// Whether only a part of the files is checked out, and whether that part is made of directories.
    var isSparse: Bool
    var isCone: Bool
    /// Whether objects may be missing.
    var isPartial: Bool
    /// The name of the commit that `HEAD` leads to; nil in a repository without commits.
    var commit: String?
    /// Its branch; nil for a detached `HEAD`.
    var branch: String?
    /// The path from which the host has moved the working tree aside, by which it knows it; nil for one at its place.
    var formerRoot: String?
    /// The commit that was checked out when the session of an agent began; nil where there was none. Without a session,
    /// ``commit``.
    var firstCommit: String?

    /// The directories of a working tree that the host has moved aside; nil for one at its place.
    var moved: GitDirectory? { formerRoot == nil ? nil : GitDirectory(root: root, own: own, common: common) }
    var objects: String { common + "/objects" }
    /// The directory that is looked at.
    var directory: String { Self.directory(root, folder: folder) }
    /// Limits git to the folder, with `--literal-pathspecs`.
    var pathspecs: [[UInt8]] { folder.isEmpty ? [] : [Array(folder.utf8)] }

    /// Digits of an object's name.
    var digits: Int { format.isSame(as: "sha256") ? 64 : 40 }

    /// How long a run of git may take where nothing else is said, and a look at a repository's files. A task can have a
    /// limit of its own, as on a machine that has other work.
    @TaskLocal static var time = Duration.seconds(5)

    /// The top directory of the repository that a directory is in.
    ///
    /// - Parameter project: Nothing above it is looked at.
    static func root(around directory: String, inside project: String) -> String? {
        var rest = directory[...]
        while rest.isSame(as: project) || rest.begins(with: project + "/") {
            switch FileStatus("\(rest)/.git", followingLinks: false)?.kind {
            case .directory?, .file?: return String(rest)
            default: break
            }
            guard let above = rest.cut(atLast: "/")?.before, !above.isEmpty else { return nil }
            rest = above
        }
        return nil
    }

    /// The top directory of a repository, and which folder of it a project is (``folder``).
    struct Place: Sendable, Hashable {
        var root: String
        var folder: String
    }

    /// The repository that a directory is in: one in its project, or the one that the project is in, unless that
    /// ignores the project.
    static func place(around directory: String, inside project: String) async -> Place? {
        if let top = root(around: directory, inside: project) { return Place(root: top, folder: "") }
        guard let found = await place(above: project), await !isIgnored(found) else { return nil }
        return found
    }

    /// Looks upwards, below `/`, and in one file system. If a directory or `.git` is another user's, the owner of the
    /// host has to trust it: git does not read others either.
    static func place(above project: String) async -> Place? {
        guard let status = FileStatus(project) else { return nil }
        var rest = project[...]
        var isForeign = false
        while let above = rest.cut(atLast: "/")?.before, !above.isEmpty {
            guard let found = FileStatus(String(above), followingLinks: false), found.kind == .directory,
                found.isOnSameFileSystem(as: status)
            else { return nil }
            isForeign = isForeign || found.owner != geteuid()
            let git = FileStatus("\(above)/.git", followingLinks: false)
            if let git, git.kind == .directory || git.kind == .file {
                guard let folder = project.dropping(prefix: "\(above)/") else { return nil }
                if isForeign || git.owner != geteuid() {
                    guard (try? await SafeDirectories.contains(String(above))) == true else { return nil }
                }
                return Place(root: String(above), folder: String(folder))
            }
            rest = above
        }
        return nil
    }

    /// Whether git ignores the folder and has no file in it. Where git cannot say it, it does not.
    private static func isIgnored(_ place: Place) async -> Bool {
        let tracked = try? await GitProgram.run(
            ["--literal-pathspecs", "ls-files", "-z", "--cached", "--"],
            paths: [Array(place.folder.utf8)],
            in: place.root,
            limit: 1,
            within: time
        )
        guard let tracked, tracked.isSuccess, tracked.output.isEmpty else { return false }
        let user = getenv("HOME").map { ["-c", "core.excludesFile=" + String(cString: $0) + "/.config/git/ignore"] }
        let ignored = try? await GitProgram.run(
            // It takes no literal names; behind `./`, none is taken for more than a name.
            (user ?? []) + ["check-ignore", "-q", "--no-index", "--", "./" + place.folder],
            in: place.root,
            within: time
        )
        return ignored?.isSuccess == true
    }

    static func directory(_ root: String, folder: String) -> String {
        folder.isEmpty ? root : root + "/" + folder
    }

    /// Whether the commit that is checked out has the folder.
    func hasFolder() async throws -> Bool {
        guard !folder.isEmpty, let commit else { return folder.isEmpty }
        let type = try await GitProgram.run(["cat-file", "-t", "\(commit):\(folder)"], in: root, within: Self.time)
        return type.lines.first?.isSame(as: "tree") == true
    }

    /// - Parameters:
    ///   - root: A directory with a `.git` in it.
    ///   - folder: The only one that is looked at.
    ///   - formerRoot: The path from which the host has moved it aside.
    /// - Throws: ``GitError``, ``GitProgram/Failure``, `CancellationError`.
    static func open(
        _ root: String,
        folder: String = "",
        movedFrom formerRoot: String? = nil
    ) async throws -> GitRepository {
        let directory = try await GitFile.reading { try GitDirectory(of: root, isMoved: formerRoot != nil) }
        let settings = try await GitSettings(of: directory)
        guard !settings.isBare else { throw GitError(.unreadable, "\(root) has a bare repository, without files") }
        var repository = GitRepository(
            root: root,
            folder: folder,
            own: directory.own,
            common: directory.common,
            format: settings.format,
            isSparse: settings.isSparse,
            isCone: settings.isCone,
            isPartial: settings.isPartial,
            formerRoot: formerRoot
        )
        let head = try await GitProgram.run(
            ["rev-parse", "HEAD", "--symbolic-full-name", "HEAD"],
            in: root,
            of: repository.moved,
            within: time
        )
        if head.isSuccess, head.lines.count == 2 {
            repository.commit = String(head.lines[0])
            repository.firstCommit = repository.commit
            repository.branch = head.lines[1].dropping(prefix: "refs/heads/").map(String.init)
        } else {
            let branch = try await GitProgram.run(
                ["symbolic-ref", "-q", "HEAD"],
                in: root,
                of: repository.moved,
                within: time
            )
            guard branch.isSuccess else {
                let reason = [head.error, branch.error].first { !$0.isEmpty }.map { ": \($0)" }
                throw GitError(.unreadable, "Git cannot read the repository" + (reason ?? ""))
            }
            repository.branch = branch.lines.first?.dropping(prefix: "refs/heads/").map(String.init)
        }
        return repository
    }
}

/// The reason for which git gave no answer about a repository.
struct GitError: Error, Sendable {
    enum Code: Sendable { case unreadable, tooMuch, changing }
    var code: Code
    /// A message for people: what went wrong.
    var message: String

    init(_ code: Code, _ message: String) {
        (self.code, self.message) = (code, message)
    }

    /// The advice for a partial clone that lacks objects. The host fetches none itself, because the transport and the
    /// password helper are the repository's.
    static func partial(_ root: String) -> String {
        "This is a partial clone, and the host fetches nothing. To let git fetch the files of the commit: "
            + "git -C \(GitPath(root.utf8).shellWord) archive HEAD >/dev/null"
    }

    /// Returns the message of an error for people; nil for one that is not about git.
    static func text(of error: any Error) -> String? {
        switch error {
        case let error as GitError: error.message
        case let error as GitProgram.Failure where error.reason == .notInstalled:
            "Git is not installed on the host"
        case is GitProgram.Failure: "Git took too long"
        default: nil
        }
    }
}
