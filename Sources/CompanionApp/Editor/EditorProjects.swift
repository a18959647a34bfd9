package import CompanionClient
import CompanionWire
import FoundationEssentials
package import Identity
package import LocalState
import PairingAgent

/// Which directories of this machine are which projects of hosts, where their paths differ (`pairtool acp map`).
package struct EditorProjects: Sendable {
    package struct Entry: Codable, Sendable, Hashable {
        /// The directory on this machine.
        package var local: String
        /// The host's id.
        package var host: String
        /// The path of the project at the host.
        package var project: String
    }

    private struct Content: Codable, Sendable, Equatable {
        var version = 1
        var entries: [Entry] = []
    }

    private let file: RecordFile<Content>

    package init(paths: Paths) {
        let encoder = CompanionJSON.encoder(sorted: true)
        encoder.outputFormatting.insert(.prettyPrinted)
        file = RecordFile(
            path: paths.data + "/editor-projects.json",
            lock: paths.data + "/editor-projects.lock",
            decoder: CompanionJSON.decoder(),
            encoder: encoder,
            empty: Content(),
            kind: "the projects of editors",
            remedy: "restore them, or move them away and store them again with pairtool acp map"
        )
    }

    /// - Throws: `RecordFileError` for a damaged file; `PrivateFile.Failure` for one that cannot be read.
    package func entries() throws -> [Entry] { try file.load().entries }

    /// Stores that a directory is a project. A second project of the same directory and host takes the place of the
    /// first.
    ///
    /// - Throws: ``AppError`` for a directory that does not exist, and a project without a path.
    package func add(_ directory: String, as project: MergedProject, of host: PairedHost) throws -> Entry {
        let local = EditorPaths.real(directory.begins(with: "/") ? directory : "\(currentDirectory)/\(directory)")
        guard FileStatus(local)?.kind == .directory else {
            throw AppError(.usage, "acp.directory", "\(directory) is not a directory of this machine")
        }
        guard !project.project.localPath.isEmpty else {
            throw AppError(.usage, "acp.project", "\(host.name) does not say where \(project.project.name) is")
        }
        let entry = Entry(local: local, host: host.id, project: project.project.localPath)
        try file.update { content in
            content.entries.removeAll { $0.local.isSame(as: entry.local) && $0.host == entry.host }
            content.entries.append(entry)
        }
        return entry
    }

    private var currentDirectory: String { FileManager.default.currentDirectoryPath }
}

/// A project of the host, and where it is on the editor's machine.
struct EditorProject: Sendable {
    var project: MergedProject
    var paths: EditorPaths

    /// The project that a directory of the editor is in: the named one, one with the same path at the host, or one that
    /// was stored. Never by a similar name: the agent would work in another repository.
    ///
    /// - Parameters:
    ///   - named: As the user has named it; nil for none.
    ///   - home: The user's home directory. A project that has all of it is none by its path alone.
    /// - Throws: ``ACPRefusal`` that names the projects of the host.
    static func find(
        at directory: String,
        named: String?,
        in projects: [MergedProject],
        known: [EditorProjects.Entry],
        hostID: String,
        hostName: String,
        home: String
    ) throws -> EditorProject {
        let (here, real) = (EditorPaths.normal(directory), EditorPaths.real(directory))
        let usable = projects.filter { !$0.project.localPath.isEmpty }
        // A host that names a whole machine as a project would have the editor open any file.
        let near = usable.filter { EditorPaths.rest(of: home, in: EditorPaths.normal($0.project.localPath)) == nil }
        /// The innermost of directories that this one is in, and its path as the editor writes it: behind a symbolic
        /// link, that is another one.
        func innermost<Place>(_ places: [Place], _ path: (Place) -> String) -> (Place, String)? {
            places.compactMap { place -> (Place, size: Int, String)? in
                let path = EditorPaths.normal(path(place))
                if EditorPaths.rest(of: here, in: path) != nil { return (place, path.utf8.count, path) }
                guard let rest = EditorPaths.rest(of: real, in: path) else { return nil }
                return (place, path.utf8.count, here.dropping(suffix: rest).map(String.init) ?? path)
            }
            .max { $0.size < $1.size }.map { ($0.0, $0.2) }
        }
        let stored = known.filter { $0.host == hostID }
        if let named {
            let found = try NameMatch.find(
                named,
                in: projects,
                kind: "project",
                listing: "pairtool projects",
                ids: \.ids,
                names: { [$0.project.name, $0.project.localPath] },
                otherNames: \.otherNames
            )
            guard !found.project.localPath.isEmpty else {
                throw ACPRefusal(
                    code: ACPRefusal.invalidParameters,
                    message: "\(hostName) does not say where \(found.project.name) is"
                )
            }
            let remote = found.project.localPath
            let places = stored.filter { $0.project.isSame(as: remote) }.map(\.local) + [remote]
            let local = innermost(places) { $0 }?.1 ?? directory
            return EditorProject(project: found, paths: EditorPaths(local: local, remote: remote))
        }
        if let (entry, local) = innermost(stored, \.local),
            let found = usable.first(where: { $0.project.localPath.isSame(as: entry.project) })
        {
            return EditorProject(project: found, paths: EditorPaths(local: local, remote: entry.project))
        }
        if let (found, path) = innermost(near, \.project.localPath) {
            return EditorProject(project: found, paths: EditorPaths(local: path, remote: found.project.localPath))
        }
        let names = usable.prefix(20).map { "\($0.project.name) (\($0.project.localPath))" }
        throw ACPRefusal(
            code: ACPRefusal.invalidParameters,
            message: "\(hostName) has no project at \(directory). Its projects: \(names.joined(separator: ", ")). "
                + "Say which one it is: pairtool acp map \(directory) PROJECT, or pairtool acp --project PROJECT"
        )
    }
}
