import CompanionWire
import Glibc
import LocalState

/// Read-only access to the files below one directory.
///
/// ``ProjectRoot`` opens everything: whatever a path says, and whatever symbolic links are in it, nothing outside is
/// reached. Only regular files are read. Calls block: not for the cooperative pool.
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
                case .pipe, .socket, .characterDevice, .other: .other
                }
        }
    }

    struct Entry: Sendable {
        var name: String
        var kind: Kind
        /// Bytes.
        var size: Int
    }

    /// The entries of a directory.
    struct Listing: Sendable {
        /// The entries in the order of their names.
        var entries: [Entry] = []
        /// Whether there are no more than these.
        var isComplete = true
    }

    /// Entries of one directory that are looked at.
    static let maximumEntries = 5000

    private let root: ProjectRoot
    private let rootPath: String

    /// - Parameter path: Absolute, without symbolic links.
    init(path: String, by resolution: ProjectRoot.PathResolution = .usual) throws(Refusal) {
        rootPath = path
        do {
            root = try ProjectRoot(path: path, by: resolution)
        } catch {
            throw Refusal(text: "The project's directory cannot be read.")
        }
    }

    /// The names of a path relative to the project, or of an absolute one inside it.
    func names(_ path: String) throws(Refusal) -> [String] {
        var relative = path[...]
        if path.isSame(as: rootPath) {
            relative = ""
        } else if let rest = path.dropping(prefix: rootPath == "/" ? "/" : rootPath + "/") {
            relative = rest
        }
        guard !relative.begins(with: "/"), !relative.begins(with: "~"), !relative.utf8.contains(0),
            relative.utf8.count < 4096
        else { throw Refusal(text: "Only paths inside the project can be read.") }
        let names = relative.parts("/").filter { !$0.isSame(as: ".") }.map(String.init)
        guard !names.contains(where: { $0.isSame(as: "..") }) else {
            throw Refusal(text: "Paths with `..` are refused.")
        }
        return names
    }

    /// The entries of a directory, at most ``maximumEntries``. Names that are not UTF-8 are shown repaired; entries
    /// with such names cannot be opened.
    func listing(of names: [String]) throws(Refusal) -> Listing {
        let directory = try open(names, flags: O_RDONLY | O_DIRECTORY)
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
    /// - Parameter limit: The most bytes that are read.
    /// - Returns: The bytes, and the size of the whole file.
    func read(_ names: [String], limit: Int) throws(Refusal) -> (bytes: [UInt8], size: Int) {
        guard !names.isEmpty else { throw Refusal(text: "That is a directory: try `list`.") }
        let shown = Self.shown(names)
        // Looked at before it is opened for reading: opening a device may do something.
        switch try look(at: names)?.kind {
        case .file?: break
        case .directory?: throw Refusal(text: "\(shown) is a directory: try `list \(names.joined(separator: "/"))`.")
        case .link?: throw Refusal(text: "\(shown) is a symbolic link; these are not followed.")
        case .pipe?, .socket?, .characterDevice?, .other?, nil: throw Refusal(text: "\(shown) is not a regular file.")
        }
        // Checked again behind the open: what was a file could be a pipe by now, and must not block.
        let file = try open(names, flags: O_RDONLY | O_NONBLOCK | O_NOCTTY)
        defer { close(file) }
        guard let opened = FileStatus(descriptor: file), opened.kind == .file else {
            throw Refusal(text: "\(shown) is not a regular file.")
        }
        return (Self.contents(of: file, limit: limit), opened.size)
    }

    /// Whether the path exists, even as a symbolic link that leads nowhere.
    func exists(_ names: [String]) -> Bool {
        guard let name = names.last, ProjectRoot.isName(name),
            let directory = try? root.open(names.dropLast(), flags: ProjectRoot.lookOnly | O_DIRECTORY)
        else { return false }
        defer { close(directory) }
        return FileStatus(name, in: directory) != nil
    }

    /// Whether the project's directory has a directory of this name.
    func hasDirectory(_ name: String) -> Bool {
        ProjectRoot.isName(name) && FileStatus(name, in: root.descriptor)?.kind == .directory
    }

    private static func entry(_ rawName: UnsafePointer<CChar>, in directory: Int32) -> Entry? {
        let name = String(cString: rawName)
        guard !name.isSame(as: "."), !name.isSame(as: "..") else { return nil }
        // By the bytes that it has: the name that is shown may be a repaired one.
        let bytes = Array(UnsafeBufferPointer(start: rawName, count: strlen(rawName) + 1))
        guard let status = FileStatus(nameBytes: bytes, in: directory) else { return nil }
        return Entry(name: name, kind: Kind(status.kind), size: status.size)
    }

    private func look(at names: [String]) throws(Refusal) -> FileStatus? {
        let file = try open(names, flags: ProjectRoot.lookOnly)
        defer { close(file) }
        return FileStatus(descriptor: file)
    }

    private func open(_ names: [String], flags: Int32) throws(Refusal) -> Int32 {
        do {
            return try root.open(names, flags: flags)
        } catch {
            let shown = Self.shown(names)
            switch error.code {
            case ENOENT: throw Refusal(text: "\(shown) does not exist.")
            case EXDEV: throw Refusal(text: "\(shown) leads out of the project, by a symbolic link.")
            case ENOTDIR, ELOOP: throw Refusal(text: "\(shown) is not a directory, or is a symbolic link.")
            default: throw Refusal(text: "\(shown) cannot be read.")
            }
        }
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
