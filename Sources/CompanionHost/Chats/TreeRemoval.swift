import CompanionWire
import Glibc
import LocalState

/// Removes a directory with everything in it, whatever a program has done to it. No symbolic link is followed, neither
/// above the directory nor in it. Other file systems are left alone. Directories are made readable and writable where
/// they are not.
///
/// Every name is looked up in an open directory (`openat`, `unlinkat`), so a program that replaces a directory by a
/// link meanwhile leads nowhere.
struct TreeRemoval {
    enum Outcome: Sendable, Hashable {
        /// Nothing is there any more.
        case removed
        /// The time was over first.
        case unfinished
        /// A directory above is now a link, or another thing: nothing behind it was touched.
        case misled
        /// Something stays, which could not be removed; for people, why the first of it does. Only by force.
        case kept(String)
    }

    /// Why something stays.
    struct Failure: Error {
        /// A message for people, with the path.
        var message: String
    }

    /// Directories that are open at once. Deeper ones are moved up first.
    private static let depth = 64
    /// Names that are read at once.
    private static let names = 4096

    private let path: String
    private let deadline: ContinuousClock.Instant
    private let isForced: Bool
    /// The top directory and its status, while it is being emptied.
    private var top: (descriptor: Int32, status: FileStatus)?
    private var moved = 0
    /// The names on the way from the top to the entry that is being removed.
    private var trail: [[CChar]] = []

    /// - Parameters:
    ///   - path: Absolute, as it was without symbolic links.
    ///   - isForced: Whether to go on after an entry that cannot be removed (``Outcome/kept(_:)``).
    /// - Throws: ``Failure``. Blocks.
    static func remove(
        _ path: String,
        until deadline: ContinuousClock.Instant,
        isForced: Bool = false
    ) throws(Failure) -> Outcome {
        var removal = TreeRemoval(path: path, deadline: deadline, isForced: isForced)
        do {
            return try removal.run()
        } catch {
            guard isForced else { throw error }
            return .kept(error.message)
        }
    }

    /// Gives a directory, or what has replaced it, another name in the directory that it is in. Nothing happens where
    /// it is not there, or a directory above is now a link.
    ///
    /// - Throws: ``Failure``. Blocks.
    static func rename(_ path: String, to other: String) throws(Failure) {
        let removal = TreeRemoval(path: path, deadline: .now, isForced: false)
        guard case .open(let parent, name: let name) = try removal.openParent() else { return }
        defer { close(parent) }
        let new = other.cut(atLast: "/").map { String($0.after) } ?? other
        if renameat(parent, name, parent, new) == 0 || errno == ENOENT { return }
        let code = errno
        guard code == EACCES else { throw removal.failure(code) }
        removal.allowChanges(in: parent)
        guard renameat(parent, name, parent, new) == 0 || errno == ENOENT else { throw removal.failure(errno) }
    }

    private init(path: String, deadline: ContinuousClock.Instant, isForced: Bool) {
        (self.path, self.deadline, self.isForced) = (path, deadline, isForced)
    }

    private mutating func run() throws(Failure) -> Outcome {
        switch try openParent() {
        case .gone: return .removed
        case .misled: return .misled
        case .open(let parent, name: let name):
            defer { close(parent) }
            while try !remove(name, in: parent, depth: 0) {
                guard deadline > .now else { return .unfinished }
            }
            return .removed
        }
    }

    /// The directory above.
    private enum Parent {
        /// The open directory, and the name of the entry in it, with a zero at its end.
        case open(Int32, name: [CChar])
        case gone, misled
    }

    private func openParent() throws(Failure) -> Parent {
        let words = path.utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
        guard let name = words.last else { throw Failure(message: "\(path) is not a directory below another one") }
        do {
            // Name by name: the kernel's own check would allow links below the root.
            let root = try ProjectRoot(path: "/", by: .byName)
            let parent = try root.open(words.dropLast(), flags: ProjectRoot.lookOnly | O_DIRECTORY)
            return .open(parent, name: name.utf8.map { CChar(bitPattern: $0) } + [0])
        } catch {
            if error.code == ENOENT { return .gone }
            if error.code == ENOTDIR || error.code == ELOOP { return .misled }
            throw failure(error.code)
        }
    }

    /// Removes an entry of a directory.
    ///
    /// - Returns: Whether it is gone.
    private mutating func remove(_ name: [CChar], in directory: Int32, depth: Int) throws(Failure) -> Bool {
        if depth > 0 { trail.append(name) }
        defer { if depth > 0 { trail.removeLast() } }
        guard unlinkat(directory, name, 0) != 0 else { return true }
        switch errno {
        case ENOENT: return true
        case EISDIR: break
        case EACCES:
            allowChanges(in: directory)
            guard unlinkat(directory, name, 0) != 0 else { return true }
            guard errno == EISDIR else { throw failure(errno) }
        default: throw failure(errno)
        }
        guard let child = try open(name, in: directory) else { return false }
        defer { close(child) }
        guard let status = FileStatus(descriptor: child) else { throw failure(errno) }
        guard top.map({ status.isOnSameFileSystem(as: $0.status) }) != false else {
            throw Failure(message: "\(place) could not be removed: another file system is mounted there")
        }
        if depth == Self.depth, let top {
            try moveUp(name, in: directory, to: top.descriptor)
            return true
        }
        if depth == 0 { top = (child, status) }
        defer { if depth == 0 { top = nil } }
        guard try empty(child, depth: depth) else { return false }
        guard unlinkat(directory, name, AT_REMOVEDIR) != 0 else { return true }
        switch errno {
        case ENOENT: return true
        // Somebody has put something there since.
        case ENOTEMPTY, EEXIST, ENOTDIR: return false
        default: throw failure(errno)
        }
    }

    /// - Returns: Whether it is empty; false if the time is over.
    /// - Throws: ``Failure``: by force only once everything else in it is gone.
    private mutating func empty(_ directory: Int32, depth: Int) throws(Failure) -> Bool {
        var kept: Set<[CChar]> = []
        var first: Failure?
        while deadline > .now {
            guard let names = Self.names(in: directory, limit: Self.names + kept.count) else { throw failure(errno) }
            let rest = names.filter { !kept.contains($0) }
            if rest.isEmpty, let first { throw first }
            if rest.isEmpty { return true }
            for name in rest {
                guard deadline > .now else { return false }
                do {
                    _ = try remove(name, in: directory, depth: depth + 1)
                } catch {
                    guard isForced else { throw error }
                    kept.insert(name)
                    first = first ?? error
                }
            }
        }
        return false
    }

    /// Opens a directory whose owner may have taken the right to read it.
    ///
    /// - Returns: nil where it is no directory any more.
    private func open(_ name: [CChar], in directory: Int32) throws(Failure) -> Int32? {
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        var child = openat(directory, name, flags)
        if child < 0, errno == EACCES {
            fchmodat(directory, name, 0o700, AT_SYMLINK_NOFOLLOW)
            child = openat(directory, name, flags)
        }
        guard child < 0 else {
            if let status = FileStatus(descriptor: child), status.permissions & 0o700 != 0o700 { fchmod(child, 0o700) }
            return child
        }
        if [ENOENT, ENOTDIR, ELOOP].contains(errno) { return nil }
        throw failure(errno)
    }

    /// Lets the owner of a directory, which may be open only to be looked at, remove its entries.
    private func allowChanges(in directory: Int32) {
        guard let status = FileStatus(descriptor: directory) else { return }
        chmod("/proc/self/fd/\(directory)", status.permissions | 0o700)
    }

    /// Moves a directory from far below to the top, where it is removed later: so no more than ``depth`` are open.
    private mutating func moveUp(_ name: [CChar], in directory: Int32, to top: Int32) throws(Failure) {
        while true {
            moved += 1
            if renameat(directory, name, top, "pairtool-\(getpid())-\(moved)") == 0 || errno == ENOENT { return }
            guard [EEXIST, ENOTEMPTY, ENOTDIR].contains(errno) else { throw failure(errno) }
        }
    }

    /// The path of the entry that is being removed, for people.
    private var place: String {
        let names = trail.map { name in GitPath(name.dropLast().map { UInt8(bitPattern: $0) }).text }
        return ([path] + names).joined(separator: "/")
    }

    private func failure(_ code: Int32) -> Failure {
        Failure(message: "\(place) could not be removed: \(String(cString: strerror(code)))")
    }

    /// The names in a directory, with the zeros at their ends.
    ///
    /// - Parameter limit: How many are read.
    /// - Returns: nil where it cannot be read; `errno` says why.
    static func names(in directory: Int32, limit: Int) -> [[CChar]]? {
        // A description of its own: its position is at the first name.
        let copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0, let stream = fdopendir(copy) else { return nil }
        defer { closedir(stream) }
        var names: [[CChar]] = []
        while names.count < limit, let item = readdir(stream) {
            let name = withUnsafeBytes(of: item.pointee.d_name) { bytes in
                bytes.prefix { $0 != 0 }.map { CChar(bitPattern: $0) }
            }
            let dot = CChar(bitPattern: UInt8(ascii: "."))
            if name != [dot], name != [dot, dot] { names.append(name + [0]) }
        }
        return names
    }
}
