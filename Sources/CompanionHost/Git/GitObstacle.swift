import CompanionWire
import Glibc
import LocalState
import NIOConcurrencyHelpers

/// Finds entries that make git wait for ever: pipes and devices in the place of files that it opens.
///
/// An agent can make one at any time. Git opens such files in every directory, so they are only looked for once it has
/// not answered for a moment.
enum GitObstacle {
    /// How long git works before something is looked for.
    static let patience = Duration.seconds(1)
    /// The files of a working tree that git opens without having been asked to.
    private static let names = [".gitignore", ".gitattributes", ".gitmodules"]

    /// Returns the path of an entry at the top of a working tree that makes git wait for ever; nil if there is none.
    /// Blocks.
    static func atTop(of root: String) -> String? {
        names.map { root + "/" + $0 }.first { path in
            FileStatus(path, followingLinks: false).map { isObstacle($0.kind) } ?? false
        }
    }

    /// Returns the path of an entry in a working tree or its git directory that makes git wait for ever; nil if there
    /// is none, if it takes longer than a minute to find one, and in a cancelled task.
    static func find(in root: String) async -> String? {
        let isStopped = NIOLockedValueBox(false)
        return await withTaskCancellationHandler {
            // Not for ever, if there is a file system that does not answer.
            let found = try? await abandoning(after: .seconds(60)) {
                try await BlockingCall.run { search(root) { isStopped.withLockedValue { $0 } } }
            }
            return (found ?? nil) ?? nil
        } onCancel: {
            isStopped.withLockedValue { $0 = true }
        }
    }

    private static func isObstacle(_ kind: FileStatus.Kind) -> Bool {
        kind == .pipe || kind == .characterDevice || kind == .other
    }

    /// A directory that is to be looked through.
    private struct Directory {
        var path: [CChar]
        /// Whether git opens all files in it.
        var isGits: Bool

        /// - Parameter path: Without its terminating zero.
        init(_ path: [CChar], isGits: Bool) {
            (self.path, self.isGits) = (path, isGits)
        }

        init(_ path: String) {
            self.init(path.utf8.map { CChar(bitPattern: $0) }, isGits: true)
        }
    }

    private static func search(_ root: String, _ isStopped: () -> Bool) -> String? {
        var waiting = [Directory(root.utf8.map { CChar(bitPattern: $0) }, isGits: false)]
        if let git = try? GitDirectory(of: root) { waiting += [Directory(git.own), Directory(git.common)] }
        while let next = waiting.popLast(), !isStopped() {
            let descriptor = open(next.path + [0], O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard descriptor >= 0 else { continue }
            guard let stream = fdopendir(descriptor) else {
                close(descriptor)
                continue
            }
            defer { closedir(stream) }
            while let item = readdir(stream) {
                let name = withUnsafePointer(to: &item.pointee.d_name) { pointer in
                    pointer.withMemoryRebound(to: CChar.self, capacity: 256) {
                        Array(UnsafeBufferPointer(start: $0, count: strlen($0)))
                    }
                }
                guard !matches(name, text: "."), !matches(name, text: "..") else { continue }
                let path = next.path + [CChar(bitPattern: UInt8(ascii: "/"))] + name
                switch Int32(item.pointee.d_type) {
                case Int32(DT_REG): continue
                case Int32(DT_DIR): waiting.append(Directory(path, isGits: next.isGits || matches(name, text: ".git")))
                default:
                    guard next.isGits || names.contains(where: { matches(name, text: $0) }),
                        let kind = FileStatus(nameBytes: name + [0], in: descriptor)?.kind
                    else { continue }
                    if kind == .directory { waiting.append(Directory(path, isGits: next.isGits)) }
                    if isObstacle(kind) { return text(path) }
                    // In its own directory, git follows links.
                    let target = text(path)
                    if kind == .link, next.isGits, let kind = FileStatus(target)?.kind, isObstacle(kind) {
                        return target
                    }
                }
            }
        }
        return nil
    }

    private static func matches(_ name: [CChar], text: String) -> Bool {
        name.elementsEqual(text.utf8.map { CChar(bitPattern: $0) })
    }

    private static func text(_ path: [CChar]) -> String {
        String(decoding: path.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
