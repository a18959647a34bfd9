import GRDB
import Testing

@testable import CompanionHost

@Suite("The host's database", .timeLimit(.minutes(5)))
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
