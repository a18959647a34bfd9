import NIOCore
import NIOHTTP1

/// Follows the requests and answers of a connection, and gives clients of HTTP/1.0 an answer that they understand:
/// without chunks, and with the end of the connection behind it.
final class RequestsHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let activity: ConnectionActivity
    private let socket: SocketHandler
    /// Whether the client speaks HTTP/1.0.
    private var isOld = false

    init(activity: ConnectionActivity, socket: SocketHandler) {
        self.activity = activity
        self.socket = socket
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .head(var head):
            activity.headCame()
            guard (head.version.major, head.version.minor) < (1, 1) else { return context.fireChannelRead(data) }
            isOld = true
            head.headers.replaceOrAdd(name: "Connection", value: "close")
            context.fireChannelRead(Self.wrapInboundOut(.head(head)))
        case .body: context.fireChannelRead(data)
        case .end:
            activity.endCame()
            context.fireChannelRead(data)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        activity.readCompleted()
        context.fireChannelReadComplete()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch Self.unwrapOutboundIn(data) {
        case .head(var head):
            activity.answerBegan()
            guard isOld else { return context.write(data, promise: promise) }
            head.version = .http1_0
            head.headers.replaceOrAdd(name: "Connection", value: "close")
            context.write(Self.wrapOutboundOut(.head(head)), promise: promise)
        case .body: context.write(data, promise: promise)
        case .end:
            context.write(data, promise: promise)
            activity.answerEnded()
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The connection broke off: nothing to tell.
        if error is HTTPParserError, (error as? HTTPParserError) != .invalidEOFState { socket.note("no HTTP request") }
        context.fireErrorCaught(error)
    }
}
