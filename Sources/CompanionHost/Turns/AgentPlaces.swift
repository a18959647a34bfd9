import CompanionWire

/// What devices and the owner ask about where agents work.
struct AgentPlaces: Sendable {
    let sessions: GitSessions
    let store: CompanionHostStore
    let turns: TurnRunner

    /// - Throws: ``HostError``: `request.not_found` for an unknown chat, `changes.unavailable`.
    func changes(chatID: String, wantsDifference: Bool, file: String?) async throws -> ChatChangesResponse {
        guard let id = try await store.projectID(ofChat: chatID), let project = store.catalog.project(id: id) else {
            throw HostError(.requestNotFound, "Unknown chat")
        }
        guard turns.agent.changesFiles else {
            throw HostError(.changesUnavailable, "The agent of this host only reads: it changes no files")
        }
        return try await sessions.changes(
            chatID: chatID,
            project: project,
            wantsDifference: wantsDifference,
            file: file
        )
    }

    func all() async throws -> [AgentPlace] {
        try await sessions.places(in: store.catalog)
    }

    func place(ofChat chat: String) async throws -> AgentPlace {
        try await sessions.place(ofChat: chat, in: store.catalog)
    }

    /// - Parameter device: Who asks; nil for the owner.
    /// - Throws: As ``GitSessions/remove(chat:isForced:by:in:isBusy:)``.
    func remove(chat: String, isForced: Bool, by device: String?) async throws -> AgentPlace {
        try await sessions.remove(
            chat: chat,
            isForced: isForced,
            by: device,
            in: store.catalog,
            isBusy: turns.isBusy
        )
    }
}
