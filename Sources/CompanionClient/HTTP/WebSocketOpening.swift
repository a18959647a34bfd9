import CompanionWire
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// How a WebSocket to a host is opened (RFC 6455).
struct WebSocketOpening: Sendable {
    /// Each frame that comes is a whole message, or one that controls the connection.
    typealias Frames = NIOAsyncChannel<WebSocketFrame, WebSocketFrame>

    var target: ClientTarget
    var path: String
    /// Besides `Host` and those of the upgrade.
    var headers: [(String, String)]
    /// For the connection, and for the answer to the request of the upgrade.
    var timeouts: CompanionClientConfiguration.Timeouts
    /// The most bytes of a message, and of each of its frames. Nothing is allocated for a frame that announces more.
    var largestMessage: Int
    /// After so long without a frame the connection is dead, and is closed.
    var longestSilence: TimeAmount
    /// Default: all of the process.
    var group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    /// Adds what lies beneath HTTP. Default: nothing, plain TCP.
    var prepare: @Sendable (any Channel) throws -> Void = { _ in }
    /// Learns what is wrong with frames.
    let line = WebSocketMonitor()

    /// Connects, and sends the request.
    ///
    /// - Throws: What NIO throws where there is no connection.
    func connect() async throws -> Upgrade {
        let bootstrap = ClientBootstrap(group: group).connectTimeout(TimeAmount(timeouts.connect))
        return try await target.connect(bootstrap) { channel in
            channel.eventLoop.makeCompletedFuture {
                try prepare(channel)
                let frames = try configureUpgrade(of: channel)
                // Closing fails the upgrade: who never answers is waited for no longer than for any request.
                let limit = TimeAmount(timeouts.request)
                let deadline = channel.eventLoop.scheduleTask(in: limit) { channel.close(promise: nil) }
                frames.whenComplete { _ in deadline.cancel() }
                return Upgrade(channel: channel, result: frames)
            }
        }
    }

    private func configureUpgrade(of channel: any Channel) throws -> EventLoopFuture<Frames?> {
        let upgrader = NIOTypedWebSocketClientUpgrader<Frames?>(maxFrameSize: largestMessage) { channel, _ in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandlers([
                    IdleStateHandler(readTimeout: longestSilence), Self.makeAggregator(largestMessage), line,
                ])
                return try Frames(wrappingChannelSynchronously: channel)
            }
        }
        let headers = HTTPHeaders([("Host", target.authority)] + headers)
        let configuration = NIOTypedHTTPClientUpgradeConfiguration<Frames?>(
            upgradeRequestHead: HTTPRequestHead(version: .http1_1, method: .GET, uri: path, headers: headers),
            upgraders: [upgrader],
            notUpgradingCompletionHandler: { channel in channel.close().map { nil } }
        )
        var pipeline = NIOUpgradableHTTPClientPipelineConfiguration(upgradeConfiguration: configuration)
        // The first frames may come together with the answer to the upgrade.
        pipeline.leftOverBytesStrategy = .forwardBytes
        return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(configuration: pipeline)
    }

    /// Puts fragments together.
    static func makeAggregator(_ largestMessage: Int) -> NIOWebSocketFrameAggregator {
        NIOWebSocketFrameAggregator(
            minNonFinalFragmentSize: 0,
            // Empty ones take memory too.
            maxAccumulatedFrameCount: 1 << 16,
            maxAccumulatedFrameSize: largestMessage
        )
    }

    /// A connection whose host was asked for a WebSocket.
    struct Upgrade: Sendable {
        fileprivate let channel: any Channel
        fileprivate let result: EventLoopFuture<Frames?>

        /// Waits for the WebSocket and returns its frames; nil if the host answers with something else.
        ///
        /// - Throws: NIO's errors, also if the host has not answered within the time of a request.
        func frames() async throws -> Frames? {
            try await withTaskCancellationHandler {
                try await result.get()
            } onCancel: {
                channel.close(promise: nil)
            }
        }
    }
}

/// Closes a connection on which nothing comes any more, and keeps what was wrong with its frames.
final class WebSocketMonitor: ChannelInboundHandler, Sendable {
    typealias InboundIn = WebSocketFrame

    enum Fault: Sendable {
        case tooLarge
        case invalid

        /// nil for an error that is not about frames.
        fileprivate init?(_ error: any Error) {
            switch error {
            case NIOWebSocketError.invalidFrameLength,
                NIOWebSocketFrameAggregator.Error.accumulatedFrameSizeIsTooLarge:
                self = .tooLarge
            case is NIOWebSocketError, is NIOWebSocketFrameAggregator.Error: self = .invalid
            default: return nil
            }
        }
    }

    private let found = NIOLockedValueBox<Fault?>(nil)

    /// What was wrong first.
    var fault: Fault? { found.withLockedValue(\.self) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let fault = Fault(error) { found.withLockedValue { $0 = $0 ?? fault } }
        context.fireErrorCaught(error)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is IdleStateHandler.IdleStateEvent { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }
}
