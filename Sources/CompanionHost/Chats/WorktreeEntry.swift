import CompanionWire
import Glibc
import LocalState

/// The entry of a linked working tree in its repository: the directory `worktrees/ID`, in which git keeps the state of
/// that working tree (gitrepository-layout(5)). It is removed together with the working tree.
///
/// The host reads it without git, because an agent can put configuration, links and pipes into it.
struct WorktreeEntry: Sendable {
    /// The work in an entry, which would be lost with it.
    struct Content: Sendable {
        /// The names of objects that are written there: of references, of their logs, of what a rebase has put aside.
        var objects: Set<String> = []
        /// Names of files and directories that not every working tree has, such as `rebase-merge` or `modules`.
        var unfinished: [String] = []
    }

    /// Files that are no sign of work, or whose content commits or the index have as well. Everything else may be work.
    private static let usual: Set<String> = [
        "AUTO_MERGE", "COMMIT_EDITMSG", "FETCH_HEAD", "HEAD", "MERGE_RR", "ORIG_HEAD", "REBASE_HEAD", "TAG_EDITMSG",
        "commondir", "config.worktree", "gitdir", "index", "info/sparse-checkout", "locked",
    ]
    /// Files with names of objects that are somebody else's, or that are not for reading.
    private static let unread: Set<String> = [
        "COMMIT_EDITMSG", "FETCH_HEAD", "TAG_EDITMSG", "commondir", "config.worktree", "gitdir", "index", "locked",
    ]
    private static let limits = (files: 20_000, bytes: 64 << 20, depth: 12)

    /// Absolute, without symbolic links.
    let path: String

    /// Whether somebody has locked the working tree (`git worktree lock`).
    var isLocked: Bool { FileStatus(path + "/locked", followingLinks: false) != nil }
    /// Whether it has an index: the host makes that last.
    var hasIndex: Bool { FileStatus(path + "/index", followingLinks: false) != nil }
    var exists: Bool { FileStatus(path, followingLinks: false)?.kind == .directory }

    /// The working tree's directory, as it says; nil where it does not.
    var directory: String? {
        guard let line = Self.line(of: path + "/gitdir") else { return nil }
        let file = line.begins(with: "/") ? line : path + "/" + line
        return file.dropping(suffix: "/.git").map(String.init)
    }

    /// The entry that the `.git` of a working tree leads to; nil if that is no file as git writes it.
    init?(of directory: String) {
        guard let target = Self.line(of: directory + "/.git")?.dropping(prefix: "gitdir: ") else { return nil }
        guard let path = RealPath.of(target.begins(with: "/") ? String(target) : directory + "/" + target) else {
            return nil
        }
        self.path = path
    }

    init(path: String) {
        self.path = path
    }

    /// The entry in a repository that names a working tree as its own.
    ///
    /// - Parameter common: The directory that all working trees of the repository share.
    init?(of directory: String, in common: String) {
        let parent = open(common + "/worktrees", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        guard parent >= 0 else { return nil }
        defer { close(parent) }
        for name in TreeRemoval.names(in: parent, limit: Self.limits.files) ?? [] {
            let bytes = name.dropLast().map { UInt8(bitPattern: $0) }
            guard let name = String(validating: bytes, as: UTF8.self) else { continue }
            let entry = WorktreeEntry(path: "\(common)/worktrees/\(name)")
            if entry.directory?.isSame(as: directory) == true {
                self = entry
                return
            }
        }
        return nil
    }

    /// Whether the working tree was moved (`git worktree move`), and is used where it is now.
    func isMoved(from directory: String) -> Bool {
        guard let now = self.directory, !now.isSame(as: directory) else { return false }
        return isUsed(by: now)
    }

    /// Reads the work that is in the entry. Blocks.
    ///
    /// - Parameter digits: The number of hexadecimal digits in an object's name.
    /// - Throws: ``GitError`` if a part cannot be read, or there is too much of it.
    func content(digits: Int) throws(GitError) -> Content {
        let root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        guard root >= 0 else { throw GitError(.unreadable, "\(path) cannot be read") }
        defer { close(root) }
        var reading = Reading(digits: digits)
        try reading.read(root, below: "", depth: 0)
        return reading.content
    }

    /// Whether the `.git` of a directory leads here.
    func isUsed(by directory: String) -> Bool {
        WorktreeEntry(of: directory)?.path.isSame(as: path) == true
    }

    /// The directory that all working trees of a repository share, by its `.git`.
    static func common(of repository: String) -> String? {
        let git = repository + "/.git"
        if FileStatus(git, followingLinks: false)?.kind == .directory { return git }
        guard let own = WorktreeEntry(of: repository)?.path else { return nil }
        guard let line = line(of: own + "/commondir") else { return own }
        return RealPath.of(line.begins(with: "/") ? line : own + "/" + line)
    }

    /// The line of a small file, without its end; nil where it is no file.
    private static func line(of path: String) -> String? {
        guard let bytes = text(of: path, limit: 64 << 10) else { return nil }
        return String(validating: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    /// Reads a file without blocking, even if it is a pipe.
    ///
    /// - Parameter limit: The most bytes that it may have.
    /// - Returns: nil if it is no regular file, or is too large.
    static func text(of path: String, limit: Int) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        guard FileStatus(descriptor: file)?.kind == .file else { return nil }
        return try? PrivateFile.content(of: file, named: path, limit: limit)
    }

    private struct Reading {
        let digits: Int
        var content = Content()
        private var files = 0
        private var bytes = 0

        init(digits: Int) {
            self.digits = digits
        }

        /// - Parameter above: The path of the directory in the entry, with a slash at its end; empty for the entry
        ///   itself.
        /// - Returns: Whether there is anything in it.
        @discardableResult
        mutating func read(_ directory: Int32, below above: String, depth: Int) throws(GitError) -> Bool {
            let limits = WorktreeEntry.limits
            guard depth < limits.depth, let names = TreeRemoval.names(in: directory, limit: limits.files) else {
                throw tooMuch
            }
            var isFilled = false
            for bytes in names {
                files += 1
                guard files < limits.files else { throw tooMuch }
                let name = above + String(decoding: bytes.map { UInt8(bitPattern: $0) }.dropLast(), as: UTF8.self)
                guard let isThere = try read(bytes, in: directory, named: name, depth: depth) else { continue }
                isFilled = isFilled || isThere
                if depth == 0 || above.isSame(as: "info/"), isThere, isUnfinished(name) {
                    content.unfinished.append(name)
                }
            }
            return isFilled
        }

        /// - Returns: Whether there is anything in it; nil if it is gone.
        private mutating func read(
            _ entry: [CChar],
            in directory: Int32,
            named name: String,
            depth: Int
        ) throws(GitError) -> Bool? {
            let file = openat(directory, entry, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard file >= 0 else { return errno == ENOENT ? nil : try unreadable(name) }
            defer { close(file) }
            switch FileStatus(descriptor: file)?.kind {
            // Repositories of submodules are too large to be read, and count by themselves.
            case .directory where name.isSame(as: "modules"):
                return TreeRemoval.names(in: file, limit: 1)?.isEmpty == false
            case .directory: return try read(file, below: name + "/", depth: depth + 1)
            case .file where WorktreeEntry.unread.contains(where: name.isSame) || isSharedIndex(name): return true
            case .file:
                let room = WorktreeEntry.limits.bytes - bytes
                guard let text = try? PrivateFile.content(of: file, named: name, limit: room) else { throw tooMuch }
                bytes += text.count
                content.objects.formUnion(WorktreeEntry.objects(in: text, digits: digits))
                return true
            default: return try unreadable(name)
            }
        }

        /// Throws: an entry that is no regular file does not show whether work would be lost with it.
        private func unreadable(_ name: String) throws(GitError) -> Bool {
            throw GitError(.unreadable, "\(GitPath(name.utf8).text) in the worktree's git directory cannot be read")
        }

        private func isUnfinished(_ name: String) -> Bool {
            if ["logs", "refs", "info"].contains(where: name.isSame) || isSharedIndex(name) { return false }
            return !WorktreeEntry.usual.contains(where: name.isSame) && name.dropping(suffix: ".lock") == nil
        }

        private func isSharedIndex(_ name: String) -> Bool { name.begins(with: "sharedindex.") }

        private var tooMuch: GitError { GitError(.tooMuch, "The worktree's git directory has too much in it") }
    }

    /// Finds texts that may be names of objects: runs of exactly so many hexadecimal digits.
    static func objects(in text: [UInt8], digits: Int) -> Set<String> {
        var found: Set<String> = []
        var start = 0
        for index in 0...text.count {
            if index < text.count, isDigit(text[index]) { continue }
            if index - start == digits { found.insert(String(decoding: text[start..<index], as: UTF8.self)) }
            start = index + 1
        }
        return found
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
    }
}
