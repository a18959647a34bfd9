import CompanionWire
import Glibc
import HTTPTypes
import PairingAgent

/// Makes the projects that devices ask for: a directory of their own below one that the host's owner chose, or a
/// directory inside a project that is listed already. Nothing else of the file system can be reached.
struct ProjectMaker: Sendable {
    /// Where new directories are made; made itself (0700) when it is needed.
    let directory: String

    /// - Throws: ``HostResponseError``: 400 for a name that is no name of a directory, 403 for a path outside of the
    ///   listed projects, 409 for a directory that is there already.
    func make(name: String, localPath: String?, catalog: ProjectCatalog) throws -> ProjectCatalog.Project {
        let name = name.trimmingWhitespace()
        if let localPath, !localPath.isEmpty {
            guard let place = catalog.locate(localPath) else {
                throw HostResponseError(.forbidden, HostErrorText.projectNotListed, code: .requestForbidden)
            }
            // A directory is one project, by whatever name.
            if let known = catalog.projects.first(where: { $0.path == place.directory }) { return known }
            return ProjectCatalog.Project(madeAt: place.directory, name: name)
        }
        let isName =
            !name.isEmpty && !name.hasPrefix(".") && !name.contains("/")
            && name.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control && $0 != "\0" }
        guard isName else {
            throw HostResponseError(
                .badRequest,
                "A project's name has no slash and no control characters, and does not begin with a dot",
                code: .requestInvalid
            )
        }
        return ProjectCatalog.Project(madeAt: try makeDirectory(name, catalog: catalog), name: name)
    }

    /// Whether a project that was made earlier is where a device may still have one.
    func mayKeep(_ path: String, catalog: ProjectCatalog) -> Bool {
        guard ProjectCatalog.canonical(path) == path else { return false }
        if catalog.locate(path) != nil { return true }
        guard let base = ProjectCatalog.canonical(directory) else { return false }
        return path.hasPrefix(base + "/") && ProjectCatalog.isDirectory(path)
    }

    private func makeDirectory(_ name: String, catalog: ProjectCatalog) throws -> String {
        try PrivateFile.makeDirectory(directory)
        guard let base = ProjectCatalog.canonical(directory) else {
            throw HostResponseError(.internalServerError, HostErrorText.internalError, code: .internal)
        }
        let path = base + "/" + name
        // Never follows a link: what is there already is not made.
        if mkdir(path, 0o700) == 0 { return path }
        let isLeftOver =
            errno == EEXIST && ProjectCatalog.canonical(path) == path && Self.isEmptyDirectory(path)
            && !catalog.projects.contains { $0.path == path }
        guard isLeftOver else {
            throw HostResponseError(.conflict, "There is a project of that name already", code: .requestInvalid)
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
