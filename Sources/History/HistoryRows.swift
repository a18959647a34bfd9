import GRDB

/// Rows that are found by the ids of hosts, which SQLite compares byte by byte.
enum HistoryRows {
    static func host(_ id: String) -> QueryInterfaceRequest<Row> {
        Table("host").filter(Column("id") == id)
    }

    static func projects(ofHost id: String) -> QueryInterfaceRequest<Row> {
        Table("project").filter(Column("host") == host(id).select(Column("key")))
    }

    static func chats(ofHost id: String) -> QueryInterfaceRequest<Row> {
        Table("chat").filter(Column("host") == host(id).select(Column("key")))
    }

    static func chat(_ id: String, ofHost hostID: String) -> QueryInterfaceRequest<Row> {
        chats(ofHost: hostID).filter(Column("id") == id)
    }

    /// - Parameter host: The key of the host.
    static func chat(_ id: String, of host: Int64) -> QueryInterfaceRequest<Row> {
        Table("chat").filter(Column("host") == host && Column("id") == id)
    }

    static func messages(ofChat id: String, ofHost hostID: String) -> QueryInterfaceRequest<Row> {
        Table("message").filter(Column("chat") == chat(id, ofHost: hostID).select(Column("key")))
    }

    /// - Parameter chat: The key of the chat.
    static func messages(of chat: Int64) -> QueryInterfaceRequest<Row> {
        Table("message").filter(Column("chat") == chat)
    }

    static func notes(_ names: String...) -> QueryInterfaceRequest<Row> {
        Table("note").filter(names.contains(Column("name")))
    }
}

extension QueryInterfaceRequest<Row> {
    /// The keys of the rows, in the order of the request.
    func keys(_ database: Database) throws -> [Int64] {
        try select(Column("key"), as: Int64.self).fetchAll(database)
    }

    /// The highest number of messages; nil without messages.
    func lastNumber(_ database: Database) throws -> Int? {
        try select(max(Column("number")), as: Int.self).fetchOne(database)
    }
}
