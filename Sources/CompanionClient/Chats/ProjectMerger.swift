package import CompanionWire
import FoundationEssentials

/// A project as shown to the user: one row for all entries that a host lists with the same path.
package struct MergedProject: Sendable, Hashable, Identifiable {
    /// The newest of the host's entries, with the name to show.
    package var project: CompanionProject
    /// The ids of all entries, newest first. The project has the chats of all of them.
    package var ids: [String]
    /// The names of the other entries.
    package var otherNames: [String]

    package var id: String { project.id }

    package init(project: CompanionProject, ids: [String], otherNames: [String] = []) {
        self.project = project
        self.ids = ids
        self.otherNames = otherNames
    }
}

/// Merges the projects of a host, which may list one directory under several ids, and a catch-all without a directory.
package enum ProjectMerger {
    /// Merges projects that share a `localPath`; those without one stay apart. Keeps the host's order.
    ///
    /// The entry with the newest `lastUpdatedAt` represents the others. But it changes with every prompt in another
    /// entry, so the name is the directory's own if an entry has it, else the first in byte order.
    package static func merge(_ projects: [CompanionProject]) -> [MergedProject] {
        // Paths are compared byte by byte, because paths that look the same can be different directories.
        struct Place: Hashable {
            var path: ByteText?
            var id: ByteText?
        }
        var entries: [[CompanionProject]] = []
        var rows: [Place: Int] = [:]
        var seen: Set<Place> = []
        for project in projects {
            let id = ByteText(project.id)
            let path = project.localPath.isEmpty ? nil : ByteText(directory(project.localPath))
            guard seen.insert(Place(path: path, id: id)).inserted else { continue }
            let place = Place(path: path, id: path == nil ? id : nil)
            if let row = rows[place] {
                entries[row].append(project)
            } else {
                rows[place] = entries.count
                entries.append([project])
            }
        }
        return entries.map(MergedProject.init(entries:))
    }

    /// Whether a project is a catch-all, which has no directory and is hidden while it has no chats.
    package static func isCatchAll(_ project: MergedProject) -> Bool {
        project.project.localPath.isEmpty
    }

    /// Treats `/a/b/` and `/a/b` as one directory.
    fileprivate static func directory(_ path: String) -> Substring {
        var path = path.utf8[...]
        while path.last == UInt8(ascii: "/"), path.count > 1 { path = path.dropLast() }
        return Substring(path)
    }
}

extension MergedProject {
    /// - Parameter entries: The entries of one directory; at least one.
    fileprivate init(entries: [CompanionProject]) {
        guard entries.count > 1 else {
            self.init(project: entries[0], ids: [entries[0].id])
            return
        }
        let entries = entries.sorted { left, right in
            let times = [left, right].map { $0.lastUpdatedAt ?? .distantPast }
            return times[0] == times[1] ? left.id.utf8.lexicographicallyPrecedes(right.id.utf8) : times[0] > times[1]
        }
        let own = ProjectMerger.directory(entries[0].localPath).parts("/").last
        let names = entries.map(\.name).filter { !$0.isEmpty }
        let name =
            names.first { own?.isSame(as: $0) ?? false }
            ?? names.min { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        var project = entries[0]
        project.name = name ?? ""
        let others = Set(names.filter { !$0.isSame(as: project.name) }.map(ByteText.init)).map(\.text)
        self.init(
            project: project,
            ids: entries.map(\.id),
            otherNames: others.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        )
    }
}

extension ProjectBrowsing {
    /// The projects for display: merged by path, without empty catch-alls.
    ///
    /// Requests chats only of catch-alls.
    package func mergedProjects() async throws -> [MergedProject] {
        var result: [MergedProject] = []
        for project in ProjectMerger.merge(try await projects()) {
            if ProjectMerger.isCatchAll(project), try await chats(of: project).isEmpty { continue }
            result.append(project)
        }
        return result
    }

    /// The chats of all entries of a merged project, each once, newest first.
    package func chats(of project: MergedProject) async throws -> [CompanionChat] {
        var chats: [CompanionChat] = []
        var seen: Set<ByteText> = []
        for id in project.ids {
            let listed = try await self.chats(projectID: id)
            seen.reserveCapacity(seen.count + listed.count)
            chats += listed.filter { seen.insert(ByteText($0.id)).inserted }
        }
        return project.ids.count == 1
            ? chats : chats.sorted { ($0.lastUpdatedAt ?? .distantPast) > ($1.lastUpdatedAt ?? .distantPast) }
    }
}
