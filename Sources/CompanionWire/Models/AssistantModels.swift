/// A language model that a host offers.
package struct CompanionModel: Codable, Sendable, Hashable, Identifiable {
    /// What a model can do; every field may be absent.
    package struct Capabilities: Codable, Sendable, Hashable {
        package struct Supports: Codable, Sendable, Hashable {
            package var vision: Bool?
            package var reasoningEffort: Bool?

            package init(vision: Bool? = nil, reasoningEffort: Bool? = nil) {
                self.vision = vision
                self.reasoningEffort = reasoningEffort
            }
        }

        package var supports: Supports?

        package init(supports: Supports?) {
            self.supports = supports
        }
    }

    package var id: String
    package var name: String
    package var capabilities: Capabilities?

    package init(id: String, name: String, capabilities: Capabilities? = nil) {
        self.id = id
        self.name = name
        self.capabilities = capabilities
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        name = try container.decodeIfPresent(String.self, forKey: .name) ?? id
        capabilities = try? container.decodeIfPresent(Capabilities.self, forKey: .capabilities)
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
