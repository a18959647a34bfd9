import CompanionClient
import CompanionWire
import History
import Identity
import LocalState
import PairingAgent
import Providers

/// Lumi Macs. The pulled data can be read, and its agents can be used, without the Mac.
struct LumiFamily: Family {
    package let facts = FamilyFacts(
        name: .lumi,
        usualPort: LumiConfiguration.port,
        // If CopilotForge hosts are visible, `pairtool pair` pairs with those unless another host is named.
        pairCommand: "pairtool pair NAME, as pairtool discover shows it",
        firstCommand: "pairtool lumi sync",
        codes: [.digits],
        speaksHTTP: false,
        files: LumiStore.files
    )

    func capabilities(of host: PairedHost, health: HostHealth?) -> FamilyCapabilities {
        FamilyCapabilities(
            offered: Capability.browsing,
            notes: [
                .projects: "as last pulled", .chats: "as last pulled",
                .messages: "as last pulled, and from this machine",
                .prompts: "this machine asks the agent's provider itself",
            ],
            reasons: [.models: "each agent has its own", .outbox: "prompts do not go to it, but to the provider"],
            own: [
                .can(
                    "remote",
                    text: "be controlled remotely",
                    command: "lumi remote",
                    note: "its user accepts each connection"
                ),
                .can("screenshot", text: "take a screenshot", command: "lumi remote screenshot"),
                .can(
                    "sync",
                    text: "share agents, conversations and automations",
                    command: "lumi sync",
                    note: "not with very old hosts"
                ),
                .can("agents", text: "list agents", command: "lumi agents", note: "as last pulled"),
                .can("keys", text: "use API keys of providers", command: "lumi keys set"),
                .can("automations", text: "list automations", command: "lumi automations"),
            ]
        )
    }

    func pair(_ pairing: FamilyPairing) async throws -> PairingOutcome {
        try pairing.requireNoToken()
        try pairing.requireNoPicture()
        try pairing.requireNoPin()
        try await pairing.consent.ask(about: pairing.target, known: pairing.known)
        let (target, device, environment) = (pairing.target, pairing.device, pairing.environment)
        let approval = LumiConnectionApproval(
            hostName: target.name,
            deviceName: device.name,
            code: pairing.payload?.code,
            interaction: environment.interaction
        )
        return try await LumiPairing(target: target, device: device, clock: environment.clock).run(
            accept: approval.accept
        )
    }

    func health(
        at endpoint: CompanionEndpoint,
        speaksTLS: Bool,
        timeouts: CompanionClientConfiguration.Timeouts
    ) async throws -> HostHealth {
        try await TCPProbe.connect(to: endpoint, timeouts: timeouts)
        return HostHealth(place: "\(endpoint)")
    }

    func health(
        of host: PairedHost,
        environment: AppEnvironment,
        timeouts: CompanionClientConfiguration.Timeouts
    ) async throws -> HostHealth {
        try await health(at: host.endpoint, speaksTLS: false, timeouts: timeouts)
    }

    func open<R>(
        _ host: PairedHost,
        environment: AppEnvironment,
        configuration: CompanionClientConfiguration,
        _ body: (HostClient) async throws -> R
    ) async throws -> R {
        let store = LumiStore(data: environment.paths.data, hostID: host.id)
        let settings = ProviderSettings(
            environment: environment.variables,
            store: ProviderKeyStore(directory: environment.paths.data),
            synced: { [keys = try store.loadAPIKeys()] in keys?.key(of: $0) }
        )
        return try await environment.withHistoryStore { history in
            let conversations = LumiConversations(store, in: history, of: HistoryHost(host), now: environment.now)
            return try await ProviderClient.withClient(logger: environment.logger("providers")) {
                client in
                let turns = AgentChat(
                    store: store,
                    conversations: conversations,
                    settings: settings,
                    client: client,
                    now: environment.now
                )
                return try await body(
                    HostClient(isLocal: true, projects: conversations, chats: conversations, turns: turns)
                )
            }
        }
    }

    func forget(_ host: PairedHost, environment: AppEnvironment) throws {
        try LumiSessions.forget(host, environment: environment)
    }
}
