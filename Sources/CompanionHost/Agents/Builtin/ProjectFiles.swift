import Glibc
import PairingAgent

/// Read-only access to the files below one directory.
///
/// Every path is walked name by name with `openat` and `O_NOFOLLOW`: there is no moment at which a symbolic link
/// could lead out, and `..` is refused. Only regular files are opened. Calls block: not for the cooperative pool.
final class ProjectFiles {
    /// Why something was not done, for people.
    struct Refusal: Error {
        var text: String
    }

    enum Kind: Sendable {
        case directory, file, link, other

        init(_ kind: FileStatus.Kind) {
            self =
                switch kind {
                case .file: .file
                case .directory: .directory
                case .link: .link
                case .pipe, .characterDevice, .other: .other
                }
        }
    }

    struct Entry: Sendable {
        var name: String
        var kind: Kind
        /// Bytes.
        var size: Int
    }

    /// What a directory has.
    struct Listing: Sendable {
        /// By name.
        var entries: [Entry] = []
        /// Whether there are no more than these.
        var isComplete = true
    }

    /// Entries of one directory that are looked at.
    static let maximumEntries = 5000

    private let root: Int32
    private let rootPath: String

    /// - Parameter path: Absolute, without symbolic links.
    init(path: String) throws(Refusal) {
        rootPath = path
        root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        guard root >= 0 else { throw Refusal(text: "The project's directory cannot be read.") }
    }

    deinit {
        close(root)
    }

    /// The names of a path relative to the project.
    func names(_ path: String) throws(Refusal) -> [String] {
        var path = path[...]
        if path == rootPath || path.hasPrefix(rootPath + "/") { path = path.dropFirst(rootPath.count + 1) }
        guard !path.hasPrefix("/"), !path.hasPrefix("~"), !path.utf8.contains(0), path.utf8.count < 4096 else {
            throw Refusal(text: "Only paths inside the project can be read.")
        }
        let names = path.split(separator: "/").filter { $0 != "." }.map(String.init)
        guard !names.contains("..") else { throw Refusal(text: "Paths with `..` are refused.") }
        return names
    }

    /// The entries of a directory, at most ``maximumEntries``. Names that are not UTF-8 are shown repaired; what
    /// has one cannot be opened.
    func listing(of names: [String]) throws(Refusal) -> Listing {
        let directory = try openDirectory(names)
        guard let stream = fdopendir(directory) else {
            close(directory)
            throw Refusal(text: "\(Self.shown(names)) cannot be read.")
        }
        defer { closedir(stream) }
        var listing = Listing()
        while let item = readdir(stream) {
            // The kernel's bytes, not the repaired name: that one does not exist.
            let entry = withUnsafePointer(to: &item.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { Self.entry($0, in: directory) }
            }
            guard let entry else { continue }
            guard listing.entries.count < Self.maximumEntries else {
                listing.isComplete = false
                break
            }
            listing.entries.append(entry)
        }
        listing.entries.sort { $0.name < $1.name }
        return listing
    }

    /// Reads a regular file.
    ///
    /// - Parameter limit: Bytes; what comes after is left out.
    /// - Returns: The bytes, and the size of the whole file.
    func read(_ names: [String], limit: Int) throws(Refusal) -> (bytes: [UInt8], size: Int) {
        guard let name = names.last else { throw Refusal(text: "That is a directory: try `list`.") }
        let shown = Self.shown(names)
        let directory = try openDirectory(names.dropLast())
        defer { close(directory) }
        guard let status = FileStatus(name, in: directory) else {
            throw Refusal(text: "\(shown) does not exist.")
        }
        switch status.kind {
        case .file: break
        case .directory: throw Refusal(text: "\(shown) is a directory: try `list \(shown)`.")
        case .link: throw Refusal(text: "\(shown) is a symbolic link; these are not followed.")
        case .pipe, .characterDevice, .other: throw Refusal(text: "\(shown) is not a regular file.")
        }
        // Checked again behind the open: what was a file could be a pipe by now, and must not block.
        let file = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard file >= 0 else { throw Refusal(text: "\(shown) cannot be read.") }
        defer { close(file) }
        guard let opened = FileStatus(descriptor: file), opened.kind == .file else {
            throw Refusal(text: "\(shown) is not a regular file.")
        }
        return (Self.contents(of: file, limit: limit), opened.size)
    }

    /// Whether something has this path, be it a symbolic link that leads nowhere.
    func exists(_ names: [String]) -> Bool {
        guard let name = names.last, let directory = try? openDirectory(names.dropLast()) else { return false }
        defer { close(directory) }
        return FileStatus(name, in: directory) != nil
    }

    /// Whether the project's directory has a directory of this name.
    func hasDirectory(_ name: String) -> Bool {
        FileStatus(name, in: root)?.kind == .directory
    }

    private static func entry(_ rawName: UnsafePointer<CChar>, in directory: Int32) -> Entry? {
        let name = String(cString: rawName)
        guard name != ".", name != ".." else { return nil }
        // By the bytes that it has: the name that is shown may be a repaired one.
        let bytes = Array(UnsafeBufferPointer(start: rawName, count: strlen(rawName) + 1))
        guard let status = FileStatus(nameBytes: bytes, in: directory) else { return nil }
        return Entry(name: name, kind: Kind(status.kind), size: status.size)
    }

    private func openDirectory(_ names: some Sequence<String>) throws(Refusal) -> Int32 {
        var current = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        var path: [String] = []
        for name in names {
            path.append(name)
            let next = openat(current, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
            let code = errno
            close(current)
            guard next >= 0 else {
                let shown = Self.shown(path)
                switch code {
                case ENOENT: throw Refusal(text: "\(shown) does not exist.")
                case ENOTDIR, ELOOP: throw Refusal(text: "\(shown) is not a directory, or is a symbolic link.")
                default: throw Refusal(text: "\(shown) cannot be read.")
                }
            }
            current = next
        }
        guard current >= 0 else { throw Refusal(text: "The project's directory cannot be read.") }
        return current
    }

    private static func contents(of file: Int32, limit: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count < limit {
            let count = Glibc.read(file, &chunk, min(chunk.count, limit - bytes.count))
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        return bytes
    }

    private static func shown(_ names: [String]) -> String {
        names.isEmpty ? "The project's directory" : "`\(names.joined(separator: "/"))`"
    }
}
