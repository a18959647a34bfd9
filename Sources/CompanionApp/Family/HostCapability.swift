package import CompanionClient
import CompanionWire
package import Identity

/// A capability that a host has or lacks, and the command for it. The words in `capability` are stable, for scripts.
package struct HostCapability: Encodable, Sendable, Hashable {
    package var capability: String
    /// The description for users.
    package var text: String
    package var available: Bool
    /// Such as `pairtool send`; absent if the capability is not available.
    package var command: String?
    /// Why it is not available, or a note about it.
    package var note: String?

    static func can(_ capability: String, text: String, command: String, note: String? = nil) -> HostCapability {
        HostCapability(capability: capability, text: text, available: true, command: "pairtool \(command)", note: note)
    }

    static func cannot(_ capability: String, text: String, why: String) -> HostCapability {
        HostCapability(capability: capability, text: text, available: false, command: nil, note: why)
    }
}

/// The capabilities that hosts of any family may have. The raw values are the words of `status --json`.
package enum Capability: String, Sendable {
    case health, projects, chats, messages, search, prompts, outbox, models, devices, disconnect, events, create,
        changes
    case worktrees, cancel, approvals

    /// Those of every host that has chats.
    package static let browsing: Set<Capability> = [.projects, .chats, .messages, .search, .prompts]
}

/// The capabilities of a host, in its family's words.
package struct FamilyCapabilities: Sendable {
    /// Those that its clients offer.
    package var offered: Set<Capability>
    var notes: [Capability: String] = [:]
    /// Why it lacks a capability. Also for those that are offered, but that the host's generation lacks.
    var reasons: [Capability: String] = [:]
    /// Why a host has none of the capabilities without a reason of their own. Default: hosts of the family do not offer
    /// it.
    var otherwise: String?
    /// The family's own commands for general capabilities, without `pairtool`.
    var commands: [Capability: String] = [:]
    /// Capabilities that only this family has.
    package var own: [HostCapability] = []
}

extension HostCapability {
    /// The capabilities that hosts of any family may have, each as text for users and with its command.
    private static let general: [(capability: Capability, text: String, command: String)] = [
        (.projects, "list projects", "projects"),
        (.chats, "list chats", "chats"),
        (.messages, "show messages", "messages"),
        (.search, "search messages", "search"),
        (.prompts, "answer prompts", "send"),
        (.outbox, "queue prompts while it is off", "outbox"),
        (.models, "offer a choice of models", "models"),
        (.devices, "list and revoke devices", "devices"),
        (.disconnect, "disconnect this device", "disconnect"),
        (.events, "report events", "watch"),
        (.create, "create projects and chats", "chats new"),
        (.changes, "show what the agent has changed", "changes"),
        (.worktrees, "list and remove worktrees", "worktrees"),
        (.cancel, "cancel a running turn", "chats cancel"),
    ]

    /// A host's capabilities, from what its family offers and from what is known of its generation.
    ///
    /// - Parameter health: The host's report of its state; nil if it does not answer, or was not asked.
    package static func all(of host: PairedHost, health: HostHealth?) -> [HostCapability] {
        let family = host.family.behavior.capabilities(of: host, health: health)
        let none = family.otherwise ?? "\(host.family.displayName) hosts do not offer it"
        func row(_ capability: Capability, text: String, command: String) -> HostCapability {
            guard family.offered.contains(capability), family.reasons[capability] == nil else {
                return cannot(capability.rawValue, text: text, why: family.reasons[capability] ?? none)
            }
            return can(
                capability.rawValue,
                text: text,
                command: family.commands[capability] ?? command,
                note: family.notes[capability]
            )
        }
        return [can("health", text: "report its state", command: family.commands[.health] ?? "status")]
            + general.map { row($0.capability, text: $0.text, command: $0.command) } + family.own
            + [row(.approvals, text: "ask for approvals", command: "approvals")]
    }
}

extension PairedHost {
    /// Whether hosts of its kind have a capability, whatever this one's generation is.
    package func offers(_ capability: Capability) -> Bool {
        capability == .health || family.behavior.capabilities(of: self, health: nil).offered.contains(capability)
    }
}
