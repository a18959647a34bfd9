import GRDB

/// The tables.
///
/// Ids and texts of hosts are compared byte by byte (SQLite's collation BINARY). `key` is ours, `id` is the host's own.
/// Times are milliseconds since 1970.
enum HistorySchema {
    /// The version of the format. GRDB's migrator is not used: it lets two processes make the same new database at once.
    private static let version = 1

    /// Makes the tables in a new database.
    ///
    /// - Throws: ``HistoryError/Code/newer``.
    static func prepare(_ database: Database) throws {
        func found() throws -> Int { try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0 }
        let number = try found()
        guard number <= version else {
            throw HistoryError(
                .newer,
                "the history was written by a later pairtool (version \(number) of its format; this one knows \(version))",
                remedy: "update pairtool"
            )
        }
        guard number == 0 else { return }
        try database.inTransaction(.immediate) {
            // Another process may have done it while this one waited.
            if try found() == 0 {
                try database.execute(sql: tables)
                try database.execute(sql: "PRAGMA user_version = \(version)")
            }
            return .commit
        }
    }

    private static let tables = """
        CREATE TABLE host (
            key INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            name TEXT NOT NULL,
            family TEXT NOT NULL,
            -- When its projects were listed last.
            listedAt INTEGER
        );
        CREATE TABLE project (
            key INTEGER PRIMARY KEY,
            host INTEGER NOT NULL REFERENCES host (key) ON DELETE CASCADE,
            id TEXT NOT NULL,
            name TEXT NOT NULL,
            path TEXT NOT NULL,
            updatedAt INTEGER,
            -- In the host's list, from 0.
            position INTEGER NOT NULL,
            -- When its chats were listed last.
            listedAt INTEGER,
            -- Since when the host's list lacks it. It is hidden then, and removed a day later.
            goneAt INTEGER,
            UNIQUE (host, id)
        );
        CREATE TABLE chat (
            key INTEGER PRIMARY KEY,
            host INTEGER NOT NULL REFERENCES host (key) ON DELETE CASCADE,
            id TEXT NOT NULL,
            -- The host's id of the project.
            project TEXT NOT NULL,
            title TEXT NOT NULL,
            updatedAt INTEGER,
            position INTEGER NOT NULL,
            -- When messages of it were read last.
            readAt INTEGER,
            goneAt INTEGER,
            -- The ids of those who take part, with spaces between them.
            participants TEXT,
            createdAt INTEGER,
            -- 1: something in it is kept here alone, so no limit removes it.
            isKept INTEGER NOT NULL DEFAULT 0,
            -- When the chat had changed last, by the host's clock, when its end was read.
            readTo INTEGER,
            UNIQUE (host, id)
        );
        CREATE INDEX chatOfProject ON chat (host, project, position);
        CREATE TABLE message (
            key INTEGER PRIMARY KEY,
            chat INTEGER NOT NULL REFERENCES chat (key) ON DELETE CASCADE,
            -- The place in the chat, from 0. Gaps are messages that were never read.
            number INTEGER NOT NULL,
            id TEXT NOT NULL,
            role TEXT NOT NULL,
            text TEXT NOT NULL,
            createdAt INTEGER,
            seenAt INTEGER NOT NULL,
            interrupted INTEGER NOT NULL DEFAULT 0,
            -- 1: written down here during a turn, until the host's own message is read.
            isOwn INTEGER NOT NULL DEFAULT 0,
            -- The participant who wrote it.
            author TEXT,
            -- 1: it is kept here alone.
            isKept INTEGER NOT NULL DEFAULT 0,
            UNIQUE (chat, id)
        );
        CREATE INDEX messageOfChat ON message (chat, number);
        CREATE TABLE picture (
            message INTEGER PRIMARY KEY REFERENCES message (key) ON DELETE CASCADE,
            data BLOB NOT NULL
        );
        -- Tools that ran while a prompt was answered.
        CREATE TABLE tool (
            key INTEGER PRIMARY KEY,
            -- The prompt.
            message INTEGER NOT NULL REFERENCES message (key) ON DELETE CASCADE,
            id TEXT NOT NULL,
            name TEXT NOT NULL,
            detail TEXT NOT NULL DEFAULT '',
            -- NULL as long as it runs.
            success INTEGER,
            at INTEGER NOT NULL
        );
        CREATE INDEX toolOfMessage ON tool (message);
        CREATE TABLE note (name TEXT PRIMARY KEY NOT NULL, value) WITHOUT ROWID;
        \(index("message", columns: ["text"]))
        \(index("tool", columns: ["name", "detail"]))
        \(index("chat", columns: ["title"]))
        """

    /// A full-text index over columns of a table, which keeps no copy of the texts, and triggers that keep it in step.
    private static func index(_ table: String, columns: [String]) -> String {
        let list = columns.joined(separator: ", ")
        func values(_ row: String) -> String { columns.map { "\(row).\($0)" }.joined(separator: ", ") }
        let add = "INSERT INTO \(table)Text (rowid, \(list)) VALUES (new.key, \(values("new")));"
        let remove =
            "INSERT INTO \(table)Text (\(table)Text, rowid, \(list)) VALUES ('delete', old.key, \(values("old")));"
        return """
            CREATE VIRTUAL TABLE \(table)Text USING fts5 (
                \(list), content = '\(table)', content_rowid = 'key', tokenize = 'unicode61 remove_diacritics 2'
            );
            CREATE TRIGGER \(table)Added AFTER INSERT ON \(table) BEGIN \(add) END;
            CREATE TRIGGER \(table)Removed AFTER DELETE ON \(table) BEGIN \(remove) END;
            CREATE TRIGGER \(table)Changed AFTER UPDATE OF \(list) ON \(table) BEGIN \(remove) \(add) END;
            """
    }
}
