package import CompanionClient
package import CompanionWire
import FoundationEssentials
import PairingAgent

/// A chat and the project that it belongs to.
package struct ChatInProject: Sendable {
    package var chat: CompanionChat
    package var project: MergedProject

    package init(chat: CompanionChat, project: MergedProject) {
        self.chat = chat
        self.project = project
    }
}

extension HostSession {
    /// The project that a word names: by id, name or path.
    package func project(_ word: String) async throws -> MergedProject { try await projects.project(word) }

    /// The chats of projects, newest first.
    package func chats(in projects: [MergedProject]) async throws -> [ChatInProject] {
        var all: [ChatInProject] = []
        for project in projects {
            all += try await self.projects.chats(of: project).map { ChatInProject(chat: $0, project: project) }
        }
        return projects.count < 2
            ? all : all.sorted { ($0.chat.lastUpdatedAt ?? .distantPast) > ($1.chat.lastUpdatedAt ?? .distantPast) }
    }

    /// The chats of the project that a word names, or of all projects, and these projects.
    ///
    /// - Throws: `StoredHost.Unknown` if the history knows none.
    package func chats(
        inProject word: String?
    ) async throws -> (projects: [MergedProject], chats: [ChatInProject]) {
        let chosen: [MergedProject] =
            if let word { [try await project(word)] } else { try await projects.mergedProjects() }
        let chats = try await chats(in: chosen)
        if chats.isEmpty, stored != nil { throw StoredHost.Unknown() }
        return (chosen, chats)
    }

    /// The chat that a word names: by id or title, in any project.
    package func chat(_ word: String) async throws -> ChatInProject {
        try NameMatch.find(
            word,
            in: try await chats(in: try await projects.mergedProjects()),
            kind: "chat",
            listing: "pairtool chats",
            ids: { [$0.chat.id] },
            names: { [$0.chat.title] }
        )
    }

    /// The model to use: the named one, else the one that is used already, else the first that the host lists; nil if the
    /// host chooses.
    ///
    /// - Parameter used: The model of the chat, as long as the host has it.
    package func model(_ named: String?, used: String? = nil) async throws -> String? {
        guard let models = offer.models else { return named }
        if named == nil, let used {
            let listed = try await models.models()
            if listed.contains(where: { $0.id.isSame(as: used) }) { return used }
        }
        if let named {
            // Verified hosts accept only the models that they list.
            if isVerified { return try Self.model(named, in: try await models.models(), isWhole: true) }
            // If the list cannot be read, the host decides.
            guard let listed = try? await models.models() else { return named }
            return try Self.model(named, in: listed, isWhole: false)
        }
        guard let first = try await models.models().first else {
            throw AppError(
                .hostUnavailable,
                "host.no_model",
                "the host has no models",
                next: isVerified
                    ? "see at the host what its agent needs: pairtool host status"
                    : "see at the host what its agent needs (a Mac: sign in to Copilot in the app), or name a model with --model"
            )
        }
        return first.id
    }

    /// The model that the user named. Legacy hosts may have more models than they list, so a word that resembles none
    /// of the listed ones is left to the host.
    ///
    /// - Parameter isWhole: Whether the list is complete.
    /// - Throws: ``AppError`` with exit code 3 if the host does not have the model, or if the word looks like a
    ///   typing error.
    private static func model(_ word: String, in models: [CompanionModel], isWhole: Bool) throws -> String {
        let meant = UserWord(word)
        if models.contains(where: { meant.isID($0.id) }) { return word }
        // The first model of an agent that has several.
        if let model = models.first(where: { $0.agent.map(meant.isID) ?? false }) { return model.id }
        // No beginnings: a legacy host may have a model of just this name that it does not list.
        let names = models.filter { meant.isName($0.id) || meant.isName($0.name) }
        if let model = names.first, names.count == 1 { return model.id }
        let near = NearestWord.of(word, in: models.map(\.id))
        guard near != nil || isWhole else { return word }
        let hint =
            near.map { "did you mean “\($0)”?" } ?? "it has \(models.prefix(5).map(\.id).joined(separator: ", "))"
        throw AppError(
            .nothingFound,
            "model.unknown",
            "the host has no model “\(word)”" + (models.isEmpty ? "" : "; \(hint)"),
            next: "pairtool models"
        )
    }

    /// The project for a new chat: the named one, else the only one, else the one that the user chooses.
    ///
    /// - Throws: ``AppError``, also where nobody can be asked or none was chosen.
    package func projectForNewChat(_ named: String?) async throws -> MergedProject {
        if let named { return try await project(named) }
        let projects = try await projects.mergedProjects().filter { !ProjectMerger.isCatchAll($0) }
        if let only = projects.first, projects.count == 1 { return only }
        guard !projects.isEmpty else {
            throw AppError(.nothingFound, "project.none", "the host has no project to start a chat in")
        }
        if interaction.canAsk {
            let rows = projects.map { TerminalText.line("\($0.project.name)  \($0.project.localPath)") }
            if let index = try await interaction.choose("Which project?", from: rows) { return projects[index] }
        }
        throw AppError(
            .usage,
            "project.ambiguous",
            "the host has \(projects.count) projects: \(projects.prefix(5).map(\.project.name).joined(separator: ", "))",
            next: "name one with --project"
        )
    }
}

extension ProjectBrowsing {
    /// The project that a word names: by id, name or path.
    package func project(_ word: String) async throws -> MergedProject {
        try NameMatch.find(
            word,
            in: try await mergedProjects(),
            kind: "project",
            listing: "pairtool projects",
            ids: \.ids,
            names: { [$0.project.name, $0.project.localPath] },
            otherNames: \.otherNames
        )
    }
}
