package import CompanionWire
import FoundationEssentials

/// What the owner of the host may ask and do. Only interfaces that the owner alone can reach may offer it.
package struct HostAdministration: Sendable {
    let identity: HostIdentity
    let legacy: Bool
    let lan: Bool
    let pairing: CompanionPairingService
    let control: DeviceControl
    let questions: AgentQuestions
    let rules: AgentRules
    let models: [CompanionModel]
    let trouble: @Sendable () -> AgentTrouble?
    let places: AgentPlaces
    let refusals: AgentRefusals
    let ports: @Sendable () -> HostPorts?
    /// The audit, for reading.
    package let audit: AuditLog

    /// Starts a challenge in place of the running one.
    ///
    /// - Parameters:
    ///   - ttlSeconds: Clamped to 60…900; nil means 300.
    ///   - grant: What the device that uses it may get; nil means what the host was configured with.
    package func startPairing(ttlSeconds: Double?, grant: PairingGrant?) async -> PairingStartResponse {
        await pairing.start(ttlSeconds: ttlSeconds, grant: grant)
    }

    /// Opens pairing again after too many wrong codes.
    package func unlockPairing() async throws {
        try await pairing.unlock()
    }

    /// The paired devices, the one that paired last first.
    package func devices() -> [PairedDevice] {
        control.devices.devices()
    }

    /// The devices that are shut out as long as this host runs, because the database has not taken it yet.
    package func devicesRevokedInMemory() -> [PairedDevice] {
        control.devices.devicesRevokedInMemory()
    }

    /// - Returns: Whether there was such a device.
    package func revoke(_ id: String) async throws -> Bool {
        try await control.revoke(id, by: "host")
    }

    /// - Returns: Whether there is such a device.
    package func setPermissions(_ permissions: [CompanionPermission], of id: String) async throws -> Bool {
        try await control.setPermissions(permissions, of: id)
    }

    /// The state of pairing.
    package var pairingState: CompanionPairingService.State {
        get async { await pairing.state }
    }

    package func status() async -> AdminStatus {
        let ports = ports()
        let pairing = await pairingState
        return AdminStatus(
            id: identity.id,
            name: identity.name,
            port: ports?.plain,
            tlsPort: ports?.secure,
            legacy: legacy,
            lan: lan,
            devices: devices().count,
            models: models,
            trouble: trouble(),
            pairingLocked: pairing.isLocked,
            failuresInARow: pairing.failuresInARow,
            challengeExpiresAt: pairing.expiresAt,
            nextChallengeAt: pairing.nextAt,
            triesLeft: pairing.triesLeft
        )
    }
}
