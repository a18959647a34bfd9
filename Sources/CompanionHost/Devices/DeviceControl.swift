package import CompanionWire
import FoundationEssentials
import Logging
import ServiceLifecycle

/// Changes the permissions and the access of paired devices. Sessions, streams and turns that are no longer allowed end
/// at once (companion-v2, Revocation).
///
/// Taking access away takes effect before it is stored. When it cannot be stored it stays in effect while this process
/// runs: a full disk lets no device stay.
package struct DeviceControl: Sendable {
    /// Seconds between two tries to store that a device is revoked.
    static let retryInterval: TimeInterval = 15

    let devices: CompanionDeviceStore
    let sessions: SessionStore
    let revocations: RevocationCenter
    /// Ends the turns of devices that may have none now.
    let endTurns: @Sendable () -> Void
    /// Ends the connections of a caller over a relay.
    let endCalls: @Sendable (RelayID) -> Void
    let clock: HostClock
    let events: HostEventSink
    let logger: Logger

    /// Takes a device's access away for good; it can only come back by a new pairing.
    ///
    /// - Parameter origin: The one who revoked it, for the audit: `host`, the device's own id, or the address of a
    ///   client of v1.
    /// - Returns: Whether there was such a device.
    /// - Throws: ``HostError`` with `host.storage_failed`: the device is out, and a restart would let it in.
    @discardableResult
    package func revoke(_ id: String, by origin: String) async throws -> Bool {
        let start = ContinuousClock.now
        let relayID = devices.device(id: id)?.relayID
        let disconnected = devices.endAccess(of: id)
        cutOff(id)
        if let relayID { endCalls(relayID) }
        let isKnown: Bool
        do {
            isKnown = try await storeRevocation(of: id, by: origin)
        } catch {
            logger.error(
                "revocation not stored",
                metadata: .failure(error, code: .hostStorageFailed, ["device": "\(id)"])
            )
            throw HostError.notStored(
                "The device is shut out, but that could not be stored: the host's disk may be full. The host keeps trying; "
                    + "if it restarts first, the device is let in again"
            )
        }
        // What has come up since then, by a pairing that was under way.
        cutOff(id)
        if let disconnected { events.send(.disconnected(disconnected)) }
        if isKnown {
            logger.info(
                "device revoked",
                metadata: .event("auth", outcome: "revoked", latency: .now - start, device: id)
            )
            events.send(.revoked(id: id))
        }
        return isKnown
    }

    private func storeRevocation(of id: String, by origin: String) async throws(CompanionHostError) -> Bool {
        let now = clock.now()
        return try await devices.storeRevocation(of: id) { database in
            let detail: JSONValue = ["by": .string(origin)]
            try AuditLog.append(.revoked, device: id, detail: detail, at: now, in: database)
        }
    }

    /// Stores the revocations that the database has not taken so far, every now and then until the host ends.
    func run() async {
        await cancelWhenGracefulShutdown {
            var deadline = self.clock.now()
            while true {
                deadline = max(deadline.addingTimeInterval(Self.retryInterval), self.clock.now())
                guard (try? await self.clock.sleepUntil(deadline)) != nil else { return }
                await self.storeLeftovers()
            }
        }
        // The last chance.
        await storeLeftovers()
    }

    private func storeLeftovers() async {
        for device in devices.devicesRevokedInMemory() {
            guard (try? await storeRevocation(of: device.id, by: "host")) == true else { continue }
            logger.info("device revoked", metadata: .event("auth", outcome: "revoked", device: device.id))
            events.send(.revoked(id: device.id))
        }
    }

    /// Ends the streams and sockets of a device's sessions, and the turns that it may not have any more.
    private func cutOff(_ id: String) {
        revocations.end(id)
        endTurns()
    }

    /// Ends the sessions and streams of a device of v2, which stays paired.
    ///
    /// - Throws: ``CompanionHostError``: the sessions have ended, and a restart would bring them back.
    func disconnect(_ device: AuthenticatedDevice) async throws {
        let start = ContinuousClock.now
        sessions.drop(device.id)
        revocations.end(device.id)
        try await devices.database.write(durably: true) { database in
            try SessionStore.removeAll(of: device.id, in: database)
        } committed: { [sessions] in
            sessions.drop(device.id)
        }
        revocations.end(device.id)
        logger.info(
            "device disconnected",
            metadata: .event("auth", outcome: "disconnected", latency: .now - start, device: device.id)
        )
        if let known = devices.device(id: device.id) { events.send(.disconnected(known.companionDevice)) }
    }

    /// Ends the connection of the device of v1, which stays listed. Without one it is no error.
    ///
    /// - Throws: ``CompanionHostError``: nobody is connected, and a restart would bring the device back.
    func disconnect() async throws {
        let device = devices.endConnection()
        endTurns()
        if let device { revocations.end(device.id) }
        try await devices.storeDisconnection()
        guard let device else { return }
        logger.info("device disconnected", metadata: .event("auth", outcome: "disconnected", device: device.id))
        events.send(.disconnected(device))
    }

    /// Replaces the rungs by which a device may come, from its next request on. Its streams end and are asked for again.
    ///
    /// - Parameter rungs: Empty for all.
    /// - Returns: Whether there is such a device.
    /// - Throws: ``CompanionHostError`` if it cannot be stored; nothing is changed then.
    package func setRungs(_ rungs: [HostRoute.Rung], of id: String) async throws -> Bool {
        guard rungs.isEmpty || devices.device(id: id)?.protocolVersion ?? 2 >= 2 else {
            throw HostError(.requestInvalid, "A device of protocol 1 comes directly only")
        }
        let now = clock.now()
        let detail: JSONValue = ["via": .array(rungs.map { .string($0.rawValue) })]
        let isKnown = try await devices.setRungs(rungs.isEmpty ? nil : rungs, of: id) { database in
            try AuditLog.append(.permissionsChanged, device: id, detail: detail, at: now, in: database)
        }
        guard isKnown else { return false }
        revocations.end(id)
        if !rungs.isEmpty, !rungs.contains(.relay), let relayID = devices.device(id: id)?.relayID { endCalls(relayID) }
        return true
    }

    /// Replaces the permissions of a device, from its next request on. Turns that it may not have any more end.
    ///
    /// - Returns: Whether there is such a device.
    /// - Throws: ``HostError`` with `host.storage_failed`: permissions that were removed stay so until a restart, and
    ///   none were added.
    package func setPermissions(_ permissions: [CompanionPermission], of id: String) async throws -> Bool {
        let start = ContinuousClock.now
        let now = clock.now()
        let old = devices.device(id: id)?.granted ?? []
        let detail: JSONValue = [
            "from": .array(old.map { .string($0.rawValue) }), "to": .array(permissions.map { .string($0.rawValue) }),
        ]
        devices.withdraw(allBut: permissions, of: id)
        endTurns()
        let known: Bool
        do {
            known = try await devices.setPermissions(permissions, of: id) { database in
                try AuditLog.append(.permissionsChanged, device: id, detail: detail, at: now, in: database)
            }
        } catch {
            logger.error(
                "permissions not stored",
                metadata: .failure(error, code: .hostStorageFailed, ["device": "\(id)"])
            )
            throw HostError.notStored(
                "The permissions are removed until the host restarts, but the change could not be stored: its disk may be full"
            )
        }
        guard known else { return false }
        endTurns()
        logger.info(
            "permissions changed",
            metadata: .event("auth", outcome: "changed", latency: .now - start, device: id)
        )
        events.send(.permissionsChanged(id: id, permissions: permissions.map(\.rawValue)))
        return true
    }
}
