import GRDB

extension HostDatabase {
    /// The schema. Times are texts as the protocol writes them: they sort by time, and pages are sent without
    /// formatting.
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
        migrator.registerMigration("2") { database in try database.execute(sql: companionV2) }
        migrator.registerMigration("3") { database in try database.execute(sql: limits) }
        migrator.registerMigration("4") { database in
            try database.execute(sql: "ALTER TABLE deviceUsage ADD COLUMN projects INTEGER NOT NULL DEFAULT 0")
        }
        migrator.registerMigration("agents") { database in try database.execute(sql: agents) }
        migrator.registerMigration("rules") { database in
            try database.execute(
                sql: """
                    -- NULL: whatever it is. AUTOINCREMENT: the audit names rules by their numbers.
                    CREATE TABLE agentRule (
                        number INTEGER PRIMARY KEY AUTOINCREMENT,
                        project TEXT,
                        effect TEXT NOT NULL,
                        kind TEXT,
                        command TEXT,
                        path TEXT
                    );
                    """
            )
        }
        migrator.registerMigration("changes") { database in try database.execute(sql: changes) }
        migrator.registerMigration("worktrees") { database in
            try database.execute(
                sql: """
                    -- What git keeps of the working tree in the repository. NULL: before this was stored.
                    ALTER TABLE gitSession ADD COLUMN entry TEXT;
                    -- Working trees that are being made or removed. `session`: JSON.
                    CREATE TABLE unfinishedWorktree (
                        directory TEXT PRIMARY KEY NOT NULL,
                        isRemoval INTEGER NOT NULL,
                        session TEXT NOT NULL
                    ) WITHOUT ROWID;
                    """
            )
        }
        migrator.registerMigration("modes") { database in
            try database.execute(
                sql: """
                    -- How freely the agent works in the session, as it said last. Of a question: when it asked.
                    ALTER TABLE agentSession ADD COLUMN mode TEXT;
                    ALTER TABLE agentQuestion ADD COLUMN mode TEXT;
                    """
            )
        }
        migrator.registerMigration("retries") { database in
            // NULL: the files could be read when the session began.
            try database.execute(sql: "ALTER TABLE gitSession ADD COLUMN firstTriedAt TEXT")
        }
        migrator.registerMigration("folders") { database in
            // The project in its repository: empty for the top.
            try database.execute(sql: "ALTER TABLE gitSession ADD COLUMN folder TEXT NOT NULL DEFAULT ''")
        }
        migrator.registerMigration("rulesInAudit") { database in
            // They are read for each question of an agent.
            try database.execute(
                sql: "CREATE INDEX auditOfRules ON audit (number) WHERE kind IN ('rule.added', 'rule.removed')"
            )
        }
        return migrator
    }

    /// What there was when a chat's session began, in projects under git. `repository`: the top directory of the
    /// project's; `directory`: of the one that the agent works in. `tree`: NULL where `problem` says why there is none.
    /// `worktreeBranch`: of a working tree that the host made for the chat.
    private static let changes = """
        CREATE TABLE gitSession (
            chat TEXT PRIMARY KEY NOT NULL,
            project TEXT NOT NULL,
            repository TEXT NOT NULL,
            directory TEXT NOT NULL,
            startedAt TEXT NOT NULL,
            baseCommit TEXT,
            tree TEXT,
            worktreeBranch TEXT,
            problem TEXT
        ) WITHOUT ROWID;
        """

    /// What agents keep over restarts, and what they have asked.
    private static let agents = """
        CREATE TABLE agentSession (
            chat TEXT PRIMARY KEY NOT NULL,
            agent TEXT NOT NULL,
            session TEXT NOT NULL,
            directory TEXT NOT NULL
        ) WITHOUT ROWID;
        -- `state`: open, approved, rejected, expired, cancelled, interrupted. `options`: JSON, as the agent gave them.
        -- `option`: the id of the one that was chosen.
        CREATE TABLE agentQuestion (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            chat TEXT NOT NULL,
            turn TEXT NOT NULL,
            title TEXT NOT NULL,
            kind TEXT NOT NULL,
            arguments BLOB NOT NULL,
            options BLOB NOT NULL,
            askedAt TEXT NOT NULL,
            expiresAt TEXT NOT NULL,
            state TEXT NOT NULL,
            option TEXT,
            decidedBy TEXT,
            decidedAt TEXT
        );
        CREATE INDEX questionState ON agentQuestion (state);
        """

    /// What protocol v2 adds: permissions, sessions, signed commands, the budget for guesses, the audit, turns.
    private static let companionV2 = """
        -- NULL permissions: a device of before, which may do all that v1 can. `protocol`: 1 or 2.
        ALTER TABLE device ADD COLUMN permissions TEXT;
        ALTER TABLE device ADD COLUMN expiresAt TEXT;
        ALTER TABLE device ADD COLUMN protocol INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE device ADD COLUMN revokedAt TEXT;
        -- Projects that devices have made; the others come from the command line.
        ALTER TABLE project ADD COLUMN isMade INTEGER NOT NULL DEFAULT 0;
        CREATE TABLE session (
            tokenHash BLOB PRIMARY KEY NOT NULL,
            device TEXT NOT NULL REFERENCES device (id) ON DELETE CASCADE,
            expiresAt TEXT NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX sessionOfDevice ON session (device);
        CREATE TABLE seenCommand (
            commandId TEXT PRIMARY KEY NOT NULL,
            digest BLOB NOT NULL,
            device TEXT NOT NULL,
            result BLOB NOT NULL,
            expiresAt TEXT NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX seenCommandEnd ON seenCommand (expiresAt);
        CREATE TABLE seenNonce (
            device TEXT NOT NULL,
            nonce TEXT NOT NULL,
            expiresAt TEXT NOT NULL,
            PRIMARY KEY (device, nonce)
        ) WITHOUT ROWID;
        CREATE INDEX seenNonceEnd ON seenNonce (expiresAt);
        CREATE TABLE pairingGuard (
            slot INTEGER PRIMARY KEY CHECK (slot = 1),
            failuresInARow INTEGER NOT NULL DEFAULT 0,
            locked INTEGER NOT NULL DEFAULT 0
        );
        INSERT INTO pairingGuard (slot) VALUES (1);
        -- AUTOINCREMENT keeps the highest number apart: rows cut off at the end are missed.
        CREATE TABLE audit (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            at TEXT NOT NULL,
            kind TEXT NOT NULL,
            device TEXT,
            detail TEXT NOT NULL,
            previousHash BLOB NOT NULL,
            hash BLOB NOT NULL
        );
        CREATE TRIGGER auditStays BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'audit rows stay'); END;
        CREATE TRIGGER auditIsFinal BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'audit rows stay'); END;
        -- `state`: waiting, running, finished, failed, cancelled, interrupted.
        CREATE TABLE turn (
            id TEXT PRIMARY KEY NOT NULL,
            chat TEXT NOT NULL,
            device TEXT NOT NULL,
            state TEXT NOT NULL,
            startedAt TEXT NOT NULL,
            endedAt TEXT
        ) WITHOUT ROWID;
        CREATE INDEX turnOfChat ON turn (chat);
        CREATE INDEX turnEnd ON turn (endedAt);
        -- `number` counts from 1: it is the id of the frame in the stream.
        CREATE TABLE turnEvent (
            turn TEXT NOT NULL REFERENCES turn (id) ON DELETE CASCADE,
            number INTEGER NOT NULL,
            frame BLOB NOT NULL,
            PRIMARY KEY (turn, number)
        ) WITHOUT ROWID;
        """

    /// What devices have stored, and which answers were cut off by the end of the host.
    private static let limits = """
        -- `hour`: since 1970. What a device had the host store in it; bytes of texts.
        CREATE TABLE deviceUsage (
            device TEXT NOT NULL,
            hour INTEGER NOT NULL,
            chats INTEGER NOT NULL,
            messages INTEGER NOT NULL,
            bytes INTEGER NOT NULL,
            PRIMARY KEY (device, hour)
        ) WITHOUT ROWID;
        ALTER TABLE message ADD COLUMN interrupted INTEGER NOT NULL DEFAULT 0;
        """
}
