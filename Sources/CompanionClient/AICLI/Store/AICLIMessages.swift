import CompanionWire
import FoundationEssentials
import History

/// The messages of a server's chats. They are in the history alone, as servers do not return them: without a history,
/// there are none.
package struct AICLIMessages: Sendable {
    private let store: AICLIStore
    /// nil if the user wants no history.
    let recorder: HistoryRecorder?

    package init(_ store: AICLIStore, _ recorder: HistoryRecorder?) {
        (self.store, self.recorder) = (store, recorder)
    }

    /// Adds a message to the chat of a directory.
    ///
    /// - Returns: The message for ``keep(_:of:)``; nil if it was not kept.
    func say(_ role: CompanionMessage.Role, _ text: String, at date: Date, in directory: String) async -> MessageKey? {
        guard let recorder else { return nil }
        let chatID = AICLISessionTable.chatID(for: directory)
        // A damaged file keeps nothing new from being written down.
        try? await moveOld(chatID: chatID)
        if role == .user, let project = await projects().first(where: { $0.localPath.isSame(as: directory) }) {
            var chat = project.onlyChat
            chat.lastUpdatedAt = date
            await recorder.keep(chat: chat)
        }
        return await recorder.history.use { history throws(HistoryError) in
            try await history.keep(role, text, chatID: chatID, of: recorder.host, at: date)
        } ?? nil
    }

    /// Adds a tool, or its end, to a message.
    func keep(_ tool: HistoryTool, of message: MessageKey) async {
        guard let recorder else { return }
        await recorder.history.use { history throws(HistoryError) in try await history.keepTool(tool, of: message) }
    }

    func page(chatID: String, cursor: String?, limit: Int) async throws -> CompanionMessagesPageResponse {
        let none = CompanionMessagesPageResponse(chatId: chatID, messages: [], nextCursor: nil)
        guard let recorder else { return none }
        try await moveOld(chatID: chatID)
        let start = max(0, cursor.flatMap { Int($0) } ?? 0)
        let known = await recorder.history.use { history throws(HistoryError) in
            try await history.messages(
                hostID: recorder.host.id,
                chatID: chatID,
                cursor: start,
                limit: min(max(limit, 1), 200)
            )
        }
        return (known ?? nil)?.value ?? none
    }

    /// The projects of the server, as the history knows them.
    private func projects() async -> [CompanionProject] {
        guard let recorder else { return [] }
        let known = await recorder.history.use { history throws(HistoryError) in
            try await history.projects(hostID: recorder.host.id)?.value
        }
        return (known ?? nil) ?? []
    }

    // MARK: Earlier versions

    /// Moves what earlier versions kept in files of their own to the history: the projects, and the messages of all
    /// chats whose project is known.
    package func moveOld() async throws {
        guard recorder != nil else { return }
        let old = try store.oldListing()?.projects ?? []
        try await moveListing()
        guard store.hasTranscripts else { return }
        for project in old + (await projects()) { try await moveOld(chatID: project.onlyChat.id) }
    }

    /// Moves the projects that earlier versions kept in a file of their own to the history, with their age, unless
    /// newer ones are there. Can be done twice, also by two processes at once. What was kept before the user cleared
    /// the history is removed.
    func moveListing() async throws {
        guard let recorder, let old = try store.oldListing() else { return }
        let isMoved = await recorder.history.use { history throws(HistoryError) in
            let cleared = try await history.clearedAt(hostID: recorder.host.id)
            guard cleared ?? .distantPast < old.listedAt,
                try await history.keep(
                    projects: old.projects,
                    unlessListed: true,
                    of: recorder.host,
                    at: old.listedAt
                )
            else { return true }
            for project in old.projects {
                try await history.keep(
                    chats: [project.onlyChat],
                    projectID: project.id,
                    of: recorder.host,
                    at: old.listedAt
                )
            }
            return true
        }
        if isMoved == true { store.removeOldListing() }
    }

    /// Can be done twice, also by two processes at once. What was kept before the user cleared the history is removed.
    private func moveOld(chatID: String) async throws {
        guard let recorder, let old = try store.transcript(chatID: chatID) else { return }
        let isMoved = await recorder.history.use { history throws(HistoryError) in
            guard try await history.clearedAt(hostID: recorder.host.id) == nil else { return true }
            try await history.keep(
                messages: old.messages,
                offset: nil,
                isEnd: false,
                replacesOwn: true,
                chatID: chatID,
                of: recorder.host,
                at: recorder.now()
            )
            return true
        }
        if isMoved == true { store.removeTranscript(chatID: chatID) }
    }
}
