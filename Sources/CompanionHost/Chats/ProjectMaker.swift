import CompanionWire
import Dispatch
import Glibc
import Identity
import LocalState

/// Makes the projects that devices ask for: a directory of their own below one that the host's owner chose, or a
/// directory inside a project that is listed already. Nothing else of the file system can be reached.
struct ProjectMaker: Sendable {
    /// A project, before anybody lists it.
    struct NewProject: Sendable {
        var project: ProjectCatalog.Project
        /// Removes a directory that was made for it.
        var discard: @Sendable () async -> Void = {}
    }

    /// The directory in which directories of new projects are made. It is itself made (mode 0700) when it is first
    /// needed.
    let directory: String
    /// Disks and mounts may take their time: a thread for them alone.
    private let queue = DispatchQueue(label: "pairtool-host.projects")

    init(directory: String) {
        self.directory = directory
    }

    /// - Throws: ``HostError``: `request.invalid` for an unusable name and for a directory that exists already,
    ///   `request.forbidden` for a path outside of the listed projects, `internal` where no directory can be made.
    func make(name: String, localPath: String?, catalog: ProjectCatalog) async throws -> NewProject {
        let (project, isNew) = try await blocking {
            try makeNow(name: name, localPath: localPath, catalog: catalog)
        }
        guard isNew else { return NewProject(project: project) }
        // What is not empty stays.
        return NewProject(project: project) { _ = try? await blocking { rmdir(project.path) } }
    }

    private func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try work() }) }
        }
    }

    private func makeNow(
        name: String,
        localPath: String?,
        catalog: ProjectCatalog
    ) throws -> (project: ProjectCatalog.Project, isNew: Bool) {
        let name = name.trimmingWhitespace()
        guard !name.isEmpty, name.unicodeScalars.allSatisfy(Self.isShown) else {
            throw HostError(
                .requestInvalid,
                "A project's name cannot be blank or contain line breaks or control characters"
            )
        }
        if let localPath, !localPath.isEmpty {
            guard let place = catalog.locate(localPath) else {
                throw HostError(.requestForbidden, "projectPath is not inside a project of this host")
            }
            // A directory is one project, by whatever name.
            if let known = catalog.project(path: place.directory) { return (known, false) }
            return (ProjectCatalog.Project(madeAt: place.directory, name: name), false)
        }
        guard !name.begins(with: "."), !name.has("/") else {
            throw HostError(
                .requestInvalid,
                "The name of a new directory cannot contain a slash or begin with a dot"
            )
        }
        return (ProjectCatalog.Project(madeAt: try makeDirectory(name, catalog: catalog), name: name), true)
    }

    /// Whether a character may be in a name: none that ends a line or changes how other text is shown.
    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: false
        default: !scalar.properties.isBidiControl
        }
    }

    /// Returns a condition on paths: whether a project that a device made earlier is in a place where a device could
    /// still make one.
    func keeping(_ catalog: ProjectCatalog) -> (String) -> Bool {
        // Found out once: there may be very many projects.
        let base = RealPath.of(directory)
        return { path in
            guard Self.isCanonical(path), ProjectCatalog.isDirectory(path) else { return false }
            return base.map { path.begins(with: $0 + "/") } == true || catalog.innermost(around: path) != nil
        }
    }

    /// Whether a path is absolute and has no symbolic links.
    private static func isCanonical(_ path: String) -> Bool {
        RealPath.of(path)?.isSame(as: path) == true
    }

    private func makeDirectory(_ name: String, catalog: ProjectCatalog) throws -> String {
        try PrivateFile.makeDirectory(directory)
        guard let base = RealPath.of(directory) else {
            throw HostError.internal
        }
        let path = base + "/" + name
        // Never follows a link: what is there already is not made.
        if mkdir(path, 0o700) == 0 { return path }
        switch errno {
        case EEXIST: break
        case ENAMETOOLONG:
            throw HostError(.requestInvalid, "The name is too long for a directory: the file system allows 255 bytes")
        default: throw HostError.internal
        }
        let isLeftOver =
            Self.isCanonical(path) && Self.isEmptyDirectory(path) && catalog.project(path: path) == nil
        guard isLeftOver else {
            throw HostError(.requestInvalid, "There is already a project of that name", variant: .alreadyExists)
        }
        return path
    }

    private static func isEmptyDirectory(_ path: String) -> Bool {
        guard let stream = opendir(path) else { return false }
        defer { closedir(stream) }
        // "." and ".." and nothing else.
        var count = 0
        while readdir(stream) != nil { count += 1 }
        return count <= 2
    }
}
