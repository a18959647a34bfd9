package import CompanionWire
package import FoundationEssentials
import GRDB
import NIOConcurrencyHelpers

/// The paired devices, and which one of v1 is connected from where. Survives a restart.
///
/// All of it is in memory too. That copy is changed on the database's writer right after each commit, so code on the
/// writer sees the results of all earlier transactions. When access is taken away, memory is changed first, and stays
/// so even if the database cannot store it.
package final class CompanionDeviceStore: Sendable {
    /// The connected device of v1 and the only address that it is served to.
    package struct Connection: Sendable, Hashable {
        /// The device, and when it was connected.
        package var device: ConnectedCompanionDevice
        /// The address that it paired from.
        package var address: IPAddress
        package var pairedAt: Date
    }

    /// Seconds between two writes of a device's `lastSeenAt`.
    static let writeInterval: TimeInterval = 5

    struct State {
        var connection: Connection?
        /// Revoked ones too, so that they are told why they are refused.
        var known: [String: PairedDevice] = [:]
        var lastWrites: [String: Date] = [:]
        /// Devices that are revoked here and not in the database yet: a restart would let them in again.
        var unstored: Set<String> = []
    }

    let database: HostDatabase
    let clock: HostClock
    let state: NIOLockedValueBox<State>

    init(database: HostDatabase, clock: HostClock) throws(CompanionHostError) {
        self.database = database
        self.clock = clock
        let stored = try database.writeBlocking { database in
            let devices = try PairedDevice.table.fetchAll(database).map(PairedDevice.init(row:))
            return State(
                connection: try Self.storedConnection(database),
                known: Dictionary(uniqueKeysWithValues: devices.map { ($0.id, $0) })
            )
        }
        state = NIOLockedValueBox(stored)
    }

    /// The connected device of v1; nil when none is.
    package var connection: Connection? {
        state.withLockedValue { $0.connection }
    }

    /// A device, revoked or not; nil for one that never paired.
    package func device(id: String) -> PairedDevice? {
        state.withLockedValue { $0.known[id] }
    }

    /// The paired devices, the one that paired last first.
    package func devices() -> [PairedDevice] {
        state.withLockedValue { $0.known.values.filter { !$0.isRevoked } }
            .sorted { ($1.pairedAt, $0.id) < ($0.pairedAt, $1.id) }
    }

    /// The devices that are revoked and would be let in by a restart, because that could not be stored yet.
    package func devicesRevokedInMemory() -> [PairedDevice] {
        state.withLockedValue { state in state.unstored.compactMap { state.known[$0] } }
            .sorted { ($1.pairedAt, $0.id) < ($0.pairedAt, $1.id) }
    }

    /// The device that shows an id to relays; nil if none that is let in does.
    func device(relayID: RelayID) -> PairedDevice? {
        let now = clock.now()
        return state.withLockedValue { state in
            state.known.values.first { $0.relayID == relayID && $0.isActive(at: now) }
        }
    }

    /// Whether a device may have turns now: one of v2 that is not revoked, or the connected one of v1.
    func mayWork(_ id: String) -> Bool {
        let now = clock.now()
        return state.withLockedValue { state in
            guard let device = state.known[id], device.isActive(at: now), device.may(.chatSend) else { return false }
            return device.protocolVersion >= 2 || state.connection?.device.id == id
        }
    }

    /// Notes when a device was last active, and by which rung; written at most every five seconds.
    func touch(_ id: String, via rung: HostRoute.Rung? = nil) async {
        let now = clock.now()
        let isDue = state.withLockedValue { state in
            if state.connection?.device.id == id { state.connection?.device.lastSeenAt = now }
            state.known[id]?.lastSeenAt = now
            let hasMoved = rung != nil && rung != state.known[id]?.via
            if let rung { state.known[id]?.via = rung }
            guard !hasMoved else {
                state.lastWrites[id] = now
                return true
            }
            let lastWrite = state.lastWrites[id] ?? .distantPast
            guard now.timeIntervalSince(lastWrite) >= Self.writeInterval else { return false }
            state.lastWrites[id] = now
            return true
        }
        guard isDue else { return }
        // A time that is not stored is no reason to refuse a request.
        _ = try? await database.write { database in
            try Self.store(lastSeenAt: now, of: id, in: database)
            guard let rung else { return }
            try PairedDevice.table.filter(key: id).updateAll(database, Column("via").set(to: rung.rawValue))
        }
    }

    static func store(lastSeenAt time: Date, of id: String, in database: Database) throws {
        let text = CompanionTimestamp.string(from: time)
        try PairedDevice.table.filter(key: id).updateAll(database, Column("lastSeenAt").set(to: text))
    }

    static func storedConnection(_ database: Database) throws -> Connection? {
        let row = try Row.fetchOne(
            database,
            sql: """
                SELECT device.*, connectedAt, address FROM connection JOIN device ON device.id = connection.device
                """
        )
        guard let row, let address = IPAddress(row["address"] as String) else { return nil }
        let device = PairedDevice(row: row)
        let connected = ConnectedCompanionDevice(
            id: device.id,
            name: device.name,
            connectedAt: CompanionTimestamp.date(from: row["connectedAt"]),
            lastSeenAt: device.lastSeenAt
        )
        return Connection(device: connected, address: address, pairedAt: device.pairedAt)
    }
}

extension CompanionDeviceStore.Connection {
    var companionDevice: CompanionDevice {
        CompanionDevice(id: device.id, name: device.name, pairedAt: pairedAt, lastSeenAt: device.lastSeenAt)
    }
}
