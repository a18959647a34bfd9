import CompanionWire
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// The requests of protocol v1, and who may make them.
package struct CompanionCommandRouter: Sendable {
    let version: String
    /// Milliseconds since 1970-01-01 UTC.
    let startedAt: Double
    let pairing: CompanionPairingService
    let devices: CompanionDeviceStore
    let store: CompanionHostStore
    let turns: TurnRunner
    let revocations: RevocationCenter
    let agent: any Agent
    let events: HostEventSink
    let logger: Logger

    /// All routes. Known paths answer 405 to other methods, unknown ones 404, both in JSON.
    func router() -> Router<HostRequestContext> {
        let router = Router(context: HostRequestContext.self)
        router.add(middleware: ErrorMiddleware())
        router.add(middleware: BrowserGuard())
        router.add(middleware: BodyMiddleware())
        add(.get, "/health", to: router) { _, _ in .json(health()) }
        add(.get, "/models", to: router) { _, _ in try models() }
        add(.get, "/auth/status", to: router) { _, _ in
            .json(CompanionAuthStatusResponse(authenticated: agent.isAvailable()))
        }
        add(.post, "/companion/command", to: router) { _, _ in
            throw HostResponseError(.notImplemented, HostErrorText.commandNotImplemented)
        }
        addPairingRoutes(to: router)
        addChatRoutes(to: router)
        addTurnRoutes(to: router)
        return router
    }

    /// Adds a path that knows exactly one method.
    func add(
        _ method: HTTPRequest.Method,
        _ path: RouterPath,
        to router: Router<HostRequestContext>,
        use handler: @escaping @Sendable (Request, HostRequestContext) async throws -> Response
    ) {
        router.on(path, method: method, use: handler)
        let others: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete, .options, .trace]
        for other in others where other != method {
            router.on(path, method: other) { _, _ -> Response in
                throw HostResponseError(
                    .methodNotAllowed,
                    HostErrorText.methodNotAllowed,
                    headers: [.allow: method.rawValue]
                )
            }
        }
    }

    /// Lets a request pass that the connected device makes from the address that it paired from.
    ///
    /// - Returns: The connection that it belongs to.
    /// - Throws: In the order of deployed hosts: 403 when no device is connected, 403 for another address (which they
    ///   do not check), 401 when the agent cannot work.
    @discardableResult
    func gate(_ context: HostRequestContext) async throws -> CompanionDeviceStore.Connection {
        guard let connection = devices.connection else {
            throw HostResponseError(.forbidden, CompanionErrorResponse.Text.noDeviceConnected)
        }
        guard connection.address == context.peer else {
            throw HostResponseError(.forbidden, HostErrorText.otherAddress)
        }
        guard agent.isAvailable() else {
            throw HostResponseError(.unauthorized, CompanionErrorResponse.Text.authRequired)
        }
        await devices.touch()
        return connection
    }

    /// Lets a request pass that shows or changes who is paired: from the paired address, or from this machine.
    func requireManager(_ context: HostRequestContext) throws {
        guard isManager(context, of: devices.connection) else {
            throw HostResponseError(.forbidden, HostErrorText.otherAddressManages)
        }
    }

    /// Whether a device is connected, and which one: the latter only for itself and for this machine.
    func status(for context: HostRequestContext) -> Response {
        let connection = devices.connection
        var status = CompanionStatusResponse(connectedDevice: connection?.device)
        if !isManager(context, of: connection) { status.connectedDevice = nil }
        return .json(status)
    }

    private func isManager(_ context: HostRequestContext, of connection: CompanionDeviceStore.Connection?) -> Bool {
        guard !context.isLoopback else { return true }
        return connection != nil && connection?.address == context.peer
    }

    private func health() -> CompanionHealthResponse {
        CompanionHealthResponse(service: "pairtool-host", version: version, processStartedAtMs: startedAt)
    }

    private func models() throws -> Response {
        guard agent.isAvailable() else {
            throw HostResponseError(.internalServerError, HostErrorText.agentUnavailable)
        }
        return .json(CompanionModelsResponse(models: agent.models))
    }
}
