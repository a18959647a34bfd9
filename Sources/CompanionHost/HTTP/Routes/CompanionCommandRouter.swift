import CompanionWire
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// The routes of the protocol, with the checks of who may use them.
package struct CompanionCommandRouter: Sendable {
    let version: String
    /// Milliseconds since 1970-01-01 UTC.
    let startedAt: Double
    /// Whether v1 is served.
    let legacy: Bool
    let identity: HostIdentity
    let ports: @Sendable () -> HostPorts?
    let clock: HostClock
    let pairing: CompanionPairingService
    let gate: DeviceGate
    let control: DeviceControl
    let commands: SignedCommandService
    let revocations: RevocationCenter
    let devices: CompanionDeviceStore
    let store: CompanionHostStore
    let turns: TurnRunner
    let worktrees: Worktrees
    let quotas: DeviceQuotas
    let questions: AgentQuestions
    let agent: any Agent
    let events: HostEventSink
    let connections: ConnectionGate
    let refusals: AgentRefusals
    let logger: Logger
    /// Finds the user of this machine who sends a request.
    let localPeers = LocalPeers()

    /// All routes. Known paths answer 405 to other methods, unknown ones 404, both in JSON.
    ///
    /// - Parameter isSecure: Whether they are for HTTPS.
    func router(isSecure: Bool) -> Router<HostRequestContext> {
        let router = Router(context: HostRequestContext.self)
        router.add(middleware: UpgradeMiddleware())
        router.add(middleware: ErrorMiddleware(clock: clock, logger: logger))
        router.add(middleware: BrowserGuard())
        router.add(middleware: VersionGate(isSecure: isSecure, legacy: legacy))
        add(.get, path: "/health", to: router) { _, _ in .json(health()) }
        add(.get, path: "/models", to: router) { request, context in
            if context.version >= 2 { _ = try await authenticate(request, in: context) }
            return try models()
        }
        add(.get, path: "/auth/status", to: router) { request, context in
            if context.version >= 2 { _ = try await authenticate(request, in: context) }
            return .json(
                CompanionAuthStatusResponse(authenticated: agent.isAvailable() && agent.trouble?.needsSignIn != true)
            )
        }
        add(.post, path: "/companion/command", to: router) { request, context in
            // v1 has the path, and hosts of it that do nothing with it.
            guard context.isSecure, context.version >= 2 else {
                throw HostResponseError(.notImplemented, HostErrorText.commandNotImplemented)
            }
            var context = context
            try await readCommand(of: request, in: &context)
            guard let body = context.json else {
                throw SignedCommandError(.commandBadShape, message: "The body has to be application/json")
            }
            let answer = try await commands.execute(Array(body.readableBytesView)) { [context] payload in
                if payload.isForOwnerAlone { try await refuseAgents(payload.type, in: context) }
            }
            connections.trust(context.channel, isTrusted: true)
            return .json(answer)
        }
        addPairingRoutes(to: router)
        addPairingV2Routes(to: router)
        addChatRoutes(to: router)
        addTurnRoutes(to: router)
        addChangesRoutes(to: router)
        addApprovalRoutes(to: router)
        addLiveRoute(to: router)
        return router
    }

    private func addLiveRoute(to router: Router<HostRequestContext>) {
        add(.get, path: "/companion/live", hasHead: false, to: router) { request, context in
            let device = try await authenticate(request, in: context)
            guard let upgrade = context.upgrade else {
                // RFC 9110, 15.5.22: an answer with 426 says what to upgrade to.
                throw HostResponseError(
                    .upgradeRequired,
                    HostErrorText.webSocketRequired,
                    code: .requestInvalid,
                    headers: [.upgrade: "websocket", .connection: "Upgrade"]
                )
            }
            upgrade.device = device
            return Response(status: .switchingProtocols)
        }
    }

    /// Reads a command, which proves by its own signature who sends it. A larger one has to come with a session, so
    /// that nothing large is kept for strangers.
    ///
    /// - Throws: As ``DeviceGate/authenticate(_:)`` for a large one.
    private func readCommand(of request: Request, in context: inout HostRequestContext) async throws {
        if let length = request.bodyLength, length <= BodyLimit.anybody {
            return try await context.readBody(of: request, upTo: BodyLimit.anybody)
        }
        guard request.hasBody else { return }
        _ = try await authenticate(request, in: context)
        try await context.readBody(of: request, upTo: BodyLimit.device)
        // It may have taken longer than the session, or the device's access, has lasted.
        _ = try await authenticate(request, in: context)
    }

    /// Adds a path that knows exactly one method. Where that is GET, HEAD gets the same without the body.
    ///
    /// - Parameter bodyLimit: Bytes of a body that is read before anything else. nil: the route has none, or reads it
    ///   itself once it knows the sender.
    /// - Parameter hasHead: Whether HEAD is answered: not where the answer is a stream.
    func add(
        _ method: HTTPRequest.Method,
        path: RouterPath,
        bodyLimit: Int? = nil,
        hasHead: Bool = true,
        to router: Router<HostRequestContext>,
        use handler: @escaping @Sendable (Request, HostRequestContext) async throws -> Response
    ) {
        router.on(path, method: method) { request, context -> Response in
            var context = context
            if let bodyLimit { try await context.readBody(of: request, upTo: bodyLimit) }
            return try await handler(request, context)
        }
        let isHeadKnown = method == .get && hasHead
        if isHeadKnown {
            router.on(path, method: .head) { request, context -> Response in
                try await handler(request, context).createHeadResponse()
            }
        }
        let others: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete, .options, .trace]
        for other in others where other != method && !(other == .head && isHeadKnown) {
            router.on(path, method: other) { _, _ -> Response in
                throw HostResponseError(
                    .methodNotAllowed,
                    HostErrorText.methodNotAllowed,
                    headers: [.allow: isHeadKnown ? "GET, HEAD" : method.rawValue]
                )
            }
        }
    }

    /// The device that a request of v2 belongs to, by its session.
    ///
    /// - Throws: 426 for a request of v1; 401 or 403 with `session.required`, `session.expired`, `device.revoked` or
    ///   `device.expired`.
    func authenticate(_ request: Request, in context: HostRequestContext) async throws -> AuthenticatedDevice {
        try requireV2(context)
        return try await trusting(context) { try await gate.authenticate(request.bearerToken) }
    }

    /// Notes at the connection whether the client has proven to be a paired device: others give way to it.
    private func trusting(
        _ context: HostRequestContext,
        _ authenticate: () async throws -> AuthenticatedDevice
    ) async throws -> AuthenticatedDevice {
        do {
            let device = try await authenticate()
            connections.trust(context.channel, isTrusted: true)
            return device
        } catch {
            connections.trust(context.channel, isTrusted: false)
            throw error
        }
    }

    /// Lets a request of either protocol pass.
    ///
    /// - Parameter permission: The permission that the device needs. Default: nil, being paired is enough.
    /// - Throws: As ``authenticate(_:_:)`` or ``requireConnection(_:)``; 403 with `permission.denied`.
    @discardableResult
    func admit(
        _ request: Request,
        in context: HostRequestContext,
        for permission: CompanionPermission? = nil
    ) async throws -> AuthenticatedDevice {
        let device =
            context.version >= 2
            ? try await authenticate(request, in: context)
            : try await trusting(context) { try await requireConnection(context) }
        if let permission, !device.permissions.contains(permission) { throw HostError.permissionDenied }
        return device
    }

    /// Refuses requests that do not speak v2 over HTTPS.
    func requireV2(_ context: HostRequestContext) throws {
        guard context.isSecure, context.version >= 2 else {
            var error = HostResponseError(.upgradeRequired, HostErrorText.httpsRequired, code: .versionUnsupported)
            error.versions = 2...ProtocolVersion.maximum
            throw error
        }
    }

    /// Lets a request of v1 pass that the connected device makes from the address that it paired from.
    ///
    /// - Throws: In the order of deployed hosts: 403 when no device is connected, 403 for another address (which they
    ///   do not check), 401 when the agent cannot work.
    private func requireConnection(_ context: HostRequestContext) async throws -> AuthenticatedDevice {
        guard let connection = devices.connection else {
            throw HostResponseError(.forbidden, CompanionErrorResponse.Text.noDeviceConnected)
        }
        guard connection.address == context.peer else {
            throw HostResponseError(.forbidden, HostErrorText.otherAddress)
        }
        // All users of this machine have that address.
        if localPeers.isHere(context.channel), await !localPeers.isUser(of: connection.device.id, over: context.channel)
        {
            throw HostResponseError(.forbidden, HostErrorText.otherUser)
        }
        guard agent.isAvailable() else {
            throw HostResponseError(.unauthorized, CompanionErrorResponse.Text.authRequired)
        }
        guard let device = devices.device(id: connection.device.id), device.isActive(at: clock.now()) else {
            throw HostResponseError(.forbidden, HostErrorText.deviceExpired, code: .deviceExpired)
        }
        await devices.touch(device.id)
        return AuthenticatedDevice(device, protocolVersion: 1, epoch: revocations.epoch(of: device.id))
    }

    /// Lets a request about the pairing pass if it comes from the paired address, or from the host's own user.
    func requireManager(_ context: HostRequestContext) async throws {
        guard await isManager(context, of: devices.connection) else {
            let isRightAddress = context.isLoopback || devices.connection?.address == context.peer
            throw HostResponseError(
                .forbidden,
                isRightAddress ? HostErrorText.otherUserManages : HostErrorText.otherAddressManages
            )
        }
    }

    /// Whether a device of v1 is connected, and which one: the latter only for itself and for the host's own user.
    func status(for context: HostRequestContext) async -> Response {
        let connection = legacy ? devices.connection : nil
        var status = CompanionStatusResponse(connectedDevice: connection?.device)
        if connection != nil, await !isManager(context, of: connection) { status.connectedDevice = nil }
        return .json(status)
    }

    private func isManager(
        _ context: HostRequestContext,
        of connection: CompanionDeviceStore.Connection?
    ) async -> Bool {
        guard let connection, connection.address == context.peer else {
            return context.isLoopback ? await localPeers.isOwner(context.channel) : false
        }
        guard localPeers.isHere(context.channel) else { return true }
        return await localPeers.isUser(of: connection.device.id, over: context.channel)
    }

    private func health() -> CompanionHealthResponse {
        CompanionHealthResponse(
            service: "pairtool-host",
            version: version,
            processStartedAtMs: startedAt,
            protocolVersions: Array(ProtocolVersion.minimum...ProtocolVersion.maximum),
            tlsPort: ports()?.secure,
            serverTime: clock.now(),
            hostId: identity.id
        )
    }

    private func models() throws -> Response {
        guard agent.isAvailable() else {
            throw HostResponseError(.internalServerError, HostErrorText.agentUnavailable)
        }
        return .json(CompanionModelsResponse(models: agent.models))
    }
}

extension Request {
    /// The token of the session that the request comes with.
    fileprivate var bearerToken: String? {
        guard let value = headers[.authorization] else { return nil }
        let parts = value.parts(" ", omittingEmpty: true)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1])
    }
}
