import GRDB

extension HostDatabase {
    /// The schema. Times are texts as the protocol writes them: they sort by time, and pages are sent without formatting.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { database in
            try database.execute(
                sql: """
                    CREATE TABLE project (
                        id TEXT PRIMARY KEY NOT NULL,
                        name TEXT NOT NULL,
                        path TEXT NOT NULL UNIQUE,
                        updatedAt TEXT NOT NULL
                    ) WITHOUT ROWID;
                    CREATE TABLE chat (
                        key INTEGER PRIMARY KEY,
                        id TEXT NOT NULL UNIQUE,
                        project TEXT NOT NULL REFERENCES project (id),
                        title TEXT NOT NULL,
                        updatedAt TEXT NOT NULL,
                        messages INTEGER NOT NULL DEFAULT 0
                    );
                    CREATE INDEX chatOfProject ON chat (project, updatedAt DESC);
                    -- `number` counts from 0 without gaps: it is the protocol's cursor, so no page skips rows.
                    CREATE TABLE message (
                        chat INTEGER NOT NULL REFERENCES chat (key),
                        number INTEGER NOT NULL,
                        id TEXT NOT NULL,
                        role TEXT NOT NULL,
                        text TEXT NOT NULL,
                        createdAt TEXT NOT NULL
                    );
                    CREATE UNIQUE INDEX messageOfChat ON message (chat, number);
                    CREATE TABLE device (
                        id TEXT PRIMARY KEY NOT NULL,
                        name TEXT NOT NULL,
                        publicKey TEXT NOT NULL,
                        pairedAt TEXT NOT NULL,
                        lastSeenAt TEXT NOT NULL
                    ) WITHOUT ROWID;
                    CREATE TABLE connection (
                        slot INTEGER PRIMARY KEY CHECK (slot = 1),
                        device TEXT NOT NULL REFERENCES device (id) ON DELETE CASCADE,
                        address TEXT NOT NULL,
                        connectedAt TEXT NOT NULL
                    );
                    """
            )
        }
        return migrator
    }
}
