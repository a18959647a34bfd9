import CompanionWire
import Glibc
import LocalState

/// The directories in which git keeps the data of a working tree. They are found without git, and without opening
/// anything that could block.
struct GitDirectory: Sendable, Hashable {
    /// The top directory of the working tree: absolute, symbolic links resolved.
    let root: String
    /// The directory with the working tree's own `HEAD` and index.
    let own: String
    /// The directory that all working trees of the repository share.
    let common: String

    init(root: String, own: String, common: String) {
        (self.root, self.own, self.common) = (root, own, common)
    }

    /// - Parameters:
    ///   - root: A directory with a `.git` in it. Blocks.
    ///   - isMoved: Whether the host has moved it aside: then its git directory still names the place where it was.
    init(of root: String, isMoved: Bool = false) throws(GitError) {
        let git = root + "/.git"
        switch FileStatus(git, followingLinks: false)?.kind {
        case .directory?: own = git
        case .file?:
            // gitrepository-layout(5): of a linked working tree, a submodule, or `git init --separate-git-dir`.
            guard let path = try Self.line(of: git)?.dropping(prefix: "gitdir: "),
                let found = Self.directory(String(path), from: root)
            else { throw GitError(.unreadable, "\(git) names no git directory") }
            own = found
        case nil: throw GitError(.unreadable, "\(root) is not a git repository")
        default: throw GitError(.unreadable, "\(git) is not a file or a directory")
        }
        self.root = root
        guard let shared = try Self.line(of: own + "/commondir") else {
            common = own
            return
        }
        guard let found = Self.directory(shared, from: own) else {
            throw GitError(.unreadable, "\(own)/commondir names no git directory")
        }
        common = found
        if isMoved { return }
        // Who can write a `.git` could otherwise show another repository, or another working tree of this one.
        let back = try Self.line(of: own + "/gitdir")?.dropping(suffix: "/.git")
        guard let back, Self.directory(String(back), from: own)?.isSame(as: root) == true else {
            throw GitError(
                .unreadable,
                "\(git) points to \(own), which belongs to another working tree. "
                    + "If you moved this one, run `git worktree repair` in it"
            )
        }
    }

    /// Whether it is not the repository's first working tree.
    var isLinked: Bool { !own.isSame(as: common) }

    /// Whether another user owns a part of it, so that git refuses it unless `safe.directory` names it.
    var isForeign: Bool {
        [root, root + "/.git", own, common].contains { FileStatus($0, followingLinks: false)?.owner != geteuid() }
    }

    /// The only line of a small file; nil without one.
    private static func line(of path: String) throws(GitError) -> String? {
        guard let bytes = try GitFile.read(path, limit: 8 << 10) else { return nil }
        // A path that is not UTF-8 cannot be the host's: it would be another one once repaired.
        return String(validating: bytes, as: UTF8.self)?.trimmingLineEnd()
    }

    /// An existing directory, with symbolic links resolved.
    private static func directory(_ path: String, from directory: String) -> String? {
        let found = RealPath.of(path.begins(with: "/") ? path : directory + "/" + path)
        return found.flatMap { FileStatus($0)?.kind == .directory ? $0 : nil }
    }
}

/// Reads files that an agent can replace by something else.
enum GitFile {
    /// Reads a regular file, also through a link. Blocks for no pipe and no device.
    ///
    /// - Returns: nil if nothing exists there.
    static func read(_ path: String, limit: Int) throws(GitError) -> [UInt8]? {
        guard try check(path) else { return nil }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            throw GitError(.unreadable, "\(path) cannot be read: \(PrivateFile.systemMessage())")
        }
        defer { close(descriptor) }
        guard FileStatus(descriptor: descriptor)?.kind == .file else { throw notRegular(path) }
        do {
            return try PrivateFile.content(of: descriptor, named: path, limit: limit)
        } catch {
            throw GitError(.unreadable, error.description)
        }
    }

    /// Reads files of a repository. A file system that an agent has mounted may never answer.
    ///
    /// - Throws: ``GitProgram/Failure`` after ``GitRepository/time``, `CancellationError`, and the errors of the body.
    static func reading<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
        let result = try await abandoning(after: GitRepository.time) { try await BlockingCall.run(body) }
        if let result { return result }
        try Task.checkCancellation()
        throw GitProgram.Failure(reason: .tooSlow)
    }

    /// Checks that git can open a file without waiting.
    ///
    /// - Returns: Whether it exists.
    @discardableResult
    static func check(_ path: String) throws(GitError) -> Bool {
        guard let kind = FileStatus(path)?.kind else { return false }
        guard kind == .file else { throw notRegular(path) }
        return true
    }

    static func notRegular(_ path: String) -> GitError {
        GitError(.unreadable, "\(path) is not a regular file")
    }
}

extension String {
    fileprivate func trimmingLineEnd() -> String {
        var end = utf8.endIndex
        while end > utf8.startIndex, [0x0A, 0x0D].contains(utf8[utf8.index(before: end)]) {
            end = utf8.index(before: end)
        }
        return String(self[..<end])
    }
}
