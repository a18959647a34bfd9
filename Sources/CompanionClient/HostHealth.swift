package import CompanionWire
package import FoundationEssentials

/// The state of a host and of this device's access to it, as far as the host can be asked without disturbing its user:
/// a `ping` would open a window on a Lumi Mac.
package struct HostHealth: Sendable {
    /// The service that answers; nil if it does not name itself.
    package var service: String?
    /// The version of the service, if it tells.
    package var version: String?
    /// The address at which it answers.
    package var place: String
    /// Whether the service is not a host of the family.
    package var isForeign = false
    /// The problem with the host, as text for users; nil if none is known. Usually the host's own words.
    package var trouble: String?
    /// The host's generation within its family, if it tells.
    package var generation: String?
    /// The requirement of the host's assistant, and whether it is met; nil if pairtool does not ask hosts of the
    /// family.
    package var assistant: Assistant?
    /// The limitations of hosts of its generation, as text for users; nil if there are none.
    package var limits: String?
    /// This device's access to the host; nil if the host was not asked.
    package var standing: Standing?
    /// The versions of the family's protocol that the host speaks; nil if the protocol has only one.
    package var protocolVersions: [Int]?
    /// The host's clock minus ours; nil if the host does not send its time.
    package var clockOffset: Duration?

    package init(
        service: String? = nil,
        version: String? = nil,
        place: String,
        isForeign: Bool = false,
        trouble: String? = nil,
        generation: String? = nil,
        assistant: Assistant? = nil,
        limits: String? = nil,
        protocolVersions: [Int]? = nil
    ) {
        self.service = service
        self.version = version
        self.place = place
        self.isForeign = isForeign
        self.trouble = trouble
        self.generation = generation
        self.assistant = assistant
        self.limits = limits
        self.protocolVersions = protocolVersions
    }

    /// The requirement of a host's assistant, with a value that is nil if the host does not tell whether it is met.
    package enum Assistant: Sendable, Hashable {
        /// The host has to be signed in to an account.
        case account(isSignedIn: Bool?)
        /// A program on the host has to answer.
        case program(answers: Bool?)

        /// Whether the requirement is met; nil if the host does not tell.
        package var works: Bool? {
            switch self {
            case .account(let works), .program(let works): works
            }
        }
    }

    /// This device's access to a host.
    package struct Standing: Sendable {
        /// Whether the host accepts this device.
        package var isConnected: Bool
        /// The device that is connected, on hosts that allow only one; else this device.
        package var connectedDevice: ConnectedCompanionDevice?
        /// The name of this device at the host.
        package var deviceName: String?
        /// The permissions besides reading; nil if the host has no permissions.
        package var permissions: [CompanionPermission]?
        /// When this device's access ends.
        package var expiresAt: Date?
        /// Why the host could not be asked.
        package var failure: CompanionClientError?

        package init(
            isConnected: Bool,
            connectedDevice: ConnectedCompanionDevice? = nil,
            deviceName: String? = nil,
            permissions: [CompanionPermission]? = nil,
            expiresAt: Date? = nil,
            failure: CompanionClientError? = nil
        ) {
            self.isConnected = isConnected
            self.connectedDevice = connectedDevice
            self.deviceName = deviceName
            self.permissions = permissions
            self.expiresAt = expiresAt
            self.failure = failure
        }
    }
}

extension HostSecurity {
    /// For a question without secrets. Any TLS key will do: nothing proves whose it is.
    package static func unproven(
        at endpoint: CompanionEndpoint,
        speaksTLS: Bool,
        configuration: CompanionClientConfiguration
    ) async throws -> HostSecurity {
        guard speaksTLS else { return .plain }
        return .pinned(try await PinnedTLS.certificate(of: endpoint, expecting: nil, configuration: configuration))
    }
}
