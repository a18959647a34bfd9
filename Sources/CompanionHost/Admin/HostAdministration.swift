package import CompanionWire
import FoundationEssentials

/// What somebody at the host may ask and do: for whatever only the owner of the host's files can reach.
package struct HostAdministration: Sendable {
    /// What the host is and how pairing stands.
    package struct Status: Sendable, Hashable {
        package var identity: HostIdentity
        /// nil until the host listens.
        package var port: Int?
        package var tlsPort: Int?
        package var legacy: Bool
        package var lan: Bool
        package var pairing: CompanionPairingService.State
        package var devices: Int
    }

    let identity: HostIdentity
    let legacy: Bool
    let lan: Bool
    let pairing: CompanionPairingService
    let control: DeviceControl
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

    package func status() async -> Status {
        let ports = ports()
        return Status(
            identity: identity,
            port: ports?.plain,
            tlsPort: ports?.secure,
            legacy: legacy,
            lan: lan,
            pairing: await pairing.state,
            devices: devices().count
        )
    }
}

/// Where a host listens.
package struct HostPorts: Sendable, Hashable {
    /// Plain HTTP.
    package var plain: Int
    /// HTTPS.
    package var secure: Int

    package init(plain: Int, secure: Int) {
        self.plain = plain
        self.secure = secure
    }
}
