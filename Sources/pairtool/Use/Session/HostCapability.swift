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

extension HostCapability {
    /// What a host can do: by its family, and by what is known of its generation.
    ///
    /// - Parameter health: What the host says of itself; nil if it does not answer, or was not asked.
    static func all(of host: PairedHost, health: FamilyHealth?) -> [HostCapability] {
        switch host.family {
        case .copilotforge: copilotForge(isVerified: host.trust == .verified)
        case .lumi: lumi
        case .aicli: aicli(limits: health?.limits)
        case .jarvis: jarvis(hasSecondURL: host.fallbackURL != nil)
        }
    }

    private static let health = can("health", "report its state", "status")
    private static let noApprovals = cannot("approvals", "ask for approvals", "only with Jarvis daemons")

    private static func copilotForge(isVerified: Bool) -> [HostCapability] {
        let old = "needs protocol 2: update the host, then pair again"
        func signed(_ capability: String, _ text: String, _ command: String) -> HostCapability {
            isVerified ? can(capability, text, command) : cannot(capability, text, old)
        }
        return [
            health, can("projects", "list projects", "projects"), can("chats", "list chats", "chats"),
            can("messages", "show messages", "messages"), can("prompts", "answer prompts", "send"),
            can("models", "offer a choice of models", "models"), can("devices", "list and revoke devices", "devices"),
            can(
                "events",
                "report events",
                "watch",
                isVerified ? nil : "polled every few seconds (protocol 1)"
            ),
            signed("create", "create projects, chats and sessions", "new"),
            signed("cancel", "cancel a running turn", "cancel"),
            can("disconnect", "disconnect this device", "disconnect"),
            noApprovals,
        ]
    }

    /// What was pulled from the Mac is read, and agents are asked, without it.
    private static let lumi: [HostCapability] = [
        health, can("remote", "be controlled remotely", "lumi remote", "its user accepts each connection"),
        can("screenshot", "take a screenshot", "lumi remote screenshot"),
        can("sync", "share agents, conversations and automations", "lumi sync", "not with very old hosts"),
        can("agents", "list agents", "lumi agents", "as last pulled"),
        can("projects", "list projects", "projects", "as last pulled"),
        can("chats", "list chats", "chats", "as last pulled"),
        can("messages", "show messages", "messages", "as last pulled, and from this machine"),
        can("search", "search messages", "search"),
        can("prompts", "answer prompts", "send", "this machine asks the agent's provider itself"),
        can("keys", "use API keys of providers", "lumi keys set"),
        can("automations", "list automations", "lumi automations"),
        cannot("models", "offer a choice of models", "each agent has its own"), noApprovals,
    ]

    /// - Parameter limits: What the newest generation cannot do, in words; nil for the others.
    private static func aicli(limits: String?) -> [HostCapability] {
        let prompts =
            limits.map { cannot("prompts", "answer prompts", $0) } ?? can("prompts", "answer prompts", "send")
        return [
            health, can("projects", "list projects", "projects"),
            can("chats", "list chats", "chats", "one for each project"),
            can("messages", "show messages", "messages", "from this machine; the server stores none"), prompts,
            limits.map { cannot("auto", "auto mode", $0) }
                ?? can("auto", "auto mode", "chat", "--auto MODE"),
            can("sessions", "list, end and clean up sessions", "aicli sessions"),
            can("outbox", "queue prompts while it is off", "aicli outbox"),
            cannot("models", "offer a choice of models", "the server chooses"), noApprovals,
        ]
    }

    private static func jarvis(hasSecondURL: Bool) -> [HostCapability] {
        let none = "a Jarvis daemon only has approvals"
        return [
            can("health", "report its state", "jarvis health"),
            can("approvals", "ask for approvals", "approvals", hasSecondURL ? "also at a second base URL" : nil),
            cannot("projects", "list projects", none), cannot("prompts", "answer prompts", none),
        ]
    }
}
