package import CompanionClient
package import CompanionWire
package import Discovery
package import Identity
import LocalState

/// Facts that are the same for all hosts of a family.
package struct FamilyFacts: Sendable {
    package var name: HostFamily
    /// The default port of its hosts.
    package var usualPort: Int
    /// The command that pairs with one of its hosts.
    package var pairCommand: String
    /// The first command to try with a paired host.
    package var firstCommand: String
    /// The kinds of code that a device can present to pair.
    package var codes: Set<PairingCodeKind>
    /// Whether its hosts can prove their identity.
    package var canBeVerified = false
    /// Whether legacy hosts speak HTTP rather than a protocol of their own over TCP.
    package var speaksHTTP = true
    /// Whether prompts for its hosts can wait on this machine.
    package var queuing = PromptQueuing.none
    /// Whether its agents ask nobody but who sent the prompt, so that open questions are in no list of the host.
    package var asksSenderOnly = false
    /// Whether its hosts can have a second base URL.
    package var takesSecondURL = false
    /// Whether the user is asked once about the TLS key of a host that has one, because nothing else proves it.
    package var confirmsKey = false
    /// Whether a host's report of its state names its generation, which decides about its capabilities.
    package var reportsGeneration = false
    /// Whether a paired host that moved is looked for on the network. If not, it is contacted only where it was paired.
    package var isFollowed = false
    /// The files that are kept for its hosts, besides their records and outboxes; nil for none.
    package var files: FamilyFiles?
    /// The prompts that wait for a host. Default: in a file of its own.
    var outbox: @Sendable (_ host: PairedHost, _ paths: Paths) -> OutboxStore = { host, paths in
        // The id may come from the host: its hash is safe in a path.
        OutboxStore(path: "\(paths.data)/outbox/\(DeviceIdentity.shortHash(host.id)).json")
    }

    /// The services that its hosts advertise; none if they do not advertise themselves.
    package var serviceTypes: [ServiceType] { ServiceType.all.filter { $0.family == name } }

    /// Whether its hosts advertise themselves by mDNS.
    package var isAdvertised: Bool { !serviceTypes.isEmpty }

    /// The services under which a paired host that moved is looked for.
    package var followedTypes: [ServiceType] { isFollowed ? serviceTypes : [] }

    /// How legacy hosts are spoken to, as text for users.
    package var legacyTransport: String { speaksHTTP ? "plain HTTP" : "no encryption" }
}

extension PairedHost {
    /// The prompts that wait for this host.
    package func outbox(_ environment: AppEnvironment) -> OutboxStore {
        family.behavior.facts.outbox(self, environment.paths)
    }
}
