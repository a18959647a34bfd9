import CompanionWire
import FoundationEssentials
import GRDB
import Logging
import NIOConcurrencyHelpers

/// Counts in the database how much each device has stored, and refuses more than its quota.
final class DeviceQuotas: Sendable {
    /// The hours that the limits are about, the present one included.
    static let hours = 24

    let quota: DeviceQuota
    private let clock: HostClock
    private let events: HostEventSink
    private let logger: Logger
    private let device: @Sendable (String) -> PairedDevice?
    /// The hour in which the owner was last notified about a device.
    private let told = NIOLockedValueBox<[String: Int]>([:])

    /// - Parameter device: A device by its id, to tell the owner which one it is.
    init(
        quota: DeviceQuota,
        clock: HostClock,
        events: HostEventSink,
        logger: Logger,
        device: @escaping @Sendable (String) -> PairedDevice?
    ) {
        self.quota = quota
        self.clock = clock
        self.events = events
        self.logger = logger
        self.device = device
    }

    /// Counts an amount that a device is about to have stored, within the transaction that stores it.
    ///
    /// - Throws: ``HostError`` with `quota.exceeded`.
    func charge(_ usage: DeviceUsage, to id: String, in database: Database) throws {
        let hour = Self.hour(clock.now())
        // What is older than a day counts no more.
        try database.cachedStatement(sql: "DELETE FROM deviceUsage WHERE device = ? AND hour <= ?")
            .execute(arguments: [id, hour - Self.hours])
        let statement = try database.cachedStatement(
            sql: """
                SELECT coalesce(sum(chats), 0) AS chats, coalesce(sum(bytes), 0) AS bytes FROM deviceUsage
                WHERE device = ? AND hour > ?
                """
        )
        if let row = try Row.fetchOne(statement, arguments: [id, hour - Self.hours]) {
            let day = DeviceUsage(chats: row["chats"], bytes: row["bytes"])
            if let limit = quota.limit(exceededBy: usage, after: day) {
                tell(id, limit: limit, hour: hour)
                throw Self.refusal(limit)
            }
        }
        try Self.add(usage, of: id, hour: hour, in: database)
    }

    /// Takes back an amount that was not stored after all, within a transaction.
    func refund(_ usage: DeviceUsage, to id: String, in database: Database) throws {
        let back = DeviceUsage(chats: -usage.chats, bytes: -usage.bytes)
        try Self.add(back, of: id, hour: Self.hour(clock.now()), in: database)
    }

    /// Counts an amount that a device is about to have stored, and takes it back if the body throws a refusal.
    ///
    /// - Throws: ``HostError`` with `quota.exceeded`, and the errors of the body.
    func charging<Value>(
        _ usage: DeviceUsage,
        to device: String,
        in database: HostDatabase,
        _ body: () async throws -> Value
    ) async throws -> Value {
        try await database.writeChecked { try self.charge(usage, to: device, in: $0) }
        do {
            return try await body()
        } catch let refusal as HostError {
            _ = try? await database.write { try self.refund(usage, to: device, in: $0) }
            throw refusal
        }
    }

    /// Counts an amount that a device has had stored, within a transaction. There is no limit: an answer is not thrown
    /// away.
    static func add(_ usage: DeviceUsage, of id: String, at now: Date, in database: Database) throws {
        try add(usage, of: id, hour: hour(now), in: database)
    }

    private static func add(_ usage: DeviceUsage, of id: String, hour: Int, in database: Database) throws {
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO deviceUsage (device, hour, chats, bytes) VALUES (?, ?, ?, ?)
                ON CONFLICT (device, hour) DO UPDATE
                SET chats = chats + excluded.chats, bytes = bytes + excluded.bytes
                """
        )
        try statement.execute(arguments: [id, hour, usage.chats, usage.bytes])
    }

    private static func hour(_ time: Date) -> Int { Int((time.timeIntervalSince1970 / 3600).rounded(.down)) }

    /// Notifies the owner, once per hour and device.
    private func tell(_ id: String, limit: String, hour: Int) {
        let isNew = told.withLockedValue { told in
            defer { told[id] = hour }
            return told[id] != hour
        }
        guard isNew else { return }
        logger.notice(
            "a device has reached \(limit)",
            metadata: .event("command", outcome: "refused", code: CompanionErrorCode.quotaExceeded.rawValue, device: id)
        )
        if let device = device(id) { events.send(.quotaReached(device.companionDevice, what: limit)) }
    }

    private static func refusal(_ limit: String) -> HostError {
        HostError(
            .quotaExceeded,
            "This device has reached its limit on this host: \(limit). Try again later, or ask the host's "
                + "owner for more",
            retryable: true,
            retryAfter: 3600
        )
    }
}
