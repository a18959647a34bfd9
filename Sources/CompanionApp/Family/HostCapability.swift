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

    static func can(_ capability: String, _ text: String, _ command: String, _ note: String? = nil) -> HostCapability {
        HostCapability(capability: capability, text: text, available: true, command: "pairtool \(command)", note: note)
    }

    static func cannot(_ capability: String, _ text: String, _ why: String) -> HostCapability {
        HostCapability(capability: capability, text: text, available: false, command: nil, note: why)
    }
}

/// The additions of a family to the capabilities that follow from its clients' types.
package struct FamilyCapabilities: Sendable {
    /// Notes on the general capabilities, by word.
    var notes: [String: String] = [:]
    /// Reasons why a host lacks a capability, by word. Also for capabilities that the client's type has but the host's
    /// generation lacks.
    var reasons: [String: String] = [:]
    /// Why a host has none of the capabilities without a reason of their own. Default: hosts of the family do not offer
    /// it.
    var otherwise: String?
    /// The family's own commands for general capabilities, without `pairtool`, by the capability's word.
    var commands: [String: String] = [:]
    /// Capabilities that only this family has.
    package var own: [HostCapability] = []
}

extension HostCapability {
    /// A capability that hosts of any family may have.
    private struct General: Sendable {
        var word: String
        var text: String
        var command: String
        /// Whether a client of this type offers it.
        var isOffered: @Sendable (Any.Type) -> Bool

        init(_ word: String, _ text: String, _ command: String, _ isOffered: @escaping @Sendable (Any.Type) -> Bool) {
            (self.word, self.text, self.command, self.isOffered) = (word, text, command, isOffered)
        }
    }

    private static func general(_ family: any Family) -> [General] {
        [
            General("projects", "list projects", "projects") { $0 is any ProjectBrowsing.Type },
            General("chats", "list chats", "chats") { $0 is any ProjectBrowsing.Type },
            General("messages", "show messages", "messages") { $0 is any ChatBrowsing.Type },
            General("search", "search messages", "search") { $0 is any ChatBrowsing.Type },
            General("prompts", "answer prompts", "send") { $0 is any TurnRunning.Type },
            General("outbox", "queue prompts while it is off", "outbox") {
                family.queuing != .none && $0 is any TurnRunning.Type
            },
            General("models", "offer a choice of models", "models") { $0 is any ModelListing.Type },
            General("devices", "list and revoke devices", "devices") { $0 is any DeviceManaging.Type },
            General("disconnect", "disconnect this device", "disconnect") { $0 is any DeviceManaging.Type },
            General("events", "report events", "watch") { $0 is any EventReporting.Type },
            General("create", "create projects, chats and sessions", "new") { $0 is any ProjectCreating.Type },
            General("changes", "show what the agent has changed", "changes") { $0 is any ChangeReporting.Type },
            General("worktrees", "list and remove worktrees", "sessions") { $0 is any ChangeReporting.Type },
            General("cancel", "cancel a running turn", "cancel") { $0 is any TurnCancelling.Type },
        ]
    }

    private static let approvals = General("approvals", "ask for approvals", "approvals") {
        $0 is any ApprovalDeciding.Type
    }

    /// A host's capabilities, from the types of its family's clients and from what is known of its generation.
    ///
    /// - Parameter health: The host's report of its state; nil if it does not answer, or was not asked.
    package static func all(of host: PairedHost, health: HostHealth?) -> [HostCapability] {
        let family = host.family.behavior
        let clients = family.clients(of: host)
        let words = family.capabilities(of: host, health: health)
        let none = words.otherwise ?? "\(host.family.displayName) hosts do not offer it"
        func row(_ general: General) -> HostCapability {
            guard clients.contains(where: general.isOffered), words.reasons[general.word] == nil else {
                return cannot(general.word, general.text, words.reasons[general.word] ?? none)
            }
            let command = words.commands[general.word] ?? general.command
            return can(general.word, general.text, command, words.notes[general.word])
        }
        return [can("health", "report its state", words.commands["health"] ?? "status")] + general(family).map(row)
            + words.own + [row(approvals)]
    }
}
