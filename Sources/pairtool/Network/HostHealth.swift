import CompanionClient
import CompanionWire
import FoundationEssentials

/// How a host is, and how this device stands with it, as far as could be asked without disturbing anybody: a `ping`
/// would open a window on a Lumi Mac.
struct HostHealth: Sendable {
    /// What answers; nil if nothing says so.
    var service: String?
    var version: String?
    /// Where it answers.
    var place: String
    /// Whether something else than a host of the family answers.
    var isForeign = false
    /// What is not well with it, for people. The host's word, as a rule.
    var trouble: String?
    /// The generation of its family, if it says so.
    var generation: String?
    /// Whether its assistant can work; nil if the host does not say.
    var hasAssistant: Bool?
    /// What hosts of its generation cannot do, for people.
    var limits: String?
    /// How this device stands with it; nil if that was not asked.
    var standing: Standing?
    /// The versions of the family's protocol that it speaks; nil where there is one only.
    var protocolVersions: [Int]?
    /// The host's clock minus ours; nil where it does not give its time.
    var clockOffset: Duration?

    /// How this device stands with a host.
    struct Standing: Sendable {
        /// Whether the host lets this device in.
        var isConnected: Bool
        /// Which device has the place of the only one, or this one's.
        var connectedDevice: ConnectedCompanionDevice?
        /// What the host calls this device.
        var deviceName: String?
        /// What this device may do besides reading; nil where there are no permissions.
        var permissions: [CompanionPermission]?
        /// When this device's access ends.
        var expiresAt: Date?
        /// Why it could not be asked.
        var failure: CompanionClientError?
    }
}
