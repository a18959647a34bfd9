import CompanionApp
import CompanionHost
import CompanionWire
import PairingAgent
import Terminal

/// The location of a copy of the registry of agents.
struct RegistryPlace {
    /// A path, or an https URL.
    let text: String
    let context: TerminalContext

    /// - Throws: ``AppError``; `CancellationError`.
    func read() async throws -> AgentRegistry {
        do {
            if text.has("://") {
                guard let link = PageLink(text) else {
                    throw AgentRegistry.Failure(description: "its address is no https URL")
                }
                return try await AgentRegistry.fetch(link)
            }
            guard let bytes = try await context.content(of: text, limit: AgentRegistry.mostBytes) else {
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
