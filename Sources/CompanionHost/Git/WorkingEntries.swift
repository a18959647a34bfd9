import CompanionWire
import Crypto
import FoundationEssentials
import Glibc
import LocalState

/// The files of a working tree that differ from its commit, as input for git.
struct WorkingEntries: Sendable {
    /// Input for `update-index --index-info`: files that are gone, and files whose content is not read.
    var placed: [UInt8] = []
    /// Input for `update-index --stdin`: files whose content git reads.
    var read: [UInt8] = []
    var others: Set<GitPath> = []
    var leftOut: [GitPath: Int] = [:]

    /// - Parameters:
    ///   - listed: By `ls-files -z -t`. Blocks.
    ///   - unchanged: Files of the list that have not changed, as long as no link has replaced a directory above them.
    /// - Throws: ``GitError`` if the top cannot be opened: without its files, all of them would seem unchanged.
    init(
        listed: [UInt8],
        except unchanged: Set<GitPath>,
        of repository: GitRepository,
        within limits: GitSnapshots.Limits
    ) throws {
        let root = open(repository.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard root >= 0 else { throw GitError(.unreadable, "\(repository.root) cannot be opened") }
        defer { close(root) }
        var deleted: Set<GitPath> = []
        var paths: [GitPath] = []
        var known: Set<GitPath> = []
        for line in listed.split(separator: 0) where line.count > 2 {
            var path = GitPath(line.dropFirst(2))
            switch line.first {
            case UInt8(ascii: "R"):
                deleted.insert(path)
                continue
            case UInt8(ascii: "?"):
                // Another repository, which git does not look into.
                if path.bytes.last == UInt8(ascii: "/") { path = GitPath(path.bytes.dropLast()) }
                others.insert(path)
            default: break
            }
            if known.insert(path).inserted { paths.append(path) }
        }
        var directories = Directories(root: root, files: others)
        let nothing = String(repeating: "0", count: repository.digits)
        for path in deleted { place(path, mode: "0", name: nothing) }
        var (total, count) = (0, 0)
        for path in paths where !deleted.contains(path) {
            guard directories.isReal(above: path) else {
                // A link has replaced its directory: its target is not part of the project.
                if !others.contains(path) { place(path, mode: "0", name: nothing) }
                continue
            }
            if unchanged.contains(path) { continue }
            let name = path.bytes.map { CChar(bitPattern: $0) } + [0]
            guard let status = FileStatus(nameBytes: name, in: root) else { continue }
            switch status.kind {
            // A file that became a directory. Git removes it only before it gets the files in it.
            case .directory where directories.withFiles.contains(path): place(path, mode: "0", name: nothing)
            case .directory where !others.contains(path), .link: read += path.bytes + [0]
            case .directory:
                place(path, mode: "160000", name: Self.name(GitSnapshots.repositoryMark, text: "", of: repository))
            case .file:
                count += 1
                let isReadable = faccessat(root, name, R_OK, AT_EACCESS) == 0
                if isReadable, status.size <= limits.file, total + status.size <= limits.total, count <= limits.files {
                    total += status.size
                    read += path.bytes + [0]
                } else {
                    leftOut[path] = status.size
                    let text = "\(status.size) \(status.changedAt.timeIntervalSince1970)"
                    place(path, mode: "160000", name: Self.name(GitSnapshots.leftOutMark, text: text, of: repository))
                }
            default: place(path, mode: "0", name: nothing)
            }
        }
    }

    /// Remembers which directories of files are real ones, and not behind a link.
    private struct Directories {
        let root: Int32
        /// Those with files that are in no commit.
        private(set) var withFiles: Set<GitPath> = []
        private var known: [GitPath: Bool] = [:]

        init(root: Int32, files: Set<GitPath>) {
            self.root = root
            for file in files {
                var directory = file.directory
                while let next = directory, withFiles.insert(next).inserted { directory = next.directory }
            }
        }

        /// Whether all above a file are directories, and none is a link.
        mutating func isReal(above path: GitPath) -> Bool {
            guard let directory = path.directory else { return true }
            if let found = known[directory] { return found }
            let name = directory.bytes.map { CChar(bitPattern: $0) } + [0]
            let areAboveReal = isReal(above: directory)
            let found = areAboveReal && FileStatus(nameBytes: name, in: root)?.kind == .directory
            known[directory] = found
            return found
        }
    }

    private mutating func place(_ path: GitPath, mode: String, name: String) {
        placed += Array("\(mode) \(name)\t".utf8) + path.bytes + [0]
    }

    private static func name(_ mark: String, text: String, of repository: GitRepository) -> String {
        let hash = SHA256.hash(data: Data(text.utf8)).hexText
        return String((mark + hash).utf8.prefix(repository.digits)) ?? ""
    }
}
