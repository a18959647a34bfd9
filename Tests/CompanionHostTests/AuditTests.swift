import CompanionHost
import CompanionWire
import FoundationEssentials
import Testing

@Suite("The audit")
struct AuditTests {
    struct Forgery: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var sql: String
        var brokenAt: Int
    }

    static let forgeries = [
        Forgery(testDescription: "a changed row", sql: "UPDATE audit SET detail = '{}' WHERE number = 2", brokenAt: 2),
        Forgery(testDescription: "another time", sql: "UPDATE audit SET at = replace(at, '20', '19')", brokenAt: 1),
        Forgery(testDescription: "a missing row", sql: "DELETE FROM audit WHERE number = 2", brokenAt: 2),
        Forgery(testDescription: "a missing last row", sql: "DELETE FROM audit WHERE number = 3", brokenAt: 3),
        Forgery(
            testDescription: "rows in another order",
            sql: "UPDATE audit SET number = -number; UPDATE audit SET number = 4 + number",
            brokenAt: 1
        ),
    ]

    @Test("It is intact as it was written, and tells where it was not left alone", arguments: forgeries)
    func forgery(_ forgery: Forgery) async throws {
        try await withTemporaryDirectory { directory in
            try await withHostAndDevice(in: directory) { host, device in
                for _ in 0..<2 { _ = try await device.guessWrong() }
                try await device.pair()
                let audit = host.server.administration.audit
                let before = try await audit.verify()
                #expect(before.isIntact && before.rows == 3)
                await #expect(throws: TestFailure.self, "the table itself takes new rows only") {
                    try await forge(forgery.sql, in: directory)
                }
                try await forge("DROP TRIGGER auditStays; DROP TRIGGER auditIsFinal; \(forgery.sql)", in: directory)
                let after = try await audit.verify()
                #expect(after.brokenAt == forgery.brokenAt)
            }
        }
    }

    private func forge(_ sql: String, in directory: String) async throws {
        try await shell(
            """
            python3 -c 'import sqlite3, sys
            with sqlite3.connect(sys.argv[1], timeout=30) as database: database.executescript(sys.argv[2])
            ' '\(directory)/state/host.sqlite' "\(sql)"
            """
        )
    }
}
