import CompanionClient
import CompanionWire
import FoundationEssentials

/// A chat and the project that it belongs to.
struct ChatInProject: Sendable {
    var chat: CompanionChat
    var project: MergedProject
}

extension HostSession {
    /// The project that a word names: by id, name or path.
    func project(_ word: String) async throws -> MergedProject {
        try NameMatch.find(
            word,
            in: try await projects.mergedProjects(),
            kind: "project",
            listing: "pairtool projects",
            ids: \.ids,
            names: { [$0.project.name, $0.project.localPath] },
            otherNames: \.otherNames
        )
    }

    /// The chats of projects, newest first.
    func chats(in projects: [MergedProject]) async throws -> [ChatInProject] {
        var all: [ChatInProject] = []
        for project in projects {
            all += try await self.projects.chats(of: project).map { ChatInProject(chat: $0, project: project) }
        }
        return projects.count < 2
            ? all : all.sorted { ($0.chat.lastUpdatedAt ?? .distantPast) > ($1.chat.lastUpdatedAt ?? .distantPast) }
    }

    /// The chat that a word names: by id or title, in any project.
    func chat(_ word: String) async throws -> ChatInProject {
        try NameMatch.find(
            word,
            in: try await chats(in: try await projects.mergedProjects()),
            kind: "chat",
            listing: "pairtool chats",
            ids: { [$0.chat.id] },
            names: { [$0.chat.title] }
        )
    }

    /// The model to use: the one that was named, else the first that the host lists; nil where the host chooses.
    func model(_ named: String?) async throws -> String? {
        if let named { return named }
        guard let models = offer.models else { return nil }
        guard let first = try await models.models().first else {
            throw CommandError(
                .hostUnavailable,
                "host.no_model",
                "the host lists no model",
                next: "sign in to Copilot in the app on the host, or name a model with --model"
            )
        }
        return first.id
    }

    /// The project for a new chat: the one that was named, else the only one.
    func projectForNewChat(_ named: String?) async throws -> MergedProject {
        if let named { return try await project(named) }
        let projects = try await projects.mergedProjects().filter { !ProjectMerger.isCatchAll($0) }
        if let only = projects.first, projects.count == 1 { return only }
        guard !projects.isEmpty else {
            throw CommandError(.nothingFound, "project.none", "the host lists no project to start a chat in")
        }
        throw CommandError(
            .usage,
            "project.ambiguous",
            "the host has \(projects.count) projects: \(projects.prefix(5).map(\.project.name).joined(separator: ", "))",
            next: "name one with --project"
        )
    }
}
