import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import GRDB
import Testing

@testable import CompanionHost

@Suite("What a host keeps over a quarter of a year", .timeLimit(.minutes(15)))
struct NinetyDaysTests {
    /// What people have made, and what happened: these grow. Everything else is for a time.
    private static let growing: Set<String> = ["audit", "chat", "message", "project", "sqlite_sequence"]

    /// How many rows each table has.
    private func rows(_ host: TestHost) async throws -> [String: Int] {
        try await host.server.administration.audit.database.read { database in
            let tables = try String.fetchAll(
                database,
                sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '%\\_fts%' ESCAPE '\\'"
            )
            return try tables.reduce(into: [:]) { counts, table in
                counts[table] = try Int.fetchOne(database, sql: "SELECT count(*) FROM \"\(table)\"")
            }
        }
    }

    @Test("Sessions, nonces, commands, turns, their events and usage stay as many, however many days there were")
    func bounded() async throws {
        let clock = TestClock()
        try await withHostAndDevice(clock: clock.hostClock) { host, device in
            try await device.pair()
            var days: [[String: Int]] = []
            for _ in 0..<90 {
                device.token = try await device.openSession(now: clock.now).decoded(SessionGrant.self).token
                _ = try await device.guessWrong()
                try await host.server.administration.unlockPairing()
                for _ in 0..<2 {
                    let (chat, turn) = try await device.startTurn("list", model: "builtin")
                    _ = try await device.events(chat: chat, turn: turn)
                }
                days.append(try await rows(host))
                clock.advance(by: 86_000)
                // The upkeep comes with the beats of the last minutes.
                try await eventually {
                    clock.advance(by: 20)
                    return try await rows(host)["turn"] == 0
                }
            }
            // A device has sixteen sessions at most.
            let (early, late) = (days[19], days[89])
            for (table, count) in late.sorted(by: { $0.key < $1.key }) where !Self.growing.contains(table) {
                #expect(count <= early[table, default: 0], "\(table)")
            }
            // Two chats, a session's and a guess's row a day.
            #expect(try #require(late["chat"]) == 180)
            #expect(try #require(late["audit"]) <= 90 * 4)
        }
    }
}
