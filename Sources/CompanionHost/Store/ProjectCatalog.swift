import CompanionWire
import Crypto
import Glibc
import NIOConcurrencyHelpers
import PairingAgent

/// The directories that a host lists, and the only ones that its agents work in.
struct ProjectCatalog: Sendable {
    struct Project: Sendable, Hashable {
        /// First 16 hex digits of SHA-1 over the path, as deployed hosts have it.
        var id: String
        var name: String
        /// Absolute, with symbolic links resolved.
        var path: String
    }

    private let listed: NIOLockedValueBox<[Project]>

    var projects: [Project] { listed.withLockedValue { $0 } }

    /// - Parameter paths: Absolute paths of directories. Doubles count once.
    /// - Throws: ``CompanionHostError/Code/invalidProject``.
    init(paths: [String]) throws(CompanionHostError) {
        var projects: [Project] = []
        for path in paths {
            guard path.hasPrefix("/") else {
                throw CompanionHostError(.invalidProject, "\(path) is not an absolute path.")
            }
            guard let resolved = Self.canonical(path), Self.isDirectory(resolved) else {
                throw CompanionHostError(.invalidProject, "\(path) is not a directory: nothing to list there.")
            }
            let project = Project(id: Self.id(path: resolved), name: Self.name(path: resolved), path: resolved)
            if !projects.contains(project) { projects.append(project) }
        }
        listed = NIOLockedValueBox(projects)
    }

    /// Lists one more project, for all copies of this catalog. One that is listed already stays as it is.
    func add(_ project: Project) {
        listed.withLockedValue { projects in
            if !projects.contains(where: { $0.id == project.id }) { projects.append(project) }
        }
    }

    /// The innermost project that a path is in, and the path with symbolic links resolved.
    ///
    /// - Returns: nil for a path outside of all projects, and for one that does not exist: callers must not be able
    ///   to tell these apart.
    func locate(_ path: String) -> (project: Project, directory: String)? {
        guard path.hasPrefix("/"), !path.utf8.contains(0), let resolved = Self.canonical(path) else { return nil }
        let candidates = projects.filter { project in
            resolved == project.path || resolved.hasPrefix(project.path == "/" ? "/" : project.path + "/")
        }
        guard let project = candidates.max(by: { $0.path.utf8.count < $1.path.utf8.count }) else { return nil }
        return Self.isDirectory(resolved) ? (project, resolved) : nil
    }

    func project(id: String) -> Project? {
        projects.first { $0.id == id }
    }

    fileprivate static func id(path: String) -> String {
        hex(Insecure.SHA1.hash(data: Array(path.utf8)).prefix(8))
    }

    private static func name(path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? "/"
    }

    static func canonical(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(validatingCString: resolved)
    }

    static func isDirectory(_ path: String) -> Bool {
        PrivateFile.isDirectory(path)
    }
}

extension ProjectCatalog.Project {
    /// A project that a device made.
    ///
    /// - Parameter path: Absolute, with symbolic links resolved.
    init(madeAt path: String, name: String) {
        self.init(id: ProjectCatalog.id(path: path), name: name, path: path)
    }
}
