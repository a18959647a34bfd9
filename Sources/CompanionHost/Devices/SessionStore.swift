import CompanionWire
import Crypto
import FoundationEssentials
import GRDB
import Identity
import NIOConcurrencyHelpers

/// The sessions of v2 devices (companion-v2, Sessions). The tokens themselves are kept nowhere, only their SHA-256.
final class SessionStore: Sendable {
    /// How long a session lasts: 24 hours.
    static let lifetime: TimeInterval = 86_400
    /// Sessions that a device may have; the one that ends first is removed for a new one.
    static let perDevice = 16

    /// A new session: its token leaves the host once.
    struct Session: Sendable {
        var token: String
        var hash: [UInt8]
        var device: String
        var expiresAt: Date

        init(device: String, now: Date) {
            token = Base64URL.encode(SecureRandom.bytes(32))
            hash = SessionStore.hash(token)
            self.device = device
            expiresAt = now.addingTimeInterval(SessionStore.lifetime)
        }

        var grant: SessionGrant { SessionGrant(token: token, expiresAt: expiresAt) }
    }

    struct Entry: Sendable, Hashable {
        var device: String
        var expiresAt: Date
    }

    /// A session as it is stored.
    private struct Stored: HostRecord {
        static let databaseTableName = "session"

        var tokenHash: Data
        var device: String
        var expiresAt: Date
    }

    private let entries: NIOLockedValueBox<[[UInt8]: Entry]>

    init(database: HostDatabase, clock: HostClock) throws(CompanionHostError) {
        let now = CompanionTimestamp.string(from: clock.now())
        let stored = try database.writeBlocking { database in
            try Stored.filter(Column("expiresAt") <= now).deleteAll(database)
            return try Stored.fetchAll(database).map {
                (Array($0.tokenHash), Entry(device: $0.device, expiresAt: $0.expiresAt))
            }
        }
        entries = NIOLockedValueBox(Dictionary(uniqueKeysWithValues: stored))
    }

    static func hash(_ token: String) -> [UInt8] {
        Array(SHA256.hash(data: Array(token.utf8)))
    }

    /// The session of a token, over or not; nil for one that is not known.
    func entry(token: String) -> Entry? {
        let hash = Self.hash(token)
        return entries.withLockedValue { $0[hash] }
    }

    /// Whether a device has a session that has not ended.
    func hasSession(_ device: String, now: Date) -> Bool {
        entries.withLockedValue { $0.values.contains { $0.device == device && $0.expiresAt > now } }
    }

    /// Stores a session, within a transaction.
    static func store(_ session: Session, in database: Database) throws {
        try Stored(tokenHash: Data(session.hash), device: session.device, expiresAt: session.expiresAt)
            .insert(database)
        let own = Stored.filter(Column("device") == session.device)
        let kept = own.order(Column("expiresAt").desc).limit(perDevice).select(Column("tokenHash"))
        try own.filter(!kept.contains(Column("tokenHash"))).deleteAll(database)
    }

    /// Ends all sessions of a device, within a transaction.
    static func removeAll(of device: String, in database: Database) throws {
        try Stored.filter(Column("device") == device).deleteAll(database)
    }

    /// Lets a session in. To be called once it is stored.
    func admit(_ session: Session, now: Date) {
        entries.withLockedValue { entries in
            entries = entries.filter { $0.value.expiresAt > now || $0.value.device == session.device }
            entries[session.hash] = Entry(device: session.device, expiresAt: session.expiresAt)
            let own = entries.filter { $0.value.device == session.device }
                .sorted { $0.value.expiresAt > $1.value.expiresAt }
            for surplus in own.dropFirst(Self.perDevice) { entries[surplus.key] = nil }
        }
    }

    /// Forgets all sessions of a device.
    func drop(_ device: String) {
        entries.withLockedValue { $0 = $0.filter { $0.value.device != device } }
    }
}
