package import FoundationEssentials

/// A project that a host lists.
package struct CompanionProject: Codable, Sendable, Hashable, Identifiable {
    package var id: String
    /// The name for people; empty if the host does not tell it.
    package var name: String
    /// A path on the host. Empty for the catch-all project that some hosts call General.
    package var localPath: String
    /// The time of the last change; nil if the host tells none, or none that can be read.
    package var lastUpdatedAt: Date?

    package init(id: String, name: String, localPath: String, lastUpdatedAt: Date?) {
        self.id = id
        self.name = name
        self.localPath = localPath
        self.lastUpdatedAt = lastUpdatedAt
    }

    /// Only the id has to be there.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        name = try container.decodeIfPresent(String.self, forKey: .name) ?? ""
        localPath = try container.decodeIfPresent(String.self, forKey: .localPath) ?? ""
        lastUpdatedAt = try? container.decodeIfPresent(Date.self, forKey: .lastUpdatedAt)
    }
}

/// The answer of `GET /companion/projects`: newest first.
package struct CompanionProjectsResponse: Codable, Sendable, Hashable {
    package var ok: Bool
    package var projects: LossyArray<CompanionProject>

    package init(projects: [CompanionProject]) {
        self.ok = true
        self.projects = LossyArray(projects)
    }
}
