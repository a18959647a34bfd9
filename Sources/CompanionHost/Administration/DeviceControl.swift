package import CompanionWire
import FoundationEssentials
import Logging

/// Changes of what paired devices may do, with everything that follows from them: their sessions, streams and turns
/// end at once (companion-v2, Revocation).
package struct DeviceControl: Sendable {
    let devices: CompanionDeviceStore
    let sessions: SessionStore
    let revocations: RevocationCenter
    let turns: TurnRunner
    let clock: HostClock
    let events: HostEventSink
    let logger: Logger

    /// Takes a device's access away for good; it can only come back by a new pairing.
    ///
    /// - Parameter origin: Who did it, for the audit: `host`, the device's own id, or the address of somebody who
    ///   speaks v1.
    /// - Returns: Whether there was such a device.
    @discardableResult
    package func revoke(_ id: String, by origin: String) async throws -> Bool {
        let start = ContinuousClock.now
        let now = clock.now()
        let removal = try await devices.revoke(id: id) { database in
            let detail: JSONValue = ["by": .string(origin)]
            try AuditLog.append(.revoked, device: id, detail: detail, at: now, in: database)
        }
        revocations.end(id)
        turns.endTurnsOfOthers()
        if let device = removal.disconnected { events.send(.disconnected(device)) }
        if removal.known {
            logger.info(
                "device revoked",
                metadata: .event("auth", outcome: "revoked", latency: .now - start, device: id)
            )
            events.send(.revoked(id: id))
        }
        return removal.known
    }

    /// Ends the sessions and streams of a device of v2, which stays paired.
    func disconnect(_ device: AuthenticatedDevice) async throws {
        let start = ContinuousClock.now
        try await devices.database.write { database in
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

    /// Changes what a device may do, from the next request on; turns that it may not have any more end.
    ///
    /// - Returns: Whether there is such a device.
    package func setPermissions(_ permissions: [CompanionPermission], of id: String) async throws -> Bool {
        let start = ContinuousClock.now
        let now = clock.now()
        let old = devices.device(id: id)?.permissions ?? CompanionPermission.all
        let detail: JSONValue = [
            "from": .array(old.map { .string($0.rawValue) }), "to": .array(permissions.map { .string($0.rawValue) }),
        ]
        let known = try await devices.setPermissions(permissions, of: id) { database in
            try AuditLog.append(.permissionsChanged, device: id, detail: detail, at: now, in: database)
        }
        guard known else { return false }
        turns.endTurnsOfOthers()
        logger.info(
            "permissions changed",
            metadata: .event("auth", outcome: "changed", latency: .now - start, device: id)
        )
        events.send(.permissionsChanged(id: id, permissions: permissions.map(\.rawValue)))
        return true
    }
}
