import CompanionWire
import Crypto
import LocalState
import NIOConcurrencyHelpers

/// The directories that a host lists, and the only ones that its agents work in.
struct ProjectCatalog: Sendable {
    struct Project: Sendable {
        /// First 16 hex digits of SHA-1 over the path, as deployed hosts have it.
        var id: String
        var name: String
        /// Absolute, with symbolic links resolved.
        var path: String
    }

    /// The projects in their order, and where each is by its id: a host may have very many.
    private struct Listed: Sendable {
        var projects: [Project] = []
        var rows: [String: Int] = [:]

        /// One that is listed already stays as it is.
        mutating func add(_ project: Project) {
            guard rows[project.id] == nil else { return }
            rows[project.id] = projects.count
            projects.append(project)
        }

        func project(id: String) -> Project? {
            rows[id].map { projects[$0] }
        }

        /// The project of exactly this directory. `é` in one character and in two are two directories.
        func project(path: some StringProtocol) -> Project? {
            project(id: ProjectCatalog.id(path: path)).flatMap { $0.path.isSame(as: path) ? $0 : nil }
        }
    }

    private let listed: NIOLockedValueBox<Listed>

    var projects: [Project] { listed.withLockedValue { $0.projects } }

    /// - Parameter paths: Absolute paths of directories. Doubles count once.
    /// - Throws: ``CompanionHostError/Code/invalidProject``.
    init(paths: [String]) throws(CompanionHostError) {
        var listed = Listed()
        for path in paths {
            guard path.begins(with: "/") else {
                throw CompanionHostError(.invalidProject, "\(path) is not an absolute path.")
            }
            guard let resolved = RealPath.of(path), Self.isDirectory(resolved) else {
                throw CompanionHostError(.invalidProject, "\(path) is not a directory: nothing to list there.")
            }
            listed.add(Project(id: Self.id(path: resolved), name: Self.name(path: resolved), path: resolved))
        }
        self.listed = NIOLockedValueBox(listed)
    }

    /// Lists one more project, for all copies of this catalog. One that is listed already stays as it is.
    func add(_ project: Project) {
        listed.withLockedValue { $0.add(project) }
    }

    /// The innermost project that a path is in, and the path with symbolic links resolved.
    ///
    /// - Returns: nil for a path outside of all projects, and for one that does not exist: callers must not be able
    ///   to tell these apart.
    func locate(_ path: String) -> (project: Project, directory: String)? {
        guard path.begins(with: "/"), let resolved = RealPath.of(path),
            let project = innermost(around: resolved)
        else { return nil }
        return Self.isDirectory(resolved) ? (project, resolved) : nil
    }

    /// The innermost project that a directory is in: itself, or one above it.
    ///
    /// - Parameter path: Absolute, with symbolic links resolved.
    func innermost(around path: String) -> Project? {
        listed.withLockedValue { listed in
            var rest = path[...]
            while true {
                if let project = listed.project(path: rest) { return project }
                guard !rest.isSame(as: "/"), let above = rest.cut(atLast: "/")?.before else { return nil }
                rest = above.isEmpty ? "/" : above
            }
        }
    }

    func project(id: String) -> Project? {
        listed.withLockedValue { $0.project(id: id) }
    }

    /// The project of exactly this directory.
    ///
    /// - Parameter path: Absolute, with symbolic links resolved.
    func project(path: String) -> Project? {
        listed.withLockedValue { $0.project(path: path) }
    }

    fileprivate static func id(path: some StringProtocol) -> String {
        Insecure.SHA1.hash(data: Array(path.utf8)).prefix(8).hexText
    }

    private static func name(path: String) -> String {
        path.parts("/").last.map(String.init) ?? "/"
    }

    static func isDirectory(_ path: String) -> Bool {
        FileStatus(path)?.kind == .directory
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
