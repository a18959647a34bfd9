import FoundationEssentials
import Hummingbird
import Logging
import NIOConcurrencyHelpers

/// Puts the routes of all subjects together.
struct CompanionCommandRouter: Sendable {
    private let legacy: Bool
    private let clock: HostClock
    private let logger: Logger
    private let groups: [any RouteGroup]

    init(_ services: HostServices, connections: ConnectionGate) {
        legacy = services.configuration.legacy
        clock = services.clock
        logger = services.logger
        let access = RequestAccess(
            legacy: legacy,
            clock: clock,
            gate: services.gate,
            agent: services.agent,
            connections: connections,
            refusals: services.refusals
        )
        groups = [
            HostRoutes(
                access: access,
                version: services.configuration.version,
                startedAt: (clock.now().timeIntervalSince1970 * 1000).rounded(),
                hostID: services.identity.id,
                ports: { [ports = services.ports] in ports.withLockedValue { $0 } }
            ),
            CommandRoutes(access: access, commands: SignedCommandService(services)),
            DeviceRoutes(access: access, control: services.control),
            ReachRoutes(access: access, relays: services.relays),
            PairingV1Routes(access: access, pairing: services.pairing, turns: services.turns, logger: logger),
            PairingV2Routes(access: access, pairing: services.pairing, logger: logger),
            ChatRoutes(access: access, store: services.store, chats: services.chats),
            TurnRoutes(
                access: access,
                store: services.store,
                chats: services.chats,
                turns: services.turns,
                quotas: services.quotas
            ),
            WorktreeRoutes(access: access, worktrees: services.worktrees),
            ApprovalRoutes(access: access, questions: services.questions),
            LiveRoutes(access: access),
        ]
    }

    /// All routes. Known paths answer 405 to other methods, unknown ones 404, both in JSON.
    ///
    /// - Parameter isSecure: Whether they are for HTTPS.
    func router(isSecure: Bool) -> Router<HostRequestContext> {
        let router = Router(context: HostRequestContext.self)
        router.add(middleware: UpgradeMiddleware())
        router.add(middleware: ErrorMiddleware(clock: clock, logger: logger))
        router.add(middleware: BrowserGuard())
        router.add(middleware: VersionGate(isSecure: isSecure, legacy: legacy))
        for group in groups { group.addRoutes(to: router) }
        return router
    }
}
