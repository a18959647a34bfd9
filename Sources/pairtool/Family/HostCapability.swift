import CompanionClient
import CompanionWire
import PairingAgent

/// Something that a host can do, or cannot, and the command for it. The words are stable, for scripts.
struct HostCapability: Encodable, Sendable, Hashable {
    var capability: String
    /// What it is, for people.
    var text: String
    var available: Bool
    /// Such as `pairtool send`; absent if it is not available.
    var command: String?
    /// Why it is not available, or what to know about it.
    var note: String?

    static func can(_ capability: String, _ text: String, _ command: String, _ note: String? = nil) -> HostCapability {
        HostCapability(capability: capability, text: text, available: true, command: "pairtool \(command)", note: note)
    }

    static func cannot(_ capability: String, _ text: String, _ why: String) -> HostCapability {
        HostCapability(capability: capability, text: text, available: false, command: nil, note: why)
    }
}

/// What a family says of its hosts' capabilities besides what their clients conform to.
struct FamilyCapabilities: Sendable {
    /// What to know of a capability that all families may have, by its word.
    var notes: [String: String] = [:]
    /// Why a host has no such capability, by its word; of one that its clients conform to, that its generation has none.
    var reasons: [String: String] = [:]
    /// Why a host has none of the capabilities without a reason of their own. Default: hosts of the family do not offer
    /// it.
    var otherwise: String?
    /// Where the command for a capability is the family's own, by its word.
    var commands: [String: String] = [:]
    /// What hosts of other families do not have.
    var own: [HostCapability] = []
}

extension HostCapability {
    /// What a host of any family may be able to do.
    private struct General: Sendable {
        var word: String
        var text: String
        var command: String
        /// Whether a client of this type can do it.
        var isOffered: @Sendable (Any.Type) -> Bool

        init(_ word: String, _ text: String, _ command: String, _ isOffered: @escaping @Sendable (Any.Type) -> Bool) {
            (self.word, self.text, self.command, self.isOffered) = (word, text, command, isOffered)
        }
    }

    private static let general = [
        General("projects", "list projects", "projects") { $0 is any ProjectBrowsing.Type },
        General("chats", "list chats", "chats") { $0 is any ProjectBrowsing.Type },
        General("messages", "show messages", "messages") { $0 is any ChatBrowsing.Type },
        General("prompts", "answer prompts", "send") { $0 is any TurnRunning.Type },
        General("models", "offer a choice of models", "models") { $0 is any ModelListing.Type },
        General("devices", "list and revoke devices", "devices") { $0 is any DeviceManaging.Type },
        General("disconnect", "disconnect this device", "disconnect") { $0 is any DeviceManaging.Type },
        General("events", "report events", "watch") { $0 is any EventReporting.Type },
        General("create", "create projects, chats and sessions", "new") { $0 is SignedCommands.Type },
        General("cancel", "cancel a running turn", "cancel") { $0 is SignedCommands.Type },
    ]

    /// What a host can do: by what the clients of its family conform to, and by what is known of its generation.
    ///
    /// - Parameter health: What the host says of itself; nil if it does not answer, or was not asked.
    static func all(of host: PairedHost, health: HostHealth?) -> [HostCapability] {
        let family = host.family.ways
        let clients = family.clients(of: host)
        let words = family.capabilities(of: host, health: health)
        let none = words.otherwise ?? "\(host.family.displayName) hosts do not offer it"
        let rows = general.map { general in
            guard clients.contains(where: general.isOffered), words.reasons[general.word] == nil else {
                return cannot(general.word, general.text, words.reasons[general.word] ?? none)
            }
            let command = words.commands[general.word] ?? general.command
            return can(general.word, general.text, command, words.notes[general.word])
        }
        let approvals = cannot("approvals", "ask for approvals", "only with Jarvis daemons")
        let hasApprovals = words.own.contains { $0.capability == approvals.capability }
        return [can("health", "report its state", words.commands["health"] ?? "status")] + rows + words.own
            + (hasApprovals ? [] : [approvals])
    }
}
