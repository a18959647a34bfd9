import CompanionWire
import PairingAgent

/// Something that a host can do, or cannot, and the command for it. The words are stable, for scripts.
struct HostCapability: Encodable, Sendable, Hashable {
    var capability: String
    /// What it is, for people.
    var text: String
    var available: Bool
    /// Such as `pairtool send`; absent where it is not available.
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
    /// - Parameter health: What the host says of itself; nil where it does not answer, or was not asked.
    static func all(of host: PairedHost, health: FamilyHealth?) -> [HostCapability] {
        switch host.family {
        case .copilotforge: copilotForge(isVerified: host.trust == .verified)
        case .lumi: lumi
        case .aicli: aicli(limits: health?.limits)
        case .jarvis: jarvis(hasSecondURL: host.fallbackURL != nil)
        }
    }

    private static let health = can("health", "say how it is", "status")
    private static let noApprovals = cannot("approvals", "have actions approved", "Jarvis daemons have these")

    private static func copilotForge(isVerified: Bool) -> [HostCapability] {
        let old = "needs protocol 2: update the host, then pair again"
        func signed(_ capability: String, _ text: String, _ command: String) -> HostCapability {
            isVerified ? can(capability, text, command) : cannot(capability, text, old)
        }
        return [
            health, can("projects", "list projects", "projects"), can("chats", "list chats", "chats"),
            can("messages", "show what was said", "messages"), can("prompts", "answer prompts", "send"),
            can("models", "offer a choice of models", "models"), can("devices", "list and revoke devices", "devices"),
            can(
                "events",
                "tell what happens",
                "watch",
                isVerified ? nil : "asked every few seconds: protocol 1 tells nothing by itself"
            ),
            signed("create", "make projects, chats and sessions", "new"),
            signed("cancel", "end an answer that runs", "cancel"),
            can("disconnect", "let go of this device", "disconnect"),
            noApprovals,
        ]
    }

    /// What was pulled from the Mac is read, and agents are asked, without it.
    private static let lumi: [HostCapability] = [
        health, can("remote", "be looked at and controlled", "remote", "its user accepts each connection"),
        can("screenshot", "give a picture of its screen", "remote screenshot"),
        can("sync", "give agents, conversations and automations", "sync", "very old hosts cannot"),
        can("agents", "list agents", "agents", "as pulled last"),
        can("projects", "list projects", "projects", "as pulled last"),
        can("chats", "list chats", "chats", "as pulled last"),
        can("messages", "show what was said", "messages", "as pulled last, and from this machine"),
        can("search", "search what was said", "search"),
        can("prompts", "answer prompts", "send", "this machine asks the agent's provider itself"),
        can("keys", "take keys of providers", "keys set"), can("automations", "list automations", "automations"),
        cannot("models", "offer a choice of models", "each agent has its own"), noApprovals,
    ]

    /// - Parameter limits: What the newest generation cannot do, in words; nil for the others.
    private static func aicli(limits: String?) -> [HostCapability] {
        let prompts =
            limits.map { cannot("prompts", "answer prompts", $0) } ?? can("prompts", "answer prompts", "send")
        return [
            health, can("projects", "list projects", "projects"),
            can("chats", "list chats", "chats", "one for each project"),
            can("messages", "show what was said", "messages", "from this machine: the server keeps nothing"), prompts,
            limits.map { cannot("auto", "go on by itself", $0) }
                ?? can("auto", "go on by itself", "chat", "--auto MODE"),
            can("sessions", "list sessions, end them, tidy them up", "sessions"),
            can("outbox", "keep prompts while it is off", "outbox"),
            cannot("models", "offer a choice of models", "the server chooses"), noApprovals,
        ]
    }

    private static func jarvis(hasSecondURL: Bool) -> [HostCapability] {
        let none = "a Jarvis daemon has approvals and nothing else"
        return [
            can("health", "say how it is", "approvals health"),
            can("approvals", "have actions approved", "approvals", hasSecondURL ? "by a second base URL, too" : nil),
            cannot("projects", "list projects", none), cannot("prompts", "answer prompts", none),
        ]
    }
}
