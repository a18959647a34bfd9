import Hummingbird
import Logging

/// Puts the routes of all subjects together.
struct CompanionCommandRouter: Sendable {
    /// Whether v1 is served.
    let legacy: Bool
    let clock: HostClock
    let logger: Logger
    let groups: [any RouteGroup]

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
