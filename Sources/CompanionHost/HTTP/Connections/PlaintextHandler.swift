import NIOCore
import NIOTLS

/// Between TLS, where there is one, and HTTP: sees when a handshake is complete and when a request begins, and ends a
/// request that takes too long.
final class PlaintextHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// How long a peer may take to read why its connection ends.
    private static let patience = TimeAmount.seconds(1)

    private let activity: ConnectionActivity
    private let wire: WireHandler
    private var context: ChannelHandlerContext?

    init(activity: ConnectionActivity, wire: WireHandler) {
        self.activity = activity
        self.wire = wire
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
        wire.note("no TLS handshake")
        wire.cut()
    }

    /// Ends the connection.
    func end(_ ending: ConnectionGate.Ending) {
        guard ending == .tooSlow, activity.mayBeAnswered, let context else { return wire.cut() }
        let bytes = PlainAnswer.bytes(408, "Request Timeout", "The request took too long to arrive")
        let wire = NIOLoopBound(wire, eventLoop: context.eventLoop)
        context.writeAndFlush(Self.wrapOutboundOut(bytes)).whenComplete { _ in wire.value.cut() }
        context.eventLoop.scheduleTask(in: Self.patience) { wire.value.cut() }
    }
}
