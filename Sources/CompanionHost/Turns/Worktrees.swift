import CompanionWire

/// Answers devices and the owner about the working trees of agents and their changes.
struct Worktrees: Sendable {
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
        var changes = try await sessions.changes(
            chatID: chatID,
            project: project,
            wantsDifference: wantsDifference,
            file: file
        )
        changes.mode = try await store.mode(ofChat: chatID)
        return changes
    }

    /// - Parameter isOwner: Whether the owner asks, who also sees the sessions in projects that are not listed any
    ///   more.
    func all(isOwner: Bool) async throws -> [Worktree] {
        let modes = try await store.modes()
        return try await sessions.worktrees(in: isOwner ? nil : store.catalog).map { worktree in
            var worktree = worktree
            worktree.mode = modes[ByteText(worktree.id)]
            return worktree
        }
    }

    func worktree(ofChat chat: String, isOwner: Bool) async throws -> Worktree {
        var worktree = try await sessions.worktree(ofChat: chat, in: isOwner ? nil : store.catalog)
        worktree.mode = try await store.mode(ofChat: chat)
        return worktree
    }

    /// - Parameters:
    ///   - device: The id of the device that asks; nil for the owner.
    ///   - command: The id of its command.
    /// - Throws: As ``GitSessions/remove(chat:isForced:by:command:in:isBusy:forget:)``.
    func remove(
        chat: String,
        isForced: Bool,
        by device: String?,
        command: String? = nil
    ) async throws -> Worktree {
        try await sessions.remove(
            chat: chat,
            isForced: isForced,
            by: device,
            command: command,
            in: device == nil ? nil : store.catalog,
            isBusy: turns.isBusy,
            forget: { turns.agent.forget(chat: $0) }
        )
    }

    /// Finishes the removals and additions of working trees that an earlier host did not finish
    /// (``GitSessions/finishInterrupted(within:isBusy:forget:)``).
    func finishInterrupted(within limit: Duration) async {
        await sessions.finishInterrupted(
            within: limit,
            isBusy: { [turns] in turns.isBusy(chatID: $0) },
            forget: { [turns] in turns.agent.forget(chat: $0) }
        )
    }
}
