import CompanionWire
import FoundationEssentials
import GRDB
import Glibc

@testable import History

/// A history in a directory of its own, which goes with it.
final class TestHistory {
    let directory: String
    let store: HistoryStore

    var path: String { HistoryStore.path(state: directory) }

    init() throws {
        var template = Array("/tmp/history-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw HistoryError(.unavailable, "no directory") }
        directory = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        store = try HistoryStore(path: "\(directory)/history.db")
    }

    deinit {
        store.closeBlocking()
        try? FileManager.default.removeItem(atPath: directory)
    }

    static let host = HistoryHost(id: "0123456789abcdef", name: "Mac of Ada", family: .copilotforge)
    static let other = HistoryHost(id: "fedcba9876543210", name: "Lumi", family: .lumi)
    static let now = Date(timeIntervalSince1970: 1_700_000_000)

    /// Takes a page whose messages have their ids as texts, unless a text is given: `id=text`.
    func page(
        _ messages: [String],
        at offset: Int? = 0,
        after: String? = nil,
        isEnd: Bool = true,
        chat: String = "c"
    ) async throws {
        try await store.keep(
            messages: messages.enumerated().map { index, message in
                let parts = message.parts("=", maxSplits: 1)
                return CompanionMessage(
                    id: String(parts[0]),
                    role: .assistant,
                    text: String(parts[parts.count - 1]),
                    createdAt: Self.now
                )
            },
            offset: offset,
            after: after,
            isEnd: isEnd,
            chatID: chat,
            of: Self.host,
            at: Self.now
        )
    }

    func stored(chat: String = "c") async throws -> [String] {
        let page = try await store.messages(hostID: Self.host.id, chatID: chat, cursor: 0, limit: 1000)
        return page?.value.messages.elements.map { $0.id.isSame(as: $0.text) ? $0.id : "\($0.id)=\($0.text)" } ?? []
    }

    /// The places of a chat's messages.
    func numbers(inChat chat: String) async throws -> [Int] {
        try await store.read { database in
            let sql = "SELECT number FROM message JOIN chat ON chat.key = chat WHERE chat.id = ? ORDER BY number"
            return try Int.fetchAll(database, sql: sql, arguments: [chat])
        }
    }

    func list(projects: [String], at now: Date = TestHistory.now) async throws {
        try await store.keep(
            projects: projects.map { CompanionProject(id: $0, name: $0, localPath: "/\($0)", lastUpdatedAt: nil) },
            of: Self.host,
            at: now
        )
    }

    func list(chats: [String], in project: String = "p", at now: Date = TestHistory.now) async throws {
        try await store.keep(
            chats: chats.map { CompanionChat(id: $0, projectId: project, title: "about \($0)", lastUpdatedAt: now) },
            projectID: project,
            of: Self.host,
            at: now
        )
    }

    func found(_ text: String, _ scope: SearchScope = SearchScope()) async throws -> [String] {
        try await store.search(SearchQuery(text), within: scope).map { $0.messageID ?? $0.chatID }
    }
}
