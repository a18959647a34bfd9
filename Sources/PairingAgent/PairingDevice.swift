package import CompanionClient
package import CompanionWire
package import FoundationEssentials
package import Identity
package import Logging

/// This device, as it pairs with hosts and records them.
package struct PairingDevice: Sendable {
    package let identity: DeviceIdentity
    /// The name for this device in a host's list.
    package let name: String
    /// The tool's data directory, with the records.
    let data: String
    /// The settings of tunnels to hosts.
    package let tunnels: Tunnel.Settings
    /// This machine's clock.
    let now: @Sendable () -> Date
    /// Makes the logger of a client, by its label.
    let logger: @Sendable (String) -> Logger

    /// - Parameters:
    ///   - name: The name for this device in a host's list.
    ///   - data: The tool's data directory, with the records.
    ///   - tunnels: The settings of tunnels to hosts.
    ///   - now: This machine's clock.
    ///   - logger: Makes the logger of a client, by its label.
    package init(
        identity: DeviceIdentity,
        name: String,
        data: String,
        tunnels: Tunnel.Settings,
        now: @escaping @Sendable () -> Date,
        logger: @escaping @Sendable (String) -> Logger
    ) {
        self.identity = identity
        self.name = name
        self.data = data
        self.tunnels = tunnels
        self.now = now
        self.logger = logger
    }

    /// Stores the record of a host.
    ///
    /// - Parameters:
    ///   - deviceName: The name under which the host lists this device. Default: this device's name.
    ///   - clockOffset: The host's clock minus ours; nil if it is not known.
    ///   - earlier: The record that the new one replaces.
    /// - Throws: ``PairingError`` if the host claims the id of a host of another family; `RecordFileError`.
    func store(
        _ new: PairedHost,
        as deviceName: String? = nil,
        clockOffset: Duration? = nil,
        replacing earlier: (PairedHosts) throws -> PairedHost?
    ) throws -> PairingOutcome {
        let (host, usual) = try PairedHostStore(directory: data).update { hosts in
            var host = new
            if let earlier = try earlier(hosts) {
                host.name = earlier.name
                if host.id == earlier.id { host.keepRoutes(of: earlier) }
                if host.trust == .legacy { host.id = earlier.id }
                if host.id != earlier.id {
                    let wasDefault = hosts.defaultID == earlier.id
                    hosts.forget(earlier.id)
                    if wasDefault { hosts.defaultID = host.id }
                }
            }
            // A host that claims the id of a host of another family must not replace it.
            if let other = hosts.hosts.first(where: { $0.id == host.id && $0.family != host.family }) {
                throw PairingError(
                    .verifiedHost,
                    "the host \(host.name) claims the id of the \(other.family.displayName) host \(other.name); nothing was changed"
                )
            }
            if hosts.hosts.contains(where: { $0.id != host.id && $0.name == host.name }) {
                host.name += " \(host.id.prefix(4))"
            }
            hosts.record(host)
            return (host, hosts.defaultHost)
        }
        return PairingOutcome(host: host, usual: usual, deviceName: deviceName ?? name, clockOffset: clockOffset)
    }
}

/// The result of a pairing.
package struct PairingOutcome: Sendable {
    /// The host as it is recorded now.
    package var host: PairedHost
    /// The host that commands use if the user names none; nil if there is none.
    package var usual: PairedHost?
    /// The name under which the host lists this device.
    package var deviceName: String
    /// The host's clock minus ours; nil if it is not known.
    package var clockOffset: Duration?
    /// The permissions that the host granted, if they are not the requested ones.
    package var lessAllowed: [CompanionPermission]?
    /// Other information for users, one text per item.
    package var notes: [String] = []

    /// Whether commands use this host if the user names none.
    package var isDefault: Bool { usual?.id == host.id }
}
