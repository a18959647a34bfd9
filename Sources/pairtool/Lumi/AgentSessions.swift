import CompanionClient
import CompanionWire
import PairingAgent

/// What commands get of a Lumi host without asking its Mac: the pulled conversations, and answers of the agents'
/// providers.
enum AgentSessions {
    static func with<R>(
        _ host: PairedHost,
        output: Output,
        _ body: (HostClient) async throws -> R
    ) async throws -> R {
        let context = output.context
        let store = LumiStore(data: context.paths.data, hostID: host.id)
        let settings = ProviderSettings(
            environment: context.environment,
            store: ProviderKeyStore(directory: context.paths.data),
            synced: try store.loadAPIKeys()
        )
        return try await ProviderClient.withClient(logger: LoggingSetup.logger("providers", context: context)) {
            client in
            let turns = AgentChat(store: store, settings: settings, client: client, now: context.now)
            return try await body(HostClient(family: .lumi, projects: store, chats: store, turns: turns))
        }
    }
}
