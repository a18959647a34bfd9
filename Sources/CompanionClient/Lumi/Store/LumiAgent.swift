package import FoundationEssentials

/// An agent that was set up on a Mac: a name over a model of a provider.
package struct LumiAgent: Codable, Sendable, Hashable, Identifiable {
    /// The model of an agent, and its settings.
    package struct Configuration: Codable, Sendable, Hashable {
        /// As the Mac calls it: `OpenAI`, `Anthropic`, `Gemini`, `Aliyun Qwen`, `Ollama`.
        package var provider: String
        package var model: String
        package var systemPrompt: String?
        package var temperature: Double?
        /// The most tokens of an answer; nil for no limit of its own.
        package var maxTokens: Int?
        package var enabledTools: [String]

        package init(
            provider: String,
            model: String,
            systemPrompt: String? = nil,
            temperature: Double? = nil,
            maxTokens: Int? = nil,
            enabledTools: [String] = []
        ) {
            self.provider = provider
            self.model = model
            self.systemPrompt = systemPrompt
            self.temperature = temperature
            self.maxTokens = maxTokens
            self.enabledTools = enabledTools
        }

        package init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            provider = try container.decode(String.self, forKey: .provider)
            model = try container.decode(String.self, forKey: .model)
            systemPrompt = container.lenient(.systemPrompt)
            temperature = container.lenient(.temperature)
            maxTokens = container.lenient(.maxTokens)
            enabledTools = container.lenient(.enabledTools) ?? []
        }
    }

    package var id: UUID
    package var name: String
    package var configuration: Configuration
    package var capabilities: [String]
    /// `idle`, `running`, `paused`, `error`, `stopped`; may be another word.
    package var status: String
    package var createdAt: Date?
    package var updatedAt: Date?

    package init(
        id: UUID,
        name: String,
        configuration: Configuration,
        capabilities: [String] = [],
        status: String = "idle",
        createdAt: Date? = nil,
        updatedAt: Date? = nil
    ) {
        self.id = id
        self.name = name
        self.configuration = configuration
        self.capabilities = capabilities
        self.status = status
        self.createdAt = createdAt
        self.updatedAt = updatedAt
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(UUID.self, forKey: .id)
        name = container.lenient(.name) ?? ""
        configuration = try container.decode(Configuration.self, forKey: .configuration)
        capabilities = container.lenient(.capabilities) ?? []
        status = container.lenient(.status) ?? "idle"
        createdAt = container.lumiDate(.createdAt)
        updatedAt = container.lumiDate(.updatedAt)
    }
}
