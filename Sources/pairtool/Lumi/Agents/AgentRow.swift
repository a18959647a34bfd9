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

    func text(now: Date) -> String {
        var lines = [
            "\(name)\(isStarred ? " ★" : "")", "id: \(id)", "provider: \(provider)", "model: \(model)",
            "status: \(status)",
        ]
        switch origin {
        case .pulled: break
        case .edited: lines.append("edited here: the Mac's own is as it was pulled")
        case .here: lines.append("made here")
        }
        if let temperature { lines.append("temperature: \(temperature)") }
        if let maxTokens { lines.append("token limit: \(maxTokens)") }
        if !capabilities.isEmpty { lines.append("capabilities: \(capabilities.joined(separator: ", "))") }
        if !enabledTools.isEmpty { lines.append("tools on the Mac: \(enabledTools.joined(separator: ", "))") }
        lines.append("updated: \(TimeText.ago(updatedAt, now: now))")
        let text = lines.map(TerminalText.line).joined(separator: "\n")
        return systemPrompt.map { "\(text)\n\n\(TerminalText.block($0))" } ?? text
    }
}
