import CompanionWire
import FoundationEssentials
import Glibc
import LocalState
import Subprocess

/// The view of a repository that the host's git gets: its objects, references, index and working trees, with a
/// configuration that the host has written.
///
/// git(1): with `GIT_COMMON_DIR`, the configuration and hooks are read there, and nowhere else. So nothing that a
/// repository's configuration names can run (hooks, which git has there since 2.54, filters, monitors, helpers, and
/// what later versions invent), also where an agent changes that configuration while git runs.
struct GitView: Sendable {
    private let path: String
    private let environment: [Environment.Key: String]

    /// - Parameter root: The top directory of a working tree.
    /// - Throws: ``GitError`` if git would refuse the repository or wait for something in it, ``GitProgram/Failure``,
    ///   `CancellationError`.
    init(of root: String) async throws {
        let directory = try await GitFile.reading { try GitDirectory(of: root) }
        if directory.isForeign { try await SafeDirectories.check(root) }
        try await self.init(of: directory, with: try await GitSettings(of: directory))
    }

    init(of directory: GitDirectory, with settings: GitSettings) async throws {
        path = try await GitFile.reading { try Self.make(of: directory, with: settings) }
        environment = [
            "GIT_DIR": directory.own,
            "GIT_COMMON_DIR": path,
            "GIT_WORK_TREE": directory.root,
        ]
    }

    /// Runs a body with it, and removes it.
    func use<R>(_ body: ([Environment.Key: String]) async throws -> R) async throws -> R {
        do {
            let result = try await body(environment)
            await remove()
            return result
        } catch {
            await remove()
            throw error
        }
    }

    private func remove() async {
        _ = try? await BlockingCall.run { [path] in try FileManager.default.removeItem(atPath: path) }
    }

    private static func make(of directory: GitDirectory, with settings: GitSettings) throws -> String {
        let path = try GitViewDirectory.make()
        do {
            try check(directory)
            try write(Array(configuration(settings).utf8), to: path + "/config")
            // Git asks it which branch the first working tree has checked out.
            try write(head(of: directory.common), to: path + "/HEAD")
            // Git may pack references at any moment: a link that leads nowhere yet is no file for it.
            for name in ["refs", "objects", "packed-refs"] { try link(directory.common, to: path, named: name) }
            for name in ["reftable", "shallow", "logs", "worktrees"]
            where FileStatus("\(directory.common)/\(name)") != nil {
                try link(directory.common, to: path, named: name)
            }
            // `info` has attributes, too.
            try PrivateFile.makeDirectory(path + "/info")
            if FileStatus(directory.common + "/info/exclude") != nil {
                try link(directory.common, to: path, named: "info/exclude")
            }
            return path
        } catch {
            try? FileManager.default.removeItem(atPath: path)
            throw error
        }
    }

    /// Checks that git can open what it always opens. Other obstacles are looked for only once git waits
    /// (``GitObstacle``).
    private static func check(_ directory: GitDirectory) throws(GitError) {
        for name in ["refs", "objects"] where FileStatus("\(directory.common)/\(name)")?.kind != .directory {
            throw GitError(.unreadable, "\(directory.common)/\(name) is not a directory")
        }
        guard let head = try GitFile.read(directory.own + "/HEAD", limit: 8 << 10) else {
            throw GitError(.unreadable, "\(directory.own)/HEAD is missing")
        }
        for name in ["packed-refs", "shallow", "info/exclude", "objects/info/alternates", "objects/info/commit-graph"] {
            try GitFile.check("\(directory.common)/\(name)")
        }
        try GitFile.check(directory.own + "/index")
        // What it names is mostly a file of its own; a directory is a reference that does not exist.
        if let name = String(decoding: head, as: UTF8.self).dropping(prefix: "ref: ")?.parts("\n").first {
            let path = "\(directory.common)/\(name)"
            if FileStatus(path)?.kind != .directory { try GitFile.check(path) }
        }
    }

    private static func configuration(_ settings: GitSettings) -> String {
        """
        [core]
        \trepositoryformatversion = 1
        \tbare = false
        [extensions]
        \tobjectformat = \(settings.format)
        """ + (settings.references.isSame(as: "files") ? "\n" : "\n\trefstorage = \(settings.references)\n")
    }

    private static func head(of common: String) throws(GitError) -> [UInt8] {
        let path = common + "/HEAD"
        // Git once made it a link.
        var target = [CChar](repeating: 0, count: 4096)
        let count = readlink(path, &target, target.count)
        if count > 0, count < target.count {
            return Array("ref: ".utf8) + target[..<count].map { UInt8(bitPattern: $0) }
        }
        return try GitFile.read(path, limit: 8 << 10) ?? []
    }

    private static func link(_ common: String, to path: String, named name: String) throws(GitError) {
        guard symlink("\(common)/\(name)", "\(path)/\(name)") == 0 else {
            throw GitError(.unreadable, "\(path)/\(name): \(PrivateFile.systemMessage())")
        }
    }

    private static func write(_ bytes: [UInt8], to path: String) throws {
        try bytes.withUnsafeBytes { try PrivateFile.write($0, to: path, isDurable: false) }
    }
}
