import CompanionClient
import CompanionWire
import FoundationEssentials

/// The state of a host and of this device's access to it, as far as the host can be asked without disturbing its user:
/// a `ping` would open a window on a Lumi Mac.
struct HostHealth: Sendable {
    /// The service that answers; nil if it does not name itself.
    var service: String?
    var version: String?
    /// The address at which it answers.
    var place: String
    /// Whether the service is not a host of the family.
    var isForeign = false
    /// What is wrong with the host, as text for users. Usually the host's own words.
    var trouble: String?
    /// The host's generation within its family, if it tells.
    var generation: String?
    /// What its assistant needs; nil if pairtool does not ask hosts of the family.
    var assistant: Assistant?
    /// What hosts of its generation cannot do, as text for users.
    var limits: String?
    /// This device's access to the host; nil if the host was not asked.
    var standing: Standing?
    /// The versions of the family's protocol that the host speaks; nil if the protocol has only one.
    var protocolVersions: [Int]?
    /// The host's clock minus ours; nil if the host does not send its time.
    var clockOffset: Duration?

    /// What a host's assistant needs to work, and whether it is there; nil if the host does not tell.
    enum Assistant: Sendable, Hashable {
        case account(isSignedIn: Bool?)
        case program(answers: Bool?)

        var works: Bool? {
            switch self {
            case .account(let works), .program(let works): works
            }
        }
    }

    /// This device's access to a host.
    struct Standing: Sendable {
        /// Whether the host accepts this device.
        var isConnected: Bool
        /// The device that is connected, on hosts that allow only one; else this device.
        var connectedDevice: ConnectedCompanionDevice?
        /// What the host calls this device.
        var deviceName: String?
        /// The permissions besides reading; nil if the host has no permissions.
        var permissions: [CompanionPermission]?
        /// When this device's access ends.
        var expiresAt: Date?
        /// Why the host could not be asked.
        var failure: CompanionClientError?
    }
}

extension HostSecurity {
    /// For a question without secrets. Any TLS key will do: nothing proves whose it is.
    static func unproven(
        at endpoint: CompanionEndpoint,
        speaksTLS: Bool,
        _ configuration: CompanionClientConfiguration
    ) async throws -> HostSecurity {
        guard speaksTLS else { return .plain }
        return .pinned(try await PinnedTLS.certificate(of: endpoint, expecting: nil, configuration: configuration))
    }
}
