import CompanionWire
import Hummingbird

/// The version and health of the host, and the models and the sign-in of its agent.
struct HostRoutes: RouteGroup {
    let access: RequestAccess
    let version: String
    /// Milliseconds since 1970-01-01 UTC.
    let startedAt: Double
    let hostID: String
    let ports: @Sendable () -> HostPorts?

    private var agent: any Agent { access.agent }

    func addRoutes(to router: Router<HostRequestContext>) {
        router.add("/health") { _, _ in
            .json(
                CompanionHealthResponse(
                    service: "pairtool-host",
                    version: version,
                    processStartedAtMs: startedAt,
                    protocolVersions: Array(ProtocolVersion.minimum...ProtocolVersion.maximum),
                    tlsPort: ports()?.secure,
                    serverTime: access.clock.now(),
                    hostId: hostID
                )
            )
        }
        router.add("/models") { request, context in
            if context.version >= 2 { _ = try await access.authenticate(request, in: context) }
            guard agent.isAvailable() else {
                throw HostResponseError(.internalServerError, HostError.agentUnavailable.text)
            }
            return .json(CompanionModelsResponse(models: agent.models))
        }
        router.add("/auth/status") { request, context in
            if context.version >= 2 { _ = try await access.authenticate(request, in: context) }
            let isSignedIn = agent.states.contains { $0.isAvailable && $0.trouble?.needsSignIn != true }
            return .json(CompanionAuthStatusResponse(authenticated: isSignedIn))
        }
    }
}
