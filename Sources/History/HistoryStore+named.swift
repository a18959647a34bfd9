import GRDB

/// A chat that is known of a host.
package struct KnownChat: Sendable, Hashable {
    package var hostID: String
    package var id: String
    package var title: String
}

extension HistoryStore {
    /// The chats of all hosts that are known and not gone, without their messages.
    package func knownChats() async throws(HistoryError) -> [KnownChat] {
        try await read { database in
            let sql = """
                SELECT host.id, chat.id, chat.title FROM chat JOIN host ON host.key = chat.host
                WHERE \(Self.isListed)
                """
            return try Row.fetchAll(database, sql: sql).map { row in
                KnownChat(hostID: row[0], id: row[1], title: row[2])
            }
        }
    }
}
