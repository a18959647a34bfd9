import CompanionWire
import FoundationEssentials
import GRDB

extension HistoryStore {
    /// The stored chats of a host or of all, by host and project, as the hosts list them.
    package func allChats(hostID: String? = nil) async throws(HistoryError) -> [HistoryChat] {
        try await read { database in
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT chat.key AS chatKey, chat.id AS chatID, chat.project AS chatProject, chat.title,
                        chat.updatedAt AS chatUpdatedAt, chat.readAt, chat.participants,
                        chat.createdAt AS chatCreatedAt, host.id AS hostID, host.name AS hostName,
                        host.family, project.id AS projectID, project.name AS projectName, project.path,
                        project.updatedAt AS projectUpdatedAt,
                        (SELECT count(*) FROM message WHERE message.chat = chat.key) AS messages,
                        (SELECT max(number) + 1 FROM message WHERE message.chat = chat.key) AS length
                    FROM chat JOIN host ON host.key = chat.host
                    LEFT JOIN project ON project.host = chat.host AND project.id = chat.project
                    WHERE \(Self.isListed) AND (?1 IS NULL OR host.id = ?1)
                    ORDER BY host.name, host.id, project.position, chat.position, chat.key
                    """,
                arguments: ["1": hostID]
            )
            return rows.map { row in
                HistoryChat(
                    host: HistoryHost(
                        id: row["hostID"],
                        name: row["hostName"],
                        family: HostFamily(rawValue: row["family"]) ?? .usual
                    ),
                    project: (row["projectID"] as String?).map {
                        CompanionProject(
                            id: $0,
                            name: row["projectName"],
                            localPath: row["path"],
                            lastUpdatedAt: row.date("projectUpdatedAt")
                        )
                    },
                    chat: CompanionChat(
                        id: row["chatID"],
                        projectId: row["chatProject"],
                        title: row["title"],
                        lastUpdatedAt: row.date("chatUpdatedAt")
                    ),
                    readAt: row.date("readAt"),
                    messages: row["messages"],
                    unread: max(0, (row["length"] as Int? ?? 0) - (row["messages"] as Int)),
                    participants: KeptChat.participants(row["participants"]),
                    createdAt: row.date("chatCreatedAt"),
                    key: row["chatKey"]
                )
            }
        }
    }

    /// The stored messages of a chat, oldest first.
    ///
    /// - Parameter after: The last message that is not wanted; nil for all.
    package func messages(
        of chat: HistoryChat,
        after: HistoryMessage? = nil,
        limit: Int = 500
    ) async throws(HistoryError) -> [HistoryMessage] {
        try await read { database in
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT * FROM message WHERE chat = ?1 AND (?2 IS NULL OR (number, key) > (
                        ?2, (SELECT key FROM message WHERE chat = ?1 AND id = ?3)
                    )) ORDER BY number, key LIMIT ?4
                    """,
                arguments: ["1": chat.key, "2": after?.number, "3": after?.message.id, "4": limit]
            )
            return try rows.map { row in
                let tools = try Row.fetchAll(
                    database.cachedStatement(sql: "SELECT * FROM tool WHERE message = ? ORDER BY key"),
                    arguments: [row["key"] as Int64]
                ).map { tool in
                    HistoryTool(
                        id: tool["id"],
                        name: tool["name"],
                        detail: tool["detail"],
                        success: tool["success"],
                        at: tool.date("at") ?? .distantPast
                    )
                }
                let picture = try Data.fetchOne(
                    database.cachedStatement(sql: "SELECT data FROM picture WHERE message = ?"),
                    arguments: [row["key"] as Int64]
                )
                return HistoryMessage(
                    number: row["number"],
                    message: Self.message(row),
                    tools: tools,
                    author: row["author"],
                    picture: picture.map { Array($0) },
                    isKept: row["isKept"]
                )
            }
        }
    }
}
