import CompanionWire
import FoundationEssentials
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket

/// One WebSocket to a host of protocol v2 (RFC 6455), over TLS that ends at the pinned key.
struct LiveConnection: Sendable {
    typealias Frames = NIOAsyncChannel<WebSocketFrame, WebSocketFrame>

    /// The most bytes of a frame, and of an event of several frames.
    private static let largestEvent = 1 << 20
    /// Hosts ping more often than this; a connection that is silent for longer is dead.
    private static let longestSilence = TimeAmount.seconds(90)

    private let frames: Frames

    /// - Returns: nil where the host answers with something else than a WebSocket.
    /// - Throws: What NIO throws, also where the host has not answered within the time of a request, and
    ///   ``CompanionClientError/Code/pinMismatch``.
    init?(client: CompanionAPIClient, pin: String, token: String?) async throws {
        let context = try NIOSSLContext(configuration: PinnedTLS.clientConfiguration)
        var headers = HTTPHeaders([
            ("Host", client.endpoint.authority), ("User-Agent", "pairtool"),
            (ProtocolVersion.header, "\(ProtocolVersion.maximum)"),
        ])
        if let token { headers.add(name: "Authorization", value: "Bearer \(token)") }
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let verdict = loop.makePromise(of: Void.self)
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/companion/live", headers: headers)
        let opening = NIOLockedValueBox<(any Channel)?>(nil)
        let limit = TimeAmount(client.configuration.timeouts.request)
        do {
            let upgraded = try await ClientBootstrap(group: loop)
                .connectTimeout(TimeAmount(client.configuration.timeouts.connect))
                .connect(host: client.endpoint.connectName, port: client.endpoint.port) { channel in
                    opening.withLockedValue { $0 = channel }
                    return channel.eventLoop.makeCompletedFuture {
                        let tls = try PinnedTLS.verifyingHandler(context, endpoint: client.endpoint, pin: pin) {
                            verdict.completeWith($0.map { _ in })
                        }
                        try channel.pipeline.syncOperations.addHandler(tls)
                        let upgraded = try Self.configureUpgrade(of: channel, head: head)
                        // Closing fails the upgrade: who never answers is waited for no longer than for any request.
                        let deadline = channel.eventLoop.scheduleTask(in: limit) { channel.close(promise: nil) }
                        upgraded.whenComplete { _ in deadline.cancel() }
                        return upgraded
                    }
                }
            let frames = try await withTaskCancellationHandler {
                try await upgraded.get()
            } onCancel: {
                opening.withLockedValue { $0 }?.close(promise: nil)
            }
            verdict.succeed()
            guard let frames else { return nil }
            self.frames = frames
        } catch {
            // What the verification said is the cause of whatever the handshake threw.
            verdict.fail(error)
            try await verdict.futureResult.get()
            throw error
        }
    }

    private static func configureUpgrade(
        of channel: any Channel,
        head: HTTPRequestHead
    ) throws -> EventLoopFuture<Frames?> {
        let upgrader = NIOTypedWebSocketClientUpgrader<Frames?>(maxFrameSize: largestEvent) { channel, _ in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandlers([
                    IdleStateHandler(readTimeout: longestSilence), CloseWhenSilent(),
                ])
                return try Frames(wrappingChannelSynchronously: channel)
            }
        }
        let configuration = NIOTypedHTTPClientUpgradeConfiguration<Frames?>(
            upgradeRequestHead: head,
            upgraders: [upgrader],
            notUpgradingCompletionHandler: { channel in channel.close().map { nil } }
        )
        var pipeline = NIOUpgradableHTTPClientPipelineConfiguration(upgradeConfiguration: configuration)
        // The first events may come together with the answer to the upgrade.
        pipeline.leftOverBytesStrategy = .forwardBytes
        return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(configuration: pipeline)
    }

    /// The next frame; nil where the connection has ended, in order or not.
    private static func frame(
        _ inbound: inout NIOAsyncChannelInboundStream<WebSocketFrame>.AsyncIterator
    ) async throws -> WebSocketFrame? {
        do {
            return try await inbound.next()
        } catch {
            if error is CancellationError { throw error }
            return nil
        }
    }

    /// Gives the events as they come, until the host closes the connection.
    func run(_ take: (LiveEvent) async throws -> Void) async throws {
        try await frames.executeThenClose { inbound, outbound in
            var text: [UInt8] = []
            var next = inbound.makeAsyncIterator()
            while let frame = try await Self.frame(&next) {
                var data = frame.unmaskedData
                switch frame.opcode {
                case .text, .continuation:
                    text += data.readBytes(length: data.readableBytes) ?? []
                    guard text.count <= Self.largestEvent else {
                        throw CompanionClientError(.tooLarge, "The host sent a live event of more than 1 MiB.")
                    }
                    guard frame.fin else { continue }
                    defer { text = [] }
                    // An event that this version cannot read is none for it.
                    guard let event = try? CompanionJSON.decoder().decode(LiveEvent.self, from: Data(text)) else {
                        continue
                    }
                    try await take(event)
                case .ping:
                    try? await outbound.write(WebSocketFrame(fin: true, opcode: .pong, maskKey: .random(), data: data))
                case .connectionClose:
                    try? await outbound.write(
                        WebSocketFrame(fin: true, opcode: .connectionClose, maskKey: .random(), data: data)
                    )
                    return
                default:
                    continue
                }
            }
        }
    }
}

/// Closes a connection on which nothing comes any more.
private final class CloseWhenSilent: ChannelInboundHandler, Sendable {
    typealias InboundIn = WebSocketFrame

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is IdleStateHandler.IdleStateEvent { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }
}
