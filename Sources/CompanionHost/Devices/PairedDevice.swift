package import CompanionWire
package import FoundationEssentials
import GRDB

/// A device as the host knows it.
package struct PairedDevice: Sendable, Hashable, Identifiable {
    /// First 16 hex digits of SHA-256 over the text of the public key.
    package var id: String
    package var name: String
    /// As the device sent it. v2: standard base64 of the 32 bytes of an Ed25519 key.
    package var publicKey: String
    /// The actions that it may take besides reading; nil for a device that paired before there were permissions, which
    /// may do all that v1 can.
    package var permissions: [CompanionPermission]?
    /// When its access ends; nil if it has no time limit.
    package var expiresAt: Date?
    /// 1 or 2: the protocol that it paired with.
    package var protocolVersion: Int
    package var pairedAt: Date
    /// When it last made a request; stored every five seconds at most.
    package var lastSeenAt: Date
    /// The id of the certificate that it shows to relays; nil for one that uses none.
    package var relayID: RelayID?
    /// The rungs by which it may come; nil for all.
    package var rungs: [HostRoute.Rung]?
    /// The rung by which it last came; nil before it has.
    package var via: HostRoute.Rung?
    /// Whether it has been on this machine, where the host's agents are too.
    package var isHere = false
    /// Whether its access was taken away. It is kept, so that it can be told why it is refused.
    package var isRevoked = false

    /// The name that a device without one gets, as on deployed hosts.
    static let nameless = "iPhone"

    /// The actions that it may take besides reading, also for a device that paired before there were permissions.
    package var granted: [CompanionPermission] { permissions ?? CompanionPermission.beforePermissions }

    /// Whether it has a permission. That it is revoked or its time is over is not looked at: see ``isActive(at:)``.
    package func may(_ permission: CompanionPermission) -> Bool { granted.contains(permission) }

    /// Whether it is neither revoked nor past the end of its time.
    package func isActive(at now: Date) -> Bool {
        !isRevoked && expiresAt.map { $0 > now } ?? true
    }

    /// The device in the form in which the protocol lists it.
    package var companionDevice: CompanionDevice {
        CompanionDevice(id: id, name: name, pairedAt: pairedAt, lastSeenAt: lastSeenAt, via: via)
    }
}

extension PairedDevice {
    static let table = Table("device")

    /// Reads a row of ``table``.
    init(row: Row) {
        id = row["id"]
        name = row["name"]
        publicKey = row["publicKey"]
        permissions = (row["permissions"] as String?).map(Self.permissions(stored:))
        expiresAt = (row["expiresAt"] as String?).flatMap(CompanionTimestamp.date)
        protocolVersion = row["protocol"]
        pairedAt = CompanionTimestamp.date(from: row["pairedAt"]) ?? .distantPast
        lastSeenAt = CompanionTimestamp.date(from: row["lastSeenAt"]) ?? .distantPast
        isRevoked = (row["revokedAt"] as String?) != nil
        relayID = (row["relayID"] as String?).flatMap { RelayID($0) }
        rungs = (row["rungs"] as String?).map(Self.rungs(stored:))
        via = (row["via"] as String?).flatMap(HostRoute.Rung.init)
        isHere = row["isHere"]
    }

    /// Stores the device in place of an earlier record of it.
    func store(in database: Database) throws {
        // An id for relays is of one device: of that which pairs with it now.
        if let relayID {
            try database.execute(
                sql: "UPDATE device SET relayID = NULL WHERE relayID = ? AND id != ?",
                arguments: ["\(relayID)", id]
            )
        }
        try database.execute(
            sql: """
                INSERT INTO device
                    (id, name, publicKey, permissions, expiresAt, protocol, pairedAt, lastSeenAt, relayID, rungs, via,
                    isHere)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET name = excluded.name, publicKey = excluded.publicKey,
                    permissions = excluded.permissions, expiresAt = excluded.expiresAt, protocol = excluded.protocol,
                    pairedAt = excluded.pairedAt, lastSeenAt = excluded.lastSeenAt, relayID = excluded.relayID,
                    rungs = excluded.rungs, via = excluded.via, isHere = excluded.isHere, revokedAt = NULL
                """,
            arguments: [
                id, name, publicKey, permissions.map(Self.stored), expiresAt.map(CompanionTimestamp.string),
                protocolVersion, CompanionTimestamp.string(from: pairedAt), CompanionTimestamp.string(from: lastSeenAt),
                relayID.map { "\($0)" }, rungs.map(Self.stored), via?.rawValue, isHere,
            ]
        )
    }

    static func stored(_ rungs: [HostRoute.Rung]) -> String {
        rungs.map(\.rawValue).joined(separator: ",")
    }

    private static func rungs(stored text: String) -> [HostRoute.Rung] {
        text.parts(",").compactMap { HostRoute.Rung(rawValue: String($0)) }
    }

    static func stored(_ permissions: [CompanionPermission]) -> String {
        permissions.map(\.rawValue).joined(separator: ",")
    }

    private static func permissions(stored text: String) -> [CompanionPermission] {
        text.parts(",").map { CompanionPermission(rawValue: String($0)) }
    }
}
