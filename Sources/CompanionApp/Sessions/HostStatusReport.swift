package import CompanionClient
package import CompanionWire
package import FoundationEssentials
package import Identity
package import PairingAgent

/// The state of a host, as this device sees it.
package struct HostStatusReport: Encodable, Equatable, Sendable {
    /// The host's id.
    package var id: String
    /// Its name here.
    package var name: String
    /// The kind of the host.
    package var family: HostFamily
    /// How it has proven its identity.
    package var trust: HostTrust
    /// True if the connection uses TLS with a key that was trusted at pairing without proof; else absent.
    package var tls: Bool?
    /// The address that was asked. For a Jarvis daemon: the base URL in use.
    package var address: String
    /// The rung on which it was asked.
    package var via: HostRoute.Rung
    /// Whether it has answered.
    package var reachable: Bool
    /// The name of its program; absent if it does not report it.
    package var service: String?
    /// Its program's version; absent if it does not report it.
    package var version: String?
    /// The generation of its family; absent if the host does not report it.
    package var generation: String?
    /// Whether the assistant's account is signed in on the host, or its program answers there.
    package var signedIn: Bool?
    /// Whether this device is connected, or its token accepted. True where hosts of the family know neither.
    package var connected: Bool
    /// The one device that a host of protocol v1 is connected to.
    package var connectedDevice: ConnectedCompanionDevice?
    /// The name under which the host lists this device; verified hosts only.
    package var deviceName: String?
    /// The host's clock minus this machine's, in seconds.
    package var clockOffsetSeconds: Int64?
    /// Why it was not reached, or does not work; absent if all is well.
    package var problem: String?
    /// The permissions of this device besides reading; verified hosts only.
    package var permissions: [CompanionPermission]?
    /// When this device's access ends; absent if it does not.
    package var expiresAt: Date?
    /// The abilities of hosts of its family, and this one's generation where that is known.
    package var capabilities: [HostCapability]

    /// The report of a host that was not reached.
    package init(_ host: PairedHost, problem: String? = nil) {
        id = host.id
        name = host.name
        family = host.family
        trust = host.trust
        tls = host.trust == .legacy && host.spki != nil ? true : nil
        address = host.place
        via = host.rung
        reachable = false
        connected = false
        self.problem = problem
        capabilities = HostCapability.all(of: host, health: nil)
    }

    /// The report of a host that has answered.
    package init(_ host: PairedHost, health: HostHealth) {
        self.init(host, problem: health.trouble)
        address = health.place
        reachable = true
        service = health.service
        version = health.version
        generation = health.generation
        signedIn = health.assistant?.works
        clockOffsetSeconds = health.clockOffset?.components.seconds
        connected = health.standing?.isConnected ?? true
        connectedDevice = health.standing?.connectedDevice
        deviceName = health.standing?.deviceName
        permissions = health.standing?.permissions
        expiresAt = health.standing?.expiresAt
        capabilities = HostCapability.all(of: host, health: health)
    }

    /// Why the host cannot be used now.
    package func failure(_ health: HostHealth) -> AppError? {
        if !connected {
            return AppError(
                .notPaired,
                "host.not_paired",
                family.behavior.facts.codes.contains(.token)
                    ? "\(name) no longer accepts this device's token" : "\(name) is not connected to this device",
                next: family.behavior.facts.codes.contains(.token)
                    ? "look up the token at the host, then: "
                        + family.pairCommand(at: "\(tls == true ? "https" : "http")://\(address)")
                    : "pairtool pair"
            )
        }
        if let trouble = health.trouble {
            return AppError(.hostUnavailable, "host.not_well", "\(name) reports a problem: \(trouble)")
        }
        return switch health.assistant {
        case .account(false):
            AppError(
                .hostUnavailable,
                "host.host_signed_out",
                "the assistant's account is not signed in on \(name)",
                next: "sign in to the assistant on the host"
            )
        case .program(false):
            AppError(
                .hostUnavailable,
                "host.no_assistant",
                "the assistant's program does not answer on \(name)",
                next: "install or start the assistant's program on \(TerminalText.line(name))."
            )
        case .account, .program, nil: nil
        }
    }

    package static func == (left: HostStatusReport, right: HostStatusReport) -> Bool {
        // Ignores the clock offset, which varies by a second, and the time of the last contact, which changes with
        // every request.
        left.reachable == right.reachable && left.connected == right.connected && left.signedIn == right.signedIn
            && left.connectedDevice?.id == right.connectedDevice?.id && left.version == right.version
            && left.problem == right.problem && left.permissions == right.permissions
            && left.expiresAt == right.expiresAt && left.address == right.address && left.via == right.via
            && left.generation == right.generation
    }
}
