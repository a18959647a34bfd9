import CompanionWire
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1
import NIOSSL
import NIOWebSocket
import ServiceLifecycle

/// HTTP/1.1 over TLS whose first request may become a WebSocket.
///
/// A request to upgrade goes through the router with all its checks. It is upgraded only if the router answers with
/// 101. Any other is answered as plain HTTP, by the same route.
struct LiveChannel<Router: HTTPResponder>: HTTPChannelHandler where Router.Context == HostRequestContext {
    enum Negotiated: Sendable {
        case http(HTTP1Channel.Value)
        case live(LiveSocket.Channel, AuthenticatedDevice)
    }

    struct Value: ServerChildChannelValue {
        let channel: any Channel
        let negotiated: EventLoopFuture<Negotiated>
        /// Whether ``negotiated`` has a result; changed on the event loop.
        let isDone: NIOLockedValueBox<Bool>
    }

    let responder: HTTPChannelHandler.Responder
    let router: Router
    let socket: LiveSocket
    let gate: ConnectionGate
    let tls: NIOSSLContext
    let configuration: HTTP1Channel.Configuration

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            let connection = NIOLoopBound(
                try GuardedConnection(channel, gate: gate, tls: tls),
                eventLoop: channel.eventLoop
            )
            let upgrade = LiveUpgrade()
            let upgrader = NIOTypedWebSocketServerUpgrader<Negotiated>(
                maxFrameSize: LiveSocket.maximumFrameSize,
                // The router has granted the request already.
                shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture(HTTPHeaders()) },
                upgradePipelineHandler: { channel, _ in
                    channel.eventLoop.makeCompletedFuture {
                        guard let device = upgrade.device else { throw ChannelError.operationUnsupported }
                        connection.value.activity.becameLive()
                        return .live(try LiveSocket.Channel(wrappingChannelSynchronously: channel), device)
                    }
                }
            )
            let encoder = HTTPResponseEncoder()
            let decoder = configuration.decoder(leftOver: .forwardBytes)
            let negotiator = LiveNegotiator {
                connection.value.socket.note("no HTTP request")
            } isGranted: { channel, head in
                isGranted(head, on: channel, upgrade: upgrade, logger: logger)
            }
            let handler = NIOTypedHTTPServerUpgradeHandler<Negotiated>(
                httpEncoder: encoder,
                extraHTTPHandlers: [decoder, negotiator],
                upgradeConfiguration: .init(upgraders: [upgrader]) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        .http(
                            try connection.value.http(
                                channel,
                                isSecure: true,
                                idleTimeout: configuration.idleTimeout,
                                logger: logger
                            )
                        )
                    }
                }
            )
            try channel.pipeline.syncOperations.addHandlers([encoder, decoder, negotiator, handler])
            endIfSilent(channel, until: handler.upgradeResultFuture)
            let isDone = NIOLockedValueBox(false)
            handler.upgradeResultFuture.whenComplete { _ in isDone.withLockedValue { $0 = true } }
            return Value(channel: channel, negotiated: handler.upgradeResultFuture, isDone: isDone)
        }
    }

    func handle(value: Value, logger: Logger) async {
        do {
            // A connection that has not sent anything yet must not delay the end of the host.
            let negotiated = try await withGracefulShutdownHandler {
                try await value.negotiated.get()
            } onGracefulShutdown: {
                value.channel.eventLoop.execute {
                    if !value.isDone.withLockedValue({ $0 }) { value.channel.close(promise: nil) }
                }
            }
            switch negotiated {
            case .http(let channel): await handleHTTP(asyncChannel: channel, logger: logger)
            case .live(let channel, let device): await socket.serve(channel, device: device, logger: logger)
            }
        } catch {
            logger.trace("connection ended before its first request", metadata: ["reason": "\(error)"])
            try? await value.channel.close()
        }
    }

    /// Ends a connection that takes too long to send its first request.
    private func endIfSilent(_ channel: any Channel, until negotiated: EventLoopFuture<Negotiated>) {
        guard let timeout = configuration.idleTimeout else { return }
        let end = channel.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
        negotiated.whenComplete { _ in end.cancel() }
        channel.closeFuture.whenComplete { _ in end.cancel() }
    }

    /// Asks the router whether a request may become a WebSocket.
    private func isGranted(
        _ head: HTTPRequestHead,
        on channel: any Channel,
        upgrade: LiveUpgrade,
        logger: Logger
    ) -> EventLoopFuture<Bool> {
        guard let request = try? HTTPRequest(head, secure: true, splitCookie: false) else {
            return channel.eventLoop.makeSucceededFuture(false)
        }
        let promise = channel.eventLoop.makePromise(of: Bool.self)
        promise.completeWithTask {
            var context = HostRequestContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
            context.upgrade = upgrade
            let request = Request(head: request, body: RequestBody(buffer: ByteBuffer()))
            let response = try await router.respond(to: request, context: context)
            return response.status == .switchingProtocols
        }
        return promise.futureResult
    }
}
