package import CompanionWire
import Crypto
package import FoundationEssentials
import GRDB
import NIOConcurrencyHelpers

/// The paired devices, and which one of them is connected from where. Survives a restart.
package final class CompanionDeviceStore: Sendable {
    /// The connected device and the only address that it is served to.
    package struct Connection: Sendable, Hashable {
        package var device: ConnectedCompanionDevice
        package var address: IPAddress
        package var pairedAt: Date
    }

    /// Between two times that `lastSeenAt` is written.
    static let writeInterval: TimeInterval = 5

    private struct State {
        var connection: Connection?
        var lastWrite = Date.distantPast
    }

    private let database: HostDatabase
    private let clock: HostClock
    private let state: NIOLockedValueBox<State>

    init(database: HostDatabase, clock: HostClock) throws(CompanionHostError) {
        self.database = database
        self.clock = clock
        let connection = try database.writeBlocking { try Self.storedConnection($0) }
        state = NIOLockedValueBox(State(connection: connection))
    }

    /// The id of a device: first 16 hex digits of SHA-256 over the trimmed text of its public key.
    package static func id(publicKey: String) -> String {
        hex(SHA256.hash(data: Array(publicKey.trimmingWhitespace().utf8)).prefix(8))
    }

    /// The connected device; nil when none is.
    package var connection: Connection? {
        state.withLockedValue { $0.connection }
    }

    /// Stores a device and connects it in place of the connected one, which stays listed.
    func connect(
        publicKey: String,
        name: String,
        address: IPAddress,
        now: Date
    ) async throws(CompanionHostError) -> CompanionDevice {
        let device = CompanionDevice(id: Self.id(publicKey: publicKey), name: name, pairedAt: now, lastSeenAt: now)
        let time = CompanionTimestamp.string(from: now)
        let connected = ConnectedCompanionDevice(id: device.id, name: name, connectedAt: now, lastSeenAt: now)
        let connection = Connection(device: connected, address: address, pairedAt: now)
        try await database.write { database in
            try database.execute(
                sql: """
                    INSERT INTO device (id, name, publicKey, pairedAt, lastSeenAt) VALUES (?, ?, ?, ?, ?)
                    ON CONFLICT (id) DO UPDATE SET name = excluded.name, publicKey = excluded.publicKey,
                        pairedAt = excluded.pairedAt, lastSeenAt = excluded.lastSeenAt
                    """,
                arguments: [device.id, name, publicKey, time, time]
            )
            try database.execute(
                sql: "INSERT OR REPLACE INTO connection (slot, device, address, connectedAt) VALUES (1, ?, ?, ?)",
                arguments: [device.id, address.description, time]
            )
        } committed: { [state] in
            state.withLockedValue { $0.connection = connection }
        }
        return device
    }

    /// Disconnects the connected device, which stays listed.
    ///
    /// - Returns: The device that was connected.
    func disconnect() async throws(CompanionHostError) -> CompanionDevice? {
        let now = clock.now()
        return try await database.write { database -> Connection? in
            let connection = try Self.storedConnection(database)
            try database.execute(sql: "DELETE FROM connection")
            if let connection { try Self.store(lastSeenAt: now, of: connection.device.id, in: database) }
            return connection
        } committed: { [state] _ in
            state.withLockedValue { $0.connection = nil }
        }?.companionDevice
    }

    /// Removes a device, and disconnects it when it is the connected one. An unknown id is no error.
    func remove(id: String) async throws(CompanionHostError) -> (known: Bool, disconnected: CompanionDevice?) {
        let connected = connection
        let known = try await database.write { database -> Bool in
            // The connection goes with its device.
            try database.execute(sql: "DELETE FROM device WHERE id = ?", arguments: [id])
            return database.changesCount > 0
        } committed: { [state] _ in
            state.withLockedValue { if $0.connection?.device.id == id { $0.connection = nil } }
        }
        return (known, known && connected?.device.id == id ? connected?.companionDevice : nil)
    }

    /// The paired devices, the one that paired last first.
    func devices() async throws(CompanionHostError) -> [CompanionDevice] {
        let connected = connection?.device
        return try await database.read { database in
            let rows = try Row.fetchCursor(
                database.cachedStatement(
                    sql: "SELECT id, name, pairedAt, lastSeenAt FROM device ORDER BY pairedAt DESC, id"
                )
            )
            var devices: [CompanionDevice] = []
            while let row = try rows.next() {
                var device = CompanionDevice(
                    id: row[0],
                    name: row[1],
                    pairedAt: CompanionTimestamp.date(from: row[2]),
                    lastSeenAt: CompanionTimestamp.date(from: row[3])
                )
                if device.id == connected?.id { device.lastSeenAt = connected?.lastSeenAt }
                devices.append(device)
            }
            return devices
        }
    }

    /// Notes that the connected device was heard of; written at most every five seconds.
    func touch() async {
        let now = clock.now()
        let id = state.withLockedValue { state -> String? in
            state.connection?.device.lastSeenAt = now
            guard now.timeIntervalSince(state.lastWrite) >= Self.writeInterval else { return nil }
            state.lastWrite = now
            return state.connection?.device.id
        }
        guard let id else { return }
        // A time that is not stored is no reason to refuse a request.
        _ = try? await database.write { try Self.store(lastSeenAt: now, of: id, in: $0) }
    }

    private static func store(lastSeenAt time: Date, of id: String, in database: Database) throws {
        try database.execute(
            sql: "UPDATE device SET lastSeenAt = ? WHERE id = ?",
            arguments: [CompanionTimestamp.string(from: time), id]
        )
    }

    private static func storedConnection(_ database: Database) throws -> Connection? {
        let row = try Row.fetchOne(
            database,
            sql: """
                SELECT device.id, name, connectedAt, lastSeenAt, address, pairedAt
                FROM connection JOIN device ON device.id = connection.device
                """
        )
        guard let row, let address = IPAddress(row[4] as String) else { return nil }
        let device = ConnectedCompanionDevice(
            id: row[0],
            name: row[1],
            connectedAt: CompanionTimestamp.date(from: row[2]),
            lastSeenAt: CompanionTimestamp.date(from: row[3])
        )
        let pairedAt = CompanionTimestamp.date(from: row[5]) ?? .distantPast
        return Connection(device: device, address: address, pairedAt: pairedAt)
    }
}

extension CompanionDeviceStore.Connection {
    /// The device of v1 that requests from this connection's address belong to.
    func authenticated(in revocations: RevocationCenter) -> AuthenticatedDevice {
        AuthenticatedDevice(
            id: device.id,
            name: device.name,
            protocolVersion: 1,
            epoch: revocations.epoch(of: device.id)
        )
    }

    var companionDevice: CompanionDevice {
        CompanionDevice(id: device.id, name: device.name, pairedAt: pairedAt, lastSeenAt: device.lastSeenAt)
    }
}

extension String {
    /// The text without white space and line breaks at its ends.
    func trimmingWhitespace() -> String {
        guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(self[first...last])
    }
}
