import CompanionWire
import FoundationEssentials
import GRDB
import HTTPTypes
import NIOConcurrencyHelpers

extension CompanionDeviceStore {
    /// What else belongs to the same transaction.
    typealias Extra = @Sendable (Database) throws -> Void

    /// Stores a device of v1 and connects it in place of the connected one, which stays listed.
    ///
    /// - Throws: ``HostResponseError`` where the key is that of a device of v2: a pairing by v1 proves nothing about
    ///   keys, so anybody could take that device's place.
    func connect(
        _ device: PairedDevice,
        address: IPAddress,
        also: @escaping Extra
    ) async throws {
        let time = CompanionTimestamp.string(from: device.pairedAt)
        let connected = ConnectedCompanionDevice(
            id: device.id,
            name: device.name,
            connectedAt: device.pairedAt,
            lastSeenAt: device.pairedAt
        )
        let connection = Connection(device: connected, address: address, pairedAt: device.pairedAt)
        try await database.writeChecked { [self] database in
            if let known = self.device(id: device.id), known.protocolVersion >= 2, !known.isRevoked {
                throw HostResponseError(.forbidden, HostErrorText.provenKey, code: .requestForbidden)
            }
            try device.store(in: database)
            try database.execute(
                sql: "INSERT OR REPLACE INTO connection (slot, device, address, connectedAt) VALUES (1, ?, ?, ?)",
                arguments: [device.id, address.description, time]
            )
            try also(database)
        } committed: { [state] in
            state.withLockedValue { state in
                state.known[device.id] = device
                state.connection = connection
            }
        }
    }

    /// Stores a device of v2.
    func enroll(
        _ device: PairedDevice,
        also: @escaping Extra,
        committed: @escaping @Sendable () -> Void
    ) async throws(CompanionHostError) {
        try await database.write { database in
            try device.store(in: database)
            try also(database)
        } committed: { [state] in
            state.withLockedValue { $0.known[device.id] = device }
            committed()
        }
    }

    /// Disconnects the connected device of v1, which stays listed.
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

    /// Revokes a device, and disconnects it when it is the connected one. An unknown id is no error.
    func revoke(
        id: String,
        also: @escaping Extra
    ) async throws(CompanionHostError) -> (known: Bool, disconnected: CompanionDevice?) {
        let now = CompanionTimestamp.string(from: clock.now())
        let connected = connection
        let known = try await database.write { database -> Bool in
            try database.execute(
                sql: "UPDATE device SET revokedAt = ? WHERE id = ? AND revokedAt IS NULL",
                arguments: [now, id]
            )
            guard database.changesCount > 0 else { return false }
            try database.execute(sql: "DELETE FROM connection WHERE device = ?", arguments: [id])
            try database.execute(sql: "DELETE FROM session WHERE device = ?", arguments: [id])
            try also(database)
            return true
        } committed: { [state] known in
            guard known else { return }
            state.withLockedValue { state in
                state.known[id]?.isRevoked = true
                if state.connection?.device.id == id { state.connection = nil }
            }
        }
        return (known, known && connected?.device.id == id ? connected?.companionDevice : nil)
    }

    /// Changes what a device may do.
    ///
    /// - Returns: Whether there is such a device.
    func setPermissions(
        _ permissions: [CompanionPermission],
        of id: String,
        also: @escaping Extra
    ) async throws(CompanionHostError) -> Bool {
        try await database.write { database -> Bool in
            try database.execute(
                sql: "UPDATE device SET permissions = ? WHERE id = ? AND revokedAt IS NULL",
                arguments: [PairedDevice.stored(permissions), id]
            )
            guard database.changesCount > 0 else { return false }
            try also(database)
            return true
        } committed: { [state] known in
            if known { state.withLockedValue { $0.known[id]?.permissions = permissions } }
        }
    }
}
