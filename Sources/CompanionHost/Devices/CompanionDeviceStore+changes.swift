import CompanionWire
import FoundationEssentials
import GRDB
import NIOConcurrencyHelpers

extension CompanionDeviceStore {
    /// Further changes in the same transaction.
    typealias Extra = @Sendable (Database) throws -> Void

    /// Stores a device of v1 and connects it in place of the connected one, which stays listed.
    ///
    /// - Throws: ``HostError`` where the key is that of a device of v2: a pairing by v1 proves nothing about
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
        try await database.writeChecked(durably: true) { [self] database in
            if let known = self.device(id: device.id), known.protocolVersion >= 2, !known.isRevoked {
                throw HostError(
                    .requestForbidden,
                    "The key belongs to a device that was paired with proof: pair by protocol 2, or revoke that device at the host"
                )
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
                state.unstored.remove(device.id)
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
        try await database.write(durably: true) { database in
            try device.store(in: database)
            try also(database)
        } committed: { [state] in
            state.withLockedValue { state in
                if let relayID = device.relayID {
                    for other in state.known.keys where state.known[other]?.relayID == relayID {
                        state.known[other]?.relayID = nil
                    }
                }
                state.known[device.id] = device
                state.unstored.remove(device.id)
            }
            committed()
        }
    }

    /// Notes what a device shows to relays.
    ///
    /// - Returns: The id that it has shown before, if that was another.
    func setRelayID(_ relayID: RelayID, of id: String) async throws(CompanionHostError) -> RelayID? {
        let old = device(id: id)?.relayID
        guard old != relayID else { return nil }
        try await database.write(durably: true) { database in
            try database.execute(
                sql: "UPDATE device SET relayID = NULL WHERE relayID = ?",
                arguments: ["\(relayID)"]
            )
            try PairedDevice.table.filter(key: id).updateAll(database, Column("relayID").set(to: "\(relayID)"))
        } committed: { [state] in
            state.withLockedValue { state in
                for other in state.known.keys where state.known[other]?.relayID == relayID {
                    state.known[other]?.relayID = nil
                }
                state.known[id]?.relayID = relayID
            }
        }
        return old
    }

    /// Notes that a device is on this machine. That stays so.
    func setHere(_ id: String) async {
        guard device(id: id)?.isHere == false else { return }
        state.withLockedValue { $0.known[id]?.isHere = true }
        _ = try? await database.write { database in
            try PairedDevice.table.filter(key: id).updateAll(database, Column("isHere").set(to: true))
        }
    }

    /// Replaces the rungs by which a device may come.
    ///
    /// - Parameter rungs: nil for all.
    /// - Returns: Whether there is such a device.
    func setRungs(
        _ rungs: [HostRoute.Rung]?,
        of id: String,
        also: @escaping Extra
    ) async throws(CompanionHostError) -> Bool {
        try await database.write(durably: true) { database -> Bool in
            let changed = try PairedDevice.table.filter(key: id).filter(Column("revokedAt") == nil)
                .updateAll(database, Column("rungs").set(to: rungs.map(PairedDevice.stored)))
            guard changed > 0 else { return false }
            try also(database)
            return true
        } committed: { [state] known in
            if known { state.withLockedValue { $0.known[id]?.rungs = rungs } }
        }
    }

    // MARK: What takes access away

    /// Ends the connection of v1, in memory.
    ///
    /// - Returns: The device that was connected.
    func endConnection() -> CompanionDevice? {
        state.withLockedValue { state in
            defer { state.connection = nil }
            return state.connection?.companionDevice
        }
    }

    /// Stores that no device of v1 is connected, and when it was last active.
    func storeDisconnection() async throws(CompanionHostError) {
        let now = clock.now()
        try await database.write(durably: true) { database in
            let connection = try Self.storedConnection(database)
            try Table("connection").deleteAll(database)
            if let connection { try Self.store(lastSeenAt: now, of: connection.device.id, in: database) }
        } committed: { [state] in
            state.withLockedValue { $0.connection = nil }
        }
    }

    /// Takes a device's access away in memory. That lasts as long as this process, even if
    /// ``storeRevocation(of:also:)`` fails.
    ///
    /// - Returns: The device, where it was the connected one of v1.
    func endAccess(of id: String) -> CompanionDevice? {
        state.withLockedValue { state in
            guard state.known[id]?.isRevoked == false else { return nil }
            state.known[id]?.isRevoked = true
            state.unstored.insert(id)
            guard let connection = state.connection, connection.device.id == id else { return nil }
            state.connection = nil
            return connection.companionDevice
        }
    }

    /// Stores that a device is revoked. An unknown id is no error.
    ///
    /// - Returns: Whether there was such a device.
    func storeRevocation(of id: String, also: @escaping Extra) async throws(CompanionHostError) -> Bool {
        let now = CompanionTimestamp.string(from: clock.now())
        return try await database.write(durably: true) { database -> Bool in
            let changed = try PairedDevice.table.filter(key: id).filter(Column("revokedAt") == nil)
                .updateAll(database, Column("revokedAt").set(to: now))
            guard changed > 0 else { return false }
            try Table("connection").filter(Column("device") == id).deleteAll(database)
            try SessionStore.removeAll(of: id, in: database)
            try also(database)
            return true
        } committed: { [state] known in
            state.withLockedValue { state in
                state.unstored.remove(id)
                guard known else { return }
                // Also one that has paired again since its access was ended: its transaction came before this one.
                state.known[id]?.isRevoked = true
                if state.connection?.device.id == id { state.connection = nil }
            }
        }
    }

    /// Takes away, in memory, all permissions of a device but some.
    func withdraw(allBut permissions: [CompanionPermission], of id: String) {
        state.withLockedValue { state in
            guard let device = state.known[id], !device.isRevoked else { return }
            state.known[id]?.permissions = device.granted.filter(permissions.contains)
        }
    }

    /// Replaces the permissions of a device.
    ///
    /// - Returns: Whether there is such a device.
    func setPermissions(
        _ permissions: [CompanionPermission],
        of id: String,
        also: @escaping Extra
    ) async throws(CompanionHostError) -> Bool {
        try await database.write(durably: true) { database -> Bool in
            let changed = try PairedDevice.table.filter(key: id).filter(Column("revokedAt") == nil)
                .updateAll(database, Column("permissions").set(to: PairedDevice.stored(permissions)))
            guard changed > 0 else { return false }
            try also(database)
            return true
        } committed: { [state] known in
            if known { state.withLockedValue { $0.known[id]?.permissions = permissions } }
        }
    }
}
