import CompanionClient
import CompanionWire
import FoundationEssentials
import Terminal

/// An agent in JSON.
struct AgentRow: Encodable {
    var id: String
    var name: String
    var provider: String
    var model: String
    var status: String
    var isStarred: Bool
    /// `pulled`, `edited` (pulled, and changed here) or `here` (made here).
    var origin: LumiStore.AgentOrigin
    var temperature: Double?
    var maxTokens: Int?
    var capabilities: [String]
    var enabledTools: [String]
    /// Only with `show`, `create` and `edit`.
    var systemPrompt: String?
    var createdAt: Date?
    var updatedAt: Date?

    init(_ agent: LumiAgent, isStarred: Bool, origin: LumiStore.AgentOrigin, withPrompt: Bool = false) {
        id = LumiStore.id(agent.id)
        name = agent.name
        provider = agent.configuration.provider
        model = agent.configuration.model
        status = agent.status
        self.isStarred = isStarred
        self.origin = origin
        temperature = agent.configuration.temperature
        maxTokens = agent.configuration.maxTokens
        capabilities = agent.capabilities
        enabledTools = agent.configuration.enabledTools
        systemPrompt = withPrompt ? agent.configuration.systemPrompt : nil
        createdAt = agent.createdAt
        updatedAt = agent.updatedAt
    }

    func facts(now: Date) -> FactList {
        let origin: String? =
            switch origin {
            case .pulled: nil
            case .edited: "edited here; the Mac's own is as it was pulled"
            case .here: "made here"
            }
        return [
            "agent": name + (isStarred ? " ★" : ""),
            "id": id,
            "provider": provider,
            "model": model,
            "status": status,
            "origin": origin,
            "temperature": temperature.map { "\($0)" },
            "token limit": maxTokens.map { "\($0)" },
            "capabilities": capabilities.isEmpty ? nil : capabilities.joined(separator: ", "),
            "tools": enabledTools.isEmpty ? nil : enabledTools.joined(separator: ", ") + " (on the Mac)",
            "updated": TimeText.ago(updatedAt, now: now),
        ]
    }
}
