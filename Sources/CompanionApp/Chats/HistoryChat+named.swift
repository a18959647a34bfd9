import CompanionWire
package import History
import PairingAgent

extension [HistoryChat] {
    /// The chats that a word names: one chat, or those of one project.
    ///
    /// - Parameter name: The title, name or id prefix; nil for all chats.
    /// - Throws: ``AppError`` with `chat.none` for an empty list, and if the word names nothing or several things.
    package func named(_ name: String?) throws -> [HistoryChat] {
        guard !isEmpty else {
            throw AppError(.nothingFound, "chat.none", "no chat was read yet", next: "pairtool chats")
        }
        guard let name else { return self }
        do {
            let chat = try NameMatch.find(
                name,
                in: self,
                kind: "chat",
                listing: "pairtool chats",
                ids: { [$0.chat.id] },
                names: { [$0.chat.title] }
            )
            return [chat]
        } catch {
            // The error about chats also says if several match.
            guard let project = try? project(name) else { throw error }
            return filter { $0.isInProject(of: project) }
        }
    }

    /// A chat of the project that a word names.
    private func project(_ name: String) throws -> HistoryChat {
        var projects: [HistoryChat] = []
        for chat in self where chat.project != nil && !projects.contains(where: chat.isInProject) {
            projects.append(chat)
        }
        return try NameMatch.find(
            name,
            in: projects,
            kind: "project",
            listing: "pairtool projects",
            ids: { [$0.project?.id ?? ""] },
            names: { [$0.project?.name ?? "", $0.project?.localPath ?? ""] }
        )
    }
}

extension HistoryChat {
    fileprivate func isInProject(of other: HistoryChat) -> Bool {
        guard let project, let otherProject = other.project else { return false }
        return host.id.isSame(as: other.host.id) && project.id.isSame(as: otherProject.id)
    }
}
