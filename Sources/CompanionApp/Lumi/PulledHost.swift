package import CompanionClient
import CompanionWire
package import Identity
package import PairingAgent

/// A paired Lumi host and the data that was pulled from it. Makes no network requests.
package struct PulledHost: Sendable {
    package let host: PairedHost
    package let store: LumiStore
    let interaction: any Interaction

    package init(host: PairedHost, store: LumiStore, interaction: any Interaction) {
        self.host = host
        self.store = store
        self.interaction = interaction
    }

    /// The agents.
    ///
    /// - Throws: ``AppError`` if nothing was ever pulled.
    package func agents() throws -> [LumiAgent] {
        let list = try pulled(try store.loadAgents())
        if list.dropped > 0 {
            interaction.warn(
                AppError(
                    .failed,
                    "agents.unreadable",
                    "\(list.dropped) of the agents could not be read and are left out"
                )
            )
        }
        return list.items
    }

    package func automations() throws -> [LumiAutomation] {
        let list = try pulled(try store.loadAutomations())
        if list.dropped > 0 {
            interaction.warn(
                AppError(.failed, "automations.unreadable", "\(list.dropped) of the automations could not be read")
            )
        }
        return list.items
    }

    /// The agent with this id or name.
    package func agent(_ word: String) throws -> LumiAgent {
        try NameMatch.find(
            word,
            in: try agents(),
            kind: "agent",
            listing: "pairtool lumi agents",
            ids: { LumiStore.ids($0.id) },
            names: { [$0.name] }
        )
    }

    func pulled<Content>(_ content: Content?) throws -> Content {
        guard let content else {
            throw AppError(
                .nothingFound,
                "sync.never",
                "nothing was pulled from \(host.name) yet",
                next: "pairtool lumi sync"
            )
        }
        return content
    }
}
