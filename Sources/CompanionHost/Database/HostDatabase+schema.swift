import GRDB

extension HostDatabase {
    /// The schema. Times are texts as the protocol writes them: they sort by time, and pages are sent without
    /// formatting.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("tables") { database in
            for tables in [chats, devices, turns, agents] { try database.execute(sql: tables) }
        }
        return migrator
    }

    private static let chats = """
        CREATE TABLE project (
            id TEXT PRIMARY KEY NOT NULL,
            name TEXT NOT NULL,
            path TEXT NOT NULL UNIQUE,
            updatedAt TEXT NOT NULL,
            -- 1: a device has made it. The others come from the command line.
            isMade INTEGER NOT NULL DEFAULT 0
        ) WITHOUT ROWID;
        CREATE TABLE chat (
            key INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            project TEXT NOT NULL REFERENCES project (id),
            title TEXT NOT NULL,
            updatedAt TEXT NOT NULL,
            -- The id of the model, or the agent, that answered last.
            model TEXT,
            -- How freely the agent works, as it said last.
            mode TEXT,
            messages INTEGER NOT NULL DEFAULT 0,
            -- The device whose draft it is, on no list until its first prompt.
            draftOf TEXT
        );
        CREATE INDEX chatOfProject ON chat (project, updatedAt DESC);
        -- `number` counts from 0 without gaps: it is the protocol's cursor, so no page skips rows.
        CREATE TABLE message (
            chat INTEGER NOT NULL REFERENCES chat (key),
            number INTEGER NOT NULL,
            id TEXT NOT NULL,
            role TEXT NOT NULL,
            text TEXT NOT NULL,
            createdAt TEXT NOT NULL,
            -- 1: the end of the host cut the answer off.
            interrupted INTEGER NOT NULL DEFAULT 0
        );
        CREATE UNIQUE INDEX messageOfChat ON message (chat, number);
        """

    /// Devices with their permissions, sessions, signed commands and limits, the budget for guesses, and the audit.
    private static let devices = """
        -- NULL permissions: a device of protocol v1, which may do all that v1 can. `protocol`: 1 or 2.
        CREATE TABLE device (
            id TEXT PRIMARY KEY NOT NULL,
            name TEXT NOT NULL,
            publicKey TEXT NOT NULL,
            pairedAt TEXT NOT NULL,
            lastSeenAt TEXT NOT NULL,
            permissions TEXT,
            expiresAt TEXT,
            protocol INTEGER NOT NULL DEFAULT 1,
            revokedAt TEXT,
            -- The id that it shows to relays.
            relayID TEXT UNIQUE,
            -- The rungs by which it may come, NULL for all; and the one by which it last came.
            rungs TEXT,
            via TEXT,
            -- 1: it has been on this machine.
            isHere INTEGER NOT NULL DEFAULT 0
        ) WITHOUT ROWID;
        CREATE TABLE connection (
            slot INTEGER PRIMARY KEY CHECK (slot = 1),
            device TEXT NOT NULL REFERENCES device (id) ON DELETE CASCADE,
            address TEXT NOT NULL,
            connectedAt TEXT NOT NULL
        );
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
        -- Rules are read for each question of an agent.
        CREATE INDEX auditOfRules ON audit (number) WHERE kind IN ('rule.added', 'rule.removed');
        -- `hour`: since 1970. What a device had the host store in it; bytes of texts.
        CREATE TABLE deviceUsage (
            device TEXT NOT NULL,
            hour INTEGER NOT NULL,
            chats INTEGER NOT NULL,
            bytes INTEGER NOT NULL,
            PRIMARY KEY (device, hour)
        ) WITHOUT ROWID;
        """

    private static let turns = """
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

    /// Agents' sessions, their questions, the owner's rules for those, and the working trees that agents change.
    private static let agents = """
        -- `beganElsewhere`: 1 for one that the agent listed before it was a chat. `syncedAt`: the time of its state whose
        -- messages came from the agent.
        CREATE TABLE agentSession (
            chat TEXT PRIMARY KEY NOT NULL,
            agent TEXT NOT NULL,
            session TEXT NOT NULL,
            directory TEXT NOT NULL,
            beganElsewhere INTEGER NOT NULL DEFAULT 0,
            syncedAt TEXT
        ) WITHOUT ROWID;
        -- `state`: open, approved, rejected, expired, cancelled, interrupted. `options`: JSON, as the agent gave them.
        -- `option`: the id of the one that was chosen. `form`: JSON, of a question that is a form. `mode`: of the session when the agent asked.
        CREATE TABLE agentQuestion (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            chat TEXT NOT NULL,
            turn TEXT NOT NULL,
            title TEXT NOT NULL,
            kind TEXT NOT NULL,
            arguments BLOB NOT NULL,
            options BLOB NOT NULL,
            form BLOB,
            link TEXT,
            askedAt TEXT NOT NULL,
            expiresAt TEXT NOT NULL,
            state TEXT NOT NULL,
            option TEXT,
            decidedBy TEXT,
            decidedAt TEXT,
            mode TEXT
        );
        CREATE INDEX questionState ON agentQuestion (state);
        -- NULL: whatever it is. AUTOINCREMENT: the audit names rules by their numbers.
        CREATE TABLE agentRule (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            project TEXT,
            effect TEXT NOT NULL,
            kind TEXT,
            command TEXT,
            path TEXT
        );
        -- What there was when a chat's session began, in projects under git. `repository`: the top directory of the
        -- project's; `directory`: of the one that the agent works in. `tree`: NULL where `problem` says why there is
        -- none. `worktreeBranch`: of a working tree that the host made for the chat. `firstTriedAt`: NULL where the
        -- files could be read when the session began. `folder`: the project in its repository, empty for the top.
        -- `entry`: what git keeps of the working tree in the repository.
        CREATE TABLE gitSession (
            chat TEXT PRIMARY KEY NOT NULL,
            project TEXT NOT NULL,
            repository TEXT NOT NULL,
            directory TEXT NOT NULL,
            startedAt TEXT NOT NULL,
            baseCommit TEXT,
            tree TEXT,
            worktreeBranch TEXT,
            problem TEXT,
            firstTriedAt TEXT,
            folder TEXT NOT NULL DEFAULT '',
            entry TEXT
        ) WITHOUT ROWID;
        -- Working trees that are being made or removed. `session`: JSON. `aside`: the path under which `directory` is
        -- removed; once it exists, the removal has begun. `isForced`: 1 for a removal whatever is lost. `tip`: the
        -- branch's commit that was looked at. `isSeen`: 1 once `aside` was looked at and had no work. `device`, `command`:
        -- the ids of the device that has asked for a removal, and of its command.
        CREATE TABLE unfinishedWorktree (
            directory TEXT PRIMARY KEY NOT NULL,
            isRemoval INTEGER NOT NULL,
            session TEXT NOT NULL,
            aside TEXT NOT NULL,
            isForced INTEGER NOT NULL DEFAULT 0,
            tip TEXT,
            isSeen INTEGER NOT NULL DEFAULT 0,
            device TEXT,
            command TEXT
        ) WITHOUT ROWID;
        """
}
