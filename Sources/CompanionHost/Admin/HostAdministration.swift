package import CompanionWire
import FoundationEssentials
import NIOConcurrencyHelpers

/// The requests and actions of the host's owner. Only interfaces that the owner alone can reach may offer them.
package struct HostAdministration: Sendable {
    let services: HostServices
    /// The audit, for reading.
    package let audit: AuditLog

    init(_ services: HostServices) {
        self.services = services
        audit = AuditLog(database: services.database)
    }

    /// Starts a challenge in place of the running one.
    ///
    /// - Parameters:
    ///   - ttlSeconds: Clamped to 60…900; nil means 300.
    ///   - grant: The limits of the device that uses it; nil means those that the host was configured with.
    package func startPairing(ttlSeconds: Double?, grant: PairingGrant?) async -> PairingStartResponse {
        await services.pairing.start(ttlSeconds: ttlSeconds, grant: grant)
    }

    /// Unlocks pairing after too many wrong codes, forgets all that were counted, and ends a pause.
    ///
    /// - Throws: ``CompanionHostError`` if it cannot be stored; pairing stays locked then.
    package func unlockPairing() async throws {
        try await services.pairing.unlock()
    }

    /// The paired devices, the one that paired last first.
    package func devices() -> [PairedDevice] {
        services.control.devices.devices()
    }

    /// The devices whose revocation could not be stored yet: they are shut out for as long as this host runs.
    package func devicesRevokedInMemory() -> [PairedDevice] {
        services.control.devices.devicesRevokedInMemory()
    }

    /// Takes a device's access away for good (``DeviceControl/revoke(_:by:)``).
    ///
    /// - Returns: Whether there was such a device.
    /// - Throws: ``HostError`` with `host.storage_failed`: the device is shut out, and a restart would let it in.
    package func revoke(_ id: String) async throws -> Bool {
        try await services.control.revoke(id, by: "host")
    }

    /// Replaces the permissions of a device, from its next request on.
    ///
    /// - Returns: Whether there is such a device.
    /// - Throws: ``HostError`` with `host.storage_failed`: permissions that were removed stay so until a restart, and
    ///   none were added.
    package func setPermissions(_ permissions: [CompanionPermission], of id: String) async throws -> Bool {
        try await services.control.setPermissions(permissions, of: id)
    }

    /// Replaces the rungs by which a device may come (``DeviceControl/setRungs(_:of:)``).
    package func setRungs(_ rungs: [HostRoute.Rung], of id: String) async throws -> Bool {
        try await services.control.setRungs(rungs, of: id)
    }

    /// The state of pairing.
    package var pairingState: CompanionPairingService.State {
        get async { await services.pairing.state }
    }

    /// The host's identity, settings and present state.
    package func status() async -> AdminStatus {
        let ports = services.ports.withLockedValue { $0 }
        let pairing = await pairingState
        return AdminStatus(
            id: services.identity.id,
            name: services.identity.name,
            port: ports?.plain,
            tlsPort: ports?.secure,
            legacy: services.configuration.legacy,
            lan: services.configuration.lan,
            devices: devices().count,
            models: services.agent.models,
            agents: services.agent.states,
            pairingLocked: pairing.isLocked,
            failuresInARow: pairing.failuresInARow,
            challengeExpiresAt: pairing.expiresAt,
            nextChallengeAt: pairing.nextAt,
            triesLeft: pairing.triesLeft,
            notifications: services.notifier.targets,
            relays: services.relays.addresses.isEmpty ? nil : services.relays.report
        )
    }
}
