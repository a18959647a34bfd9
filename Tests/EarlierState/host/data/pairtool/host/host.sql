PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
INSERT INTO grdb_migrations VALUES('1');
INSERT INTO grdb_migrations VALUES('2');
INSERT INTO grdb_migrations VALUES('3');
CREATE TABLE project (
    id TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL,
    path TEXT NOT NULL UNIQUE,
    updatedAt TEXT NOT NULL
, isMade INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
INSERT INTO project VALUES('{{orchard.id}}','orchard','{{host.directory}}/data/pairtool/host/projects/orchard','2025-11-23T07:56:09.754Z',1);
INSERT INTO project VALUES('{{garden.id}}','garden','{{host.directory}}/garden','2025-11-23T07:56:18.496Z',0);
CREATE TABLE chat (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    project TEXT NOT NULL REFERENCES project (id),
    title TEXT NOT NULL,
    updatedAt TEXT NOT NULL,
    messages INTEGER NOT NULL DEFAULT 0
);
INSERT INTO chat VALUES(1,'d758cbfc-264a-42c0-ae18-d2cc1703eb96','{{garden.id}}','How are the roses?','2025-11-23T07:56:18.496Z',5);
CREATE TABLE message (
    chat INTEGER NOT NULL REFERENCES chat (key),
    number INTEGER NOT NULL,
    id TEXT NOT NULL,
    role TEXT NOT NULL,
    text TEXT NOT NULL,
    createdAt TEXT NOT NULL
, interrupted INTEGER NOT NULL DEFAULT 0);
INSERT INTO message VALUES(1,0,'773fba14-b1ff-4c1b-8021-ca4c7a005915','user',CAST('How are the roses?' AS BLOB),'2025-11-23T07:56:08.611Z',0);
INSERT INTO message VALUES(1,1,'d2cb9425-899c-4bce-8869-9119080c3b6f','assistant',CAST('You asked: How are the roses?' || char(10) AS BLOB),'2025-11-23T07:56:08.663Z',0);
INSERT INTO message VALUES(1,2,'323529d7-acfc-40f0-a444-987761b99222','user',CAST('And the beans?' AS BLOB),'2025-11-23T07:56:09.522Z',0);
INSERT INTO message VALUES(1,3,'403b8748-64d4-44a3-a5f8-e48f5cfcfe6c','assistant',CAST('You asked: And the beans?' || char(10) AS BLOB),'2025-11-23T07:56:09.547Z',0);
INSERT INTO message VALUES(1,4,'163fe12f-dbb9-4f04-8a0a-4d63dfbbba55','user',CAST('slow, please' AS BLOB),'2025-11-23T07:56:18.496Z',0);
CREATE TABLE device (
    id TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL,
    publicKey TEXT NOT NULL,
    pairedAt TEXT NOT NULL,
    lastSeenAt TEXT NOT NULL
, permissions TEXT, expiresAt TEXT, protocol INTEGER NOT NULL DEFAULT 1, revokedAt TEXT) WITHOUT ROWID;
INSERT INTO device VALUES('{{tablet.id}}','tablet','{{tablet.key}}','2025-11-23T07:56:10.525Z','2025-11-23T07:56:10.525Z',NULL,NULL,1,NULL);
INSERT INTO device VALUES('{{guest.id}}','guest','{{guest.key}}','2025-11-23T07:56:06.993Z','2025-11-23T07:56:06.993Z','chat.send',NULL,2,'2025-11-23T07:56:08.477Z');
INSERT INTO device VALUES('{{desk.id}}','desk','{{desk.key}}','2025-11-23T07:56:04.132Z','2025-11-23T07:56:18.459Z','chat.create,chat.send,project.create,session.create',NULL,2,NULL);
CREATE TABLE connection (
    slot INTEGER PRIMARY KEY CHECK (slot = 1),
    device TEXT NOT NULL REFERENCES device (id) ON DELETE CASCADE,
    address TEXT NOT NULL,
    connectedAt TEXT NOT NULL
);
INSERT INTO connection VALUES(1,'{{tablet.id}}','127.0.0.1','2025-11-23T07:56:10.525Z');
CREATE TABLE session (
    tokenHash BLOB PRIMARY KEY NOT NULL,
    device TEXT NOT NULL REFERENCES device (id) ON DELETE CASCADE,
    expiresAt TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO session VALUES(X'{{desk.session.hash}}','{{desk.id}}','{{tomorrow}}');
CREATE TABLE seenCommand (
    commandId TEXT PRIMARY KEY NOT NULL,
    digest BLOB NOT NULL,
    device TEXT NOT NULL,
    result BLOB NOT NULL,
    expiresAt TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO seenCommand VALUES('0dddbaae-7f35-48b4-9f50-0fea60a3bb5c',X'{{random}}','{{desk.id}}',CAST('{"id":"{{orchard.id}}","lastUpdatedAt":"2025-11-23T07:56:09.754Z","localPath":"{{host.directory}}/data/pairtool/host/projects/orchard","name":"orchard"}' AS BLOB),'{{soon}}');
INSERT INTO seenCommand VALUES('287bedae-2556-41af-be34-25d4d9589460',X'{{random}}','{{desk.id}}',CAST('{"id":"d758cbfc-264a-42c0-ae18-d2cc1703eb96","lastUpdatedAt":"2025-11-23T07:56:08.605Z","projectId":"{{garden.id}}","title":"How are the roses?"}' AS BLOB),'{{soon}}');
INSERT INTO seenCommand VALUES('57905c01-4012-4a21-91ac-b0f7784aa65c',X'{{random}}','{{desk.id}}',CAST('{"turnId":"92540e50-642e-4fc4-966f-dbbb21fb37f3"}' AS BLOB),'{{soon}}');
INSERT INTO seenCommand VALUES('5d6098c9-dee1-45e0-b7e2-a242b6d6080f',X'{{random}}','{{desk.id}}',CAST('{"turnId":"ece2dce9-c584-4f1d-af14-f547e961b838"}' AS BLOB),'{{soon}}');
INSERT INTO seenCommand VALUES('d77bce1c-7815-4816-92bd-012fbe5535bc',X'{{random}}','{{desk.id}}',CAST('{"turnId":"18e1e8e9-50cb-4cc7-8264-072d4828c4b4"}' AS BLOB),'{{soon}}');
CREATE TABLE seenNonce (
    device TEXT NOT NULL,
    nonce TEXT NOT NULL,
    expiresAt TEXT NOT NULL,
    PRIMARY KEY (device, nonce)
) WITHOUT ROWID;
INSERT INTO seenNonce VALUES('{{desk.id}}','{{nonce}}','{{soon}}');
INSERT INTO seenNonce VALUES('{{desk.id}}','{{nonce}}','{{soon}}');
INSERT INTO seenNonce VALUES('{{desk.id}}','{{nonce}}','{{soon}}');
INSERT INTO seenNonce VALUES('{{desk.id}}','{{nonce}}','{{soon}}');
INSERT INTO seenNonce VALUES('{{desk.id}}','{{nonce}}','{{soon}}');
CREATE TABLE pairingGuard (
    slot INTEGER PRIMARY KEY CHECK (slot = 1),
    failuresInARow INTEGER NOT NULL DEFAULT 0,
    locked INTEGER NOT NULL DEFAULT 0
);
INSERT INTO pairingGuard VALUES(1,0,0);
CREATE TABLE audit (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    kind TEXT NOT NULL,
    device TEXT,
    detail TEXT NOT NULL,
    previousHash BLOB NOT NULL,
    hash BLOB NOT NULL
);
INSERT INTO audit VALUES(1,'2025-11-23T07:56:04.132Z','pairing.paired','{{desk.id}}','{"address":"127.0.0.1","expiresAt":null,"method":"token","permissions":["chat.create","chat.send","project.create","session.create"],"version":2}',X'',X'{{audit.1}}');
INSERT INTO audit VALUES(2,'2025-11-23T07:56:06.602Z','pairing.failed',NULL,'{"address":"127.0.0.1","method":"code","triesLeft":2,"version":2}',X'{{audit.1}}',X'{{audit.2}}');
INSERT INTO audit VALUES(3,'2025-11-23T07:56:06.993Z','pairing.paired','{{guest.id}}','{"address":"127.0.0.1","expiresAt":null,"method":"code","permissions":[],"version":2}',X'{{audit.2}}',X'{{audit.3}}');
INSERT INTO audit VALUES(4,'2025-11-23T07:56:08.368Z','device.permissions','{{guest.id}}','{"from":[],"to":["chat.send"]}',X'{{audit.3}}',X'{{audit.4}}');
INSERT INTO audit VALUES(5,'2025-11-23T07:56:08.477Z','device.revoked','{{guest.id}}','{"by":"host"}',X'{{audit.4}}',X'{{audit.5}}');
INSERT INTO audit VALUES(6,'2025-11-23T07:56:10.525Z','pairing.paired','{{tablet.id}}','{"address":"127.0.0.1","version":1}',X'{{audit.5}}',X'{{audit.6}}');
CREATE TABLE turn (
    id TEXT PRIMARY KEY NOT NULL,
    chat TEXT NOT NULL,
    device TEXT NOT NULL,
    state TEXT NOT NULL,
    startedAt TEXT NOT NULL,
    endedAt TEXT
) WITHOUT ROWID;
INSERT INTO turn VALUES('18e1e8e9-50cb-4cc7-8264-072d4828c4b4','d758cbfc-264a-42c0-ae18-d2cc1703eb96','{{desk.id}}','finished','2025-11-23T07:56:09.522Z','{{earlier}}');
INSERT INTO turn VALUES('92540e50-642e-4fc4-966f-dbbb21fb37f3','d758cbfc-264a-42c0-ae18-d2cc1703eb96','{{desk.id}}','finished','2025-11-23T07:56:08.610Z','{{earlier}}');
INSERT INTO turn VALUES('ece2dce9-c584-4f1d-af14-f547e961b838','d758cbfc-264a-42c0-ae18-d2cc1703eb96','{{desk.id}}','running','2025-11-23T07:56:18.495Z',NULL);
CREATE TABLE turnEvent (
    turn TEXT NOT NULL REFERENCES turn (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    frame BLOB NOT NULL,
    PRIMARY KEY (turn, number)
) WITHOUT ROWID;
INSERT INTO turnEvent VALUES('18e1e8e9-50cb-4cc7-8264-072d4828c4b4',1,CAST('data: {"type":"text","text":"You asked: And the beans?\n"}' || char(10, 10) AS BLOB));
INSERT INTO turnEvent VALUES('18e1e8e9-50cb-4cc7-8264-072d4828c4b4',2,CAST('data: {"type":"done"}' || char(10, 10) AS BLOB));
INSERT INTO turnEvent VALUES('92540e50-642e-4fc4-966f-dbbb21fb37f3',1,CAST('data: {"type":"text","text":"You asked: How are the roses?\n"}' || char(10, 10) AS BLOB));
INSERT INTO turnEvent VALUES('92540e50-642e-4fc4-966f-dbbb21fb37f3',2,CAST('data: {"type":"done"}' || char(10, 10) AS BLOB));
INSERT INTO turnEvent VALUES('ece2dce9-c584-4f1d-af14-f547e961b838',1,CAST('data: {"type":"text","text":"Part one.\n"}' || char(10, 10) AS BLOB));
CREATE TABLE deviceUsage (
    device TEXT NOT NULL,
    hour INTEGER NOT NULL,
    chats INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (device, hour)
) WITHOUT ROWID;
INSERT INTO deviceUsage VALUES('{{desk.id}}',{{hour}},1,5,118);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('audit',6);
CREATE INDEX chatOfProject ON chat (project, updatedAt DESC);
CREATE UNIQUE INDEX messageOfChat ON message (chat, number);
CREATE INDEX sessionOfDevice ON session (device);
CREATE INDEX seenCommandEnd ON seenCommand (expiresAt);
CREATE INDEX seenNonceEnd ON seenNonce (expiresAt);
CREATE TRIGGER auditStays BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'audit rows stay'); END;
CREATE TRIGGER auditIsFinal BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'audit rows stay'); END;
CREATE INDEX turnOfChat ON turn (chat);
CREATE INDEX turnEnd ON turn (endedAt);
COMMIT;
