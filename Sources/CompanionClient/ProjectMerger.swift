package import CompanionWire
import FoundationEssentials

/// A project as people know it: one row for everything that a host lists under one path.
package struct MergedProject: Sendable, Hashable, Identifiable {
    /// The newest of the host's entries.
    package var project: CompanionProject
    /// The ids of all entries, the newest first: the chats of all of them belong to the project.
    package var ids: [String]

    package var id: String { project.id }

    package init(project: CompanionProject, ids: [String]) {
        self.project = project
        self.ids = ids
    }
}

/// Tidies the projects of a host: it may list one directory under several ids, and a catch-all without a directory.
package enum ProjectMerger {
    /// Merges projects that share a `localPath`; those without one stay apart. Keeps the host's order.
    ///
    /// The entry with the newest `lastUpdatedAt` stands for the others; it takes a name from them if it has none.
    package static func merge(_ projects: [CompanionProject]) -> [MergedProject] {
        var merged: [MergedProject] = []
        var rows: [String: Int] = [:]
        for project in projects {
            let key = project.localPath.isEmpty ? "id:\(project.id)" : "path:\(normalised(project.localPath))"
            guard let row = rows[key] else {
                rows[key] = merged.count
                merged.append(MergedProject(project: project, ids: [project.id]))
                continue
            }
            merged[row].absorb(project)
        }
        return merged
    }

    /// Whether a project is a catch-all that is hidden as long as it has no chats: it has no directory.
    package static func isCatchAll(_ project: MergedProject) -> Bool {
        project.project.localPath.isEmpty
    }

    /// Leaves out catch-alls without chats.
    ///
    /// - Parameter chatCount: How many chats a project has; asked for catch-alls only.
    package static func hidingEmptyCatchAll(
        _ projects: [MergedProject],
        chatCount: (MergedProject) throws -> Int
    ) rethrows -> [MergedProject] {
        try projects.filter { try !isCatchAll($0) || chatCount($0) > 0 }
    }

    /// `/a/b/` and `/a/b` are one directory.
    private static func normalised(_ path: String) -> Substring {
        var path = Substring(path)
        while path.count > 1, path.hasSuffix("/") { path = path.dropLast() }
        return path
    }
}

extension MergedProject {
    fileprivate mutating func absorb(_ other: CompanionProject) {
        guard !ids.contains(other.id) else { return }
        let isNewer = (other.lastUpdatedAt ?? .distantPast) > (project.lastUpdatedAt ?? .distantPast)
        ids.insert(other.id, at: isNewer ? 0 : ids.endIndex)
        let older = isNewer ? project : other
        if isNewer { project = other }
        if project.name.isEmpty { project.name = older.name }
    }
}

extension ProjectBrowsing {
    /// The projects as people know them: merged by path, an empty catch-all left out.
    ///
    /// Asks for the chats of catch-alls, and of nothing else.
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
        var seen: Set<String> = []
        for id in project.ids {
            chats += try await self.chats(projectID: id).filter { seen.insert($0.id).inserted }
        }
        return project.ids.count == 1
            ? chats : chats.sorted { ($0.lastUpdatedAt ?? .distantPast) > ($1.lastUpdatedAt ?? .distantPast) }
    }
}
