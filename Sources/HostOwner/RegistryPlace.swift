package import CompanionApp
package import CompanionHost
import CompanionWire
import PairingAgent

/// The location of a copy of the registry of agents.
package struct RegistryPlace: Sendable {
    /// A path, or an https URL.
    private let text: String

    package init(text: String) {
        self.text = text
    }

    /// - Throws: `AppError`; `CancellationError`.
    package func read(in environment: AppEnvironment) async throws -> AgentRegistry {
        do {
            if text.has("://") {
                guard let link = PageLink(text) else {
                    throw AgentRegistry.Failure(description: "its address is no https URL")
                }
                return try await AgentRegistry.fetch(link)
            }
            guard let bytes = try await environment.content(text, AgentRegistry.mostBytes) else {
                throw AgentRegistry.Failure(description: "it has more than \(AgentRegistry.mostBytes >> 20) MiB")
            }
            return try AgentRegistry(bytes)
        } catch let failure as AgentRegistry.Failure {
            throw AppError(
                .failed,
                "agent.no_registry",
                "the registry \(text) cannot be used: \(failure)",
                next: "save a copy: https://cdn.agentclientprotocol.com/registry/v1/latest/registry.json"
            )
        }
    }
}
