import NIOCore
import NIOTLS

/// Between TLS, where there is one, and HTTP: sees when a handshake is complete and when a request begins, and ends a
/// request that takes too long.
final class PlaintextHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// How long a peer may take to read why its connection ends.
    private static let closeTimeout = TimeAmount.seconds(1)

    private let activity: ConnectionActivity
    private let socket: SocketHandler
    private var context: ChannelHandlerContext?

    init(activity: ConnectionActivity, socket: SocketHandler) {
        self.activity = activity
        self.socket = socket
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        activity.bytesCame()
        context.fireChannelRead(data)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted = event as? TLSUserEvent { activity.handshakeCompleted() }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let isHandshake = activity.isInHandshake
        context.fireErrorCaught(error)
        guard isHandshake else { return }
        socket.note("no TLS handshake")
        socket.cut()
    }

    /// Ends the connection.
    func end(_ ending: ConnectionGate.Ending) {
        guard ending == .tooSlow, activity.mayBeAnswered, let context else { return socket.cut() }
        let bytes = PlainAnswer.bytes(408, reason: "Request Timeout", text: "The request took too long to arrive")
        let socket = NIOLoopBound(socket, eventLoop: context.eventLoop)
        context.writeAndFlush(Self.wrapOutboundOut(bytes)).whenComplete { _ in socket.value.cut() }
        context.eventLoop.scheduleTask(in: Self.closeTimeout) { socket.value.cut() }
    }
}
