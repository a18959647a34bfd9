package import CompanionWire
import Crypto
import FoundationEssentials
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
    /// A device came by a relay.
    package static let reached = AuditKind(rawValue: "device.reached")
    package static let revoked = AuditKind(rawValue: "device.revoked")
    package static let sessionRemoved = AuditKind(rawValue: "session.removed")
    package static let questionDecided = AuditKind(rawValue: "question.decided")
    /// An agent of the host asked for something that only the owner may do.
    package static let agentRefused = AuditKind(rawValue: "agent.refused")
    /// A device has changed how freely an agent works in a chat.
    package static let agentConfigured = AuditKind(rawValue: "agent.configured")
    /// A host has started with agents in a box.
    package static let agentBoxed = AuditKind(rawValue: "agent.sandboxed")
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
        let last = try Stored.order(Column("number").desc).fetchOne(database)
        var row = Stored(
            number: (last?.number ?? 0) + 1,
            at: CompanionTimestamp.string(from: now),
            kind: kind.rawValue,
            device: device,
            detail: try String(decoding: CanonicalJSON(detail).bytes, as: UTF8.self),
            previousHash: last?.hash ?? Data(),
            hash: Data()
        )
        row.hash = row.computedHash
        try row.insert(database)
    }

    /// Returns the newest rows, the oldest of them first.
    ///
    /// - Parameter limit: The most rows. Default: 1000.
    /// - Throws: ``CompanionHostError`` if the database cannot be read.
    package func rows(limit: Int = 1000) async throws(CompanionHostError) -> [AuditRow] {
        try await database.read { database in
            try Stored.order(Column("number").desc).limit(limit).fetchAll(database).reversed().map { row in
                AuditRow(
                    number: row.number,
                    at: CompanionTimestamp.date(from: row.at) ?? .distantPast,
                    kind: row.kind,
                    device: row.device,
                    detail: (try? CanonicalJSON(parsing: Array(row.detail.utf8)))?.value ?? .null
                )
            }
        }
    }

    /// Checks every row against the one before it, and the last one against the highest number ever given.
    ///
    /// - Throws: ``CompanionHostError`` if the database cannot be read.
    package func verify() async throws(CompanionHostError) -> AuditVerdict {
        try await database.read { database in
            let rows = try Stored.order(Column("number")).fetchCursor(database)
            var count = 0
            var previous = Data()
            while let row = try rows.next() {
                guard row.number == count + 1, row.previousHash == previous, row.hash == row.computedHash else {
                    return AuditVerdict(rows: count, brokenAt: count + 1)
                }
                previous = row.hash
                count += 1
            }
            let highest = try Int.fetchOne(database, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'audit'") ?? 0
            return AuditVerdict(rows: count, brokenAt: highest > count ? count + 1 : nil)
        }
    }

    /// A row as it is stored.
    private struct Stored: HostRecord {
        static let databaseTableName = "audit"

        var number: Int
        /// A time, as the hash has it.
        var at: String
        var kind: String
        var device: String?
        var detail: String
        /// The hash of the row before; empty for the first.
        var previousHash: Data
        var hash: Data

        /// SHA-256 over all of the row and the hash of the row before.
        var computedHash: Data {
            let texts = ["pairtool-audit-1", String(number), at, kind, device.map { "=" + $0 } ?? "", detail]
            return Data(SHA256.hash(data: lvCat(texts.map { Array($0.utf8) } + [Array(previousHash)])))
        }
    }
}
