/// A language model that a host offers.
package struct CompanionModel: Codable, Sendable, Hashable, Identifiable {
    /// The abilities of a model; every field may be absent.
    package struct Capabilities: Codable, Sendable, Hashable {
        /// The features of a model. nil: the host does not say.
        package struct Supports: Codable, Sendable, Hashable {
            /// Whether the model takes pictures.
            package var vision: Bool?
            /// Whether the effort of the model's reasoning can be chosen.
            package var reasoningEffort: Bool?

            package init(vision: Bool? = nil, reasoningEffort: Bool? = nil) {
                self.vision = vision
                self.reasoningEffort = reasoningEffort
            }
        }

        package var supports: Supports?

        /// Those of one that takes no pictures.
        package static let blind = Capabilities(supports: Supports(vision: false))

        package init(supports: Supports?) {
            self.supports = supports
        }
    }

    /// The id of the model, as ``ContinueChatRequest/model`` takes it.
    package var id: String
    /// The name for people.
    package var name: String
    /// nil if the host tells none, or none that can be read.
    package var capabilities: Capabilities?
    /// The id of the agent that has several models; nil for one that is its only one. A chat stays with its agent.
    package var agent: String?

    package init(id: String, name: String, capabilities: Capabilities? = nil, agent: String? = nil) {
        self.id = id
        self.name = name
        self.capabilities = capabilities
        self.agent = agent
    }

    /// The id of its agent.
    package var owner: String { agent ?? id }

    /// Only the id has to be there: it stands in for a missing name.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        name = try container.decodeIfPresent(String.self, forKey: .name) ?? id
        capabilities = try? container.decodeIfPresent(Capabilities.self, forKey: .capabilities)
        agent = try? container.decodeIfPresent(String.self, forKey: .agent)
    }
}

/// The answer of `GET /models`.
package struct CompanionModelsResponse: Codable, Sendable, Hashable {
    package var ok: Bool
    package var models: LossyArray<CompanionModel>

    package init(models: [CompanionModel]) {
        self.ok = true
        self.models = LossyArray(models)
    }
}
