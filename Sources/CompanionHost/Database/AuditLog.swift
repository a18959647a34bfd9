package import CompanionWire
import Crypto
package import FoundationEssentials
import GRDB

/// The kind of event that an audit row records.
package struct AuditKind: RawRepresentable, Sendable, Hashable {
    /// The dotted word in the database, such as `pairing.paired`.
    package let rawValue: String

    package init(rawValue: String) {
        self.rawValue = rawValue
    }

    package static let paired = AuditKind(rawValue: "pairing.paired")
    package static let pairingFailed = AuditKind(rawValue: "pairing.failed")
    package static let pairingLocked = AuditKind(rawValue: "pairing.locked")
    package static let pairingUnlocked = AuditKind(rawValue: "pairing.unlocked")
    package static let permissionsChanged = AuditKind(rawValue: "device.permissions")
    package static let revoked = AuditKind(rawValue: "device.revoked")
    package static let sessionRemoved = AuditKind(rawValue: "session.removed")
    package static let questionDecided = AuditKind(rawValue: "question.decided")
    /// An agent of the host asked for something that only the owner may do.
    package static let agentRefused = AuditKind(rawValue: "agent.refused")
    package static let ruleAdded = AuditKind(rawValue: "rule.added")
    package static let ruleRemoved = AuditKind(rawValue: "rule.removed")
    /// A rule was added, changed or deleted in the database, but not by the owner.
    package static let ruleIgnored = AuditKind(rawValue: "rule.ignored")
}

/// The append-only audit: each row carries the hash of the one before (companion-v2, Log).
///
/// The chain reveals accidents and clumsy changes. It does not protect from someone who may write the file: they can
/// write a whole new chain.
package struct AuditLog: Sendable {
    let database: HostDatabase

    /// Adds a row, within the transaction of the event that it records.
    static func append(
        _ kind: AuditKind,
        device: String?,
        detail: JSONValue,
        at now: Date,
        in database: Database
    ) throws {
        let last = try Row.fetchOne(database, sql: "SELECT number, hash FROM audit ORDER BY number DESC LIMIT 1")
        let number = (last?[0] as Int? ?? 0) + 1
        let previous = Array(last?[1] as Data? ?? Data())
        let at = CompanionTimestamp.string(from: now)
        let text = try String(decoding: CanonicalJSON(detail).bytes, as: UTF8.self)
        let fields = Fields(number: number, at: at, kind: kind.rawValue, device: device, detail: text)
        try database.execute(
            sql: """
                INSERT INTO audit (number, at, kind, device, detail, previousHash, hash) VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [number, at, kind.rawValue, device, text, Data(previous), Data(fields.hash(after: previous))]
        )
    }

    /// Returns the newest rows, the oldest of them first.
    ///
    /// - Parameter limit: The most rows. Default: 1000.
    /// - Throws: ``CompanionHostError`` if the database cannot be read.
    package func rows(limit: Int = 1000) async throws(CompanionHostError) -> [AuditRow] {
        try await database.read { database in
            try Row.fetchAll(
                database,
                sql: "SELECT number, at, kind, device, detail FROM audit ORDER BY number DESC LIMIT ?",
                arguments: [limit]
            ).reversed().map { row in
                AuditRow(
                    number: row[0],
                    at: CompanionTimestamp.date(from: row[1]) ?? .distantPast,
                    kind: row[2],
                    device: row[3],
                    detail: (try? CanonicalJSON(parsing: Array((row[4] as String).utf8)))?.value ?? .null
                )
            }
        }
    }

    /// Checks every row against the one before it, and the last one against the highest number ever given.
    ///
    /// - Throws: ``CompanionHostError`` if the database cannot be read.
    package func verify() async throws(CompanionHostError) -> AuditVerdict {
        try await database.read { database in
            let rows = try Row.fetchCursor(
                database,
                sql: "SELECT number, at, kind, device, detail, previousHash, hash FROM audit ORDER BY number"
            )
            var count = 0
            var previous: [UInt8] = []
            while let row = try rows.next() {
                let fields = Fields(number: row[0], at: row[1], kind: row[2], device: row[3], detail: row[4])
                guard fields.number == count + 1, Array(row[5] as Data) == previous,
                    Array(row[6] as Data) == fields.hash(after: previous)
                else { return AuditVerdict(rows: count, brokenAt: count + 1) }
                previous = Array(row[6] as Data)
                count += 1
            }
            let highest = try Int.fetchOne(database, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'audit'") ?? 0
            return AuditVerdict(rows: count, brokenAt: highest > count ? count + 1 : nil)
        }
    }

    private struct Fields {
        var number: Int
        var at: String
        var kind: String
        var device: String?
        var detail: String

        /// SHA-256 over all of the row and the hash of the row before.
        func hash(after previous: [UInt8]) -> [UInt8] {
            let texts = ["pairtool-audit-1", String(number), at, kind, device.map { "=" + $0 } ?? "", detail]
            return Array(SHA256.hash(data: lvCat(texts.map { Array($0.utf8) } + [previous])))
        }
    }
}
