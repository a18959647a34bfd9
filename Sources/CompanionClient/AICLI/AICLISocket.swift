import CompanionWire
import FoundationEssentials
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// One WebSocket to an AICLI server (RFC 6455), over plain TCP.
struct AICLISocket: Sendable {
    typealias Frames = NIOAsyncChannel<WebSocketFrame, WebSocketFrame>

    /// The most bytes of a message, and of a frame of it. Nothing is allocated for a frame that says that it has more.
    static let largestMessage = 8 << 20

    private let frames: Frames
    private let line: LineGuard

    /// - Parameter longestSilence: After so long without a frame the connection is dead, and is closed.
    /// - Returns: Nil where the server answers with something else than a WebSocket, or ends the connection instead.
    init?(client: AICLIClient, longestSilence: Duration) async throws {
        var headers = HTTPHeaders([("Host", client.endpoint.authority)])
        for (name, value) in client.credentials { headers.add(name: name, value: value) }
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/ws", headers: headers)
        let opening = NIOLockedValueBox<(any Channel)?>(nil)
        let line = LineGuard()
        let limit = TimeAmount(client.configuration.timeouts.request)
        let upgraded = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connectTimeout(TimeAmount(client.configuration.timeouts.connect))
            .connect(host: client.endpoint.connectName, port: client.endpoint.port) { channel in
                opening.withLockedValue { $0 = channel }
                return channel.eventLoop.makeCompletedFuture {
                    let upgraded = try Self.configureUpgrade(
                        of: channel,
                        head: head,
                        line: line,
                        longestSilence: TimeAmount(longestSilence)
                    )
                    // Closing fails the upgrade: who never answers is waited for no longer than for any request.
                    let deadline = channel.eventLoop.scheduleTask(in: limit) { channel.close(promise: nil) }
                    upgraded.whenComplete { _ in deadline.cancel() }
                    return upgraded
                }
            }
        let frames = await withTaskCancellationHandler {
            try? await upgraded.get()
        } onCancel: {
            opening.withLockedValue { $0 }?.close(promise: nil)
        }
        try Task.checkCancellation()
        guard let frames else { return nil }
        self.frames = frames
        self.line = line
    }

    private static func configureUpgrade(
        of channel: any Channel,
        head: HTTPRequestHead,
        line: LineGuard,
        longestSilence: TimeAmount
    ) throws -> EventLoopFuture<Frames?> {
        let upgrader = NIOTypedWebSocketClientUpgrader<Frames?>(maxFrameSize: largestMessage) { channel, _ in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandlers([
                    IdleStateHandler(readTimeout: longestSilence), line,
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
        // The first frame may come together with the answer to the upgrade.
        pipeline.leftOverBytesStrategy = .forwardBytes
        return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(configuration: pipeline)
    }

    /// Gives what comes until the connection ends, and sends what is asked for.
    ///
    /// - Parameters:
    ///   - requests: JSON texts to send. Their end closes the connection.
    ///   - limit: The most bytes that may come in all.
    /// - Returns: How the connection ended.
    func run(
        sending requests: AsyncStream<[UInt8]>,
        limit: Int,
        _ take: @Sendable @escaping (AICLIFrame) -> Void
    ) async throws -> AICLIClosure {
        let end = try await frames.executeThenClose { inbound, outbound in
            try await withThrowingTaskGroup(of: AICLIClosure?.self) { group in
                group.addTask {
                    for await request in requests {
                        let buffer = ByteBuffer(bytes: request)
                        let frame = WebSocketFrame(fin: true, opcode: .text, maskKey: .random(), data: buffer)
                        // A connection that is gone says so to the reader.
                        do { try await outbound.write(frame) } catch { return nil }
                    }
                    // Nobody wants the connection any more.
                    return AICLIClosure()
                }
                group.addTask { try await Self.read(inbound, outbound, limit: limit, take) }
                defer { group.cancelAll() }
                while let end = try await group.next() {
                    if let end { return end }
                }
                return AICLIClosure()
            }
        }
        // What broke the rules of the line is the cause of whatever end came of it.
        guard let fault = line.fault else { return end }
        return fault == .invalidFrameLength ? Self.tooLarge : Self.isGarbage
    }

    private static func read(
        _ inbound: NIOAsyncChannelInboundStream<WebSocketFrame>,
        _ outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>,
        limit: Int,
        _ take: (AICLIFrame) -> Void
    ) async throws -> AICLIClosure {
        var message = ByteBuffer()
        var received = 0
        var garbage = 0
        do {
            for try await frame in inbound {
                var data = frame.unmaskedData
                received += data.readableBytes
                guard received <= limit else { return tooLarge }
                switch frame.opcode {
                case .text, .binary, .continuation:
                    guard message.readableBytes + data.readableBytes <= largestMessage else { return tooLarge }
                    message.writeBuffer(&data)
                    guard frame.fin else { continue }
                    defer { message.clear() }
                    if let frame = AICLIFrame(json: message.readableBytesView) {
                        take(frame)
                    } else {
                        garbage += 1
                        guard garbage < 100 else { return isGarbage }
                    }
                case .ping:
                    try? await outbound.write(WebSocketFrame(fin: true, opcode: .pong, maskKey: .random(), data: data))
                case .connectionClose:
                    let code = data.readWebSocketErrorCode().map { Int(UInt16(webSocketErrorCode: $0)) }
                    return AICLIClosure(code: code)
                default: continue
                }
            }
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            return AICLIClosure(isMute: received == 0)
        }
        return AICLIClosure(isMute: received == 0)
    }

    private static var tooLarge: AICLIClosure {
        AICLIClosure(error: CompanionClientError(.tooLarge, "The host sends more than an answer may have."))
    }

    private static var isGarbage: AICLIClosure {
        AICLIClosure(error: CompanionClientError(.badAnswer, "The host sends what is no message of its protocol."))
    }
}

/// Closes a connection on which nothing comes any more, and keeps what was wrong with its frames.
private final class LineGuard: ChannelInboundHandler, Sendable {
    typealias InboundIn = WebSocketFrame

    private let found = NIOLockedValueBox<NIOWebSocketError?>(nil)

    var fault: NIOWebSocketError? { found.withLockedValue(\.self) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? NIOWebSocketError { found.withLockedValue { $0 = $0 ?? error } }
        context.fireErrorCaught(error)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is IdleStateHandler.IdleStateEvent { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }
}
