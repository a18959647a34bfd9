package import CompanionWire
package import FoundationEssentials
import History
import NIOConcurrencyHelpers

/// A host as the history knows it: nothing is asked of the host itself.
package struct StoredHost: Sendable {
    /// The history has nothing of what was asked for.
    package struct Unknown: Error {
        package init() {}
    }

    private let store: HistoryStore
    private let hostID: String
    private let oldest = NIOLockedValueBox<Date?>(nil)

    init(_ store: HistoryStore, hostID: String) {
        (self.store, self.hostID) = (store, hostID)
    }

    /// Since when the oldest of what was answered has been known; nil before an answer.
    package var asOf: Date? { oldest.withLockedValue(\.self) }

    package var client: HostClient { HostClient(isLocal: true, projects: self, chats: self) }

    private func answer<Value>(_ known: Known<Value>?) throws -> Value {
        guard let known else { throw Unknown() }
        oldest.withLockedValue { $0 = min($0 ?? known.asOf, known.asOf) }
        return known.value
    }
}

extension StoredHost: ProjectBrowsing, ChatBrowsing {
    package func projects() async throws -> [CompanionProject] {
        try answer(await store.projects(hostID: hostID))
    }

    /// None for a project of whose chats none is known.
    package func chats(projectID: String) async throws -> [CompanionChat] {
        guard let known = try await store.chats(hostID: hostID, projectID: projectID) else { return [] }
        return try answer(known)
    }

    package func messagesPage(
        chatID: String,
        cursor: String?,
        limit: Int
    ) async throws -> CompanionMessagesPageResponse {
        let start = max(0, cursor.flatMap { Int($0) } ?? 0)
        return try answer(
            await store.messages(hostID: hostID, chatID: chatID, cursor: start, limit: min(max(limit, 1), 200))
        )
    }

    package func lastPage(chatID: String, count: Int, limit: Int) async throws -> CompanionMessagesPageResponse? {
        let start = max(0, try await store.messageCount(hostID: hostID, chatID: chatID) - count)
        var page = try await messagesPage(chatID: chatID, cursor: String(start), limit: limit)
        page.firstCursor = String(start)
        return page
    }

    /// How many messages of a chat were never read.
    package func unreadCount(chatID: String) async throws -> Int {
        try await store.unreadCount(hostID: hostID, chatID: chatID)
    }
}
