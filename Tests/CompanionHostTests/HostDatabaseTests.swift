import CompanionWire
import GRDB
import Testing

@testable import CompanionHost

@Suite("The host's database", .timeLimit(.minutes(15)))
struct HostDatabaseTests {
    @Test("A database that cannot be brought up to date is not in use behind the failure")
    func failedMigration() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/host.sqlite"
            let database = try HostDatabase(path: path)
            // The tables are there, but not the note of how they came: making them again fails.
            try database.writeBlocking { try $0.execute(sql: "DELETE FROM grdb_migrations") }
            database.close()
            for _ in 0..<2 {
                let error = #expect(throws: CompanionHostError.self) { _ = try HostDatabase(path: path) }
                #expect(error?.code == .databaseUnavailable)
            }
        }
    }
}

@Suite("What no power cut takes back", .timeLimit(.minutes(15)))
struct DurabilityTests {
    /// Notes SQLite's setting within each transaction that touches a table, as it is there.
    private static let watch = """
        CREATE TEMP TABLE seen (what TEXT, setting INTEGER);
        CREATE TEMP TRIGGER audited AFTER INSERT ON main.audit BEGIN
            INSERT INTO seen SELECT NEW.kind, synchronous FROM pragma_synchronous; END;
        CREATE TEMP TRIGGER counted AFTER UPDATE ON main.pairingGuard BEGIN
            INSERT INTO seen SELECT 'guard', synchronous FROM pragma_synchronous; END;
        CREATE TEMP TRIGGER revoked AFTER UPDATE OF revokedAt ON main.device BEGIN
            INSERT INTO seen SELECT 'revoked', synchronous FROM pragma_synchronous; END;
        CREATE TEMP TRIGGER disconnected AFTER DELETE ON main.session BEGIN
            INSERT INTO seen SELECT 'session', synchronous FROM pragma_synchronous; END;
        CREATE TEMP TRIGGER chatted AFTER INSERT ON main.chat BEGIN
            INSERT INTO seen SELECT 'chat', synchronous FROM pragma_synchronous; END;
        """

    @Test("Pairings, guesses, the lock, permissions, revocations and commands are on the disk before they are answered")
    func durable() async throws {
        try await withHostAndDevice { host, device in
            let administration = host.server.administration
            let database = administration.audit.database
            try await database.write { try $0.execute(sql: Self.watch) }
            try await device.pair()
            _ = try await device.newChat()
            for _ in 0..<10 {
                _ = await administration.startPairing(ttlSeconds: nil, grant: nil)
                _ = try await device.guessWrong()
            }
            try await administration.unlockPairing()
            _ = try await administration.setPermissions([.chatSend], of: device.id)
            _ = try await device.send("POST", "/companion/disconnect")
            _ = try await administration.revoke(device.id)
            let seen = try await database.write { database in
                try Row.fetchAll(database, sql: "SELECT what, min(setting), max(setting) FROM seen GROUP BY what")
                    .map { "\($0[0] as String) \($0[1] as Int) \($0[2] as Int)" }
            }
            // 2 is FULL, 1 is NORMAL.
            #expect(
                Set(seen) == [
                    "chat 2 2", "device.permissions 2 2", "device.revoked 2 2", "guard 2 2", "pairing.failed 2 2",
                    "pairing.locked 2 2", "pairing.paired 2 2", "pairing.unlocked 2 2", "revoked 2 2", "session 2 2",
                ]
            )
        }
    }
}
