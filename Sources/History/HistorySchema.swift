import GRDB

/// The tables, and how those of earlier versions become today's.
///
/// Ids and texts of hosts are compared byte by byte (SQLite's collation BINARY). `key` is ours, `id` is the host's own.
/// Times are milliseconds since 1970.
enum HistorySchema {
    /// Each step takes the database from one version to the next. A step that was released never changes.
    static let steps: [String] = [first, second, third]

    /// Brings the database to the newest version.
    ///
    /// - Throws: ``HistoryError/Code/newer``.
    static func migrate(_ database: Database, steps: [String] = steps) throws {
        func version() throws -> Int { try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0 }
        let found = try version()
        guard found <= steps.count else {
            throw HistoryError(
                .newer,
                "the history was written by a later pairtool (version \(found) of its format; this one knows \(steps.count))",
                remedy: "update pairtool"
            )
        }
        guard found < steps.count else { return }
        try database.inTransaction(.immediate) {
            // Another process may have done it while this one waited.
            for index in try version()..<max(steps.count, try version()) {
                try database.execute(sql: steps[index])
                try database.execute(sql: "PRAGMA user_version = \(index + 1)")
            }
            return .commit
        }
    }

    private static let first = """
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
            UNIQUE (chat, id)
        );
        CREATE INDEX messageOfChat ON message (chat, number);
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
        \(index("message", ["text"]))
        \(index("tool", ["name", "detail"]))
        \(index("chat", ["title"]))
        """

    /// Chats that are kept here alone, with who takes part and pictures.
    private static let second = """
        -- The ids of those who take part, with spaces between them.
        ALTER TABLE chat ADD COLUMN participants TEXT;
        ALTER TABLE chat ADD COLUMN createdAt INTEGER;
        -- 1: something in it is kept here alone, so no limit removes it.
        ALTER TABLE chat ADD COLUMN isKept INTEGER NOT NULL DEFAULT 0;
        -- The participant who wrote it.
        ALTER TABLE message ADD COLUMN author TEXT;
        -- 1: it is kept here alone.
        ALTER TABLE message ADD COLUMN isKept INTEGER NOT NULL DEFAULT 0;
        CREATE TABLE picture (
            message INTEGER PRIMARY KEY REFERENCES message (key) ON DELETE CASCADE,
            data BLOB NOT NULL
        );
        """

    /// Which chats have changed since they were read.
    private static let third = """
        -- When the chat had changed last, by the host's clock, when its end was read.
        ALTER TABLE chat ADD COLUMN readTo INTEGER;
        UPDATE chat SET readTo = updatedAt WHERE readAt IS NOT NULL;
        """

    /// A full-text index over columns of a table, which keeps no copy of the texts, and triggers that keep it in step.
    private static func index(_ table: String, _ columns: [String]) -> String {
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
