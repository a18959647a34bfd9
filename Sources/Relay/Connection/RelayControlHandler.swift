import CompanionWire
import NIOCore
import NIOTLS

/// Holds a conversation with a relay on a connection in protocol mode, behind the handler for TLS.
///
/// Every connection ends with one ``RelayAction/fail(_:)``, even one that is closed from here.
final class RelayControlHandler<Conversation: RelayConversation>: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let relay: String
    private let silence: TimeAmount
    private var conversation: Conversation
    private var decoder: RelayMessageDecoder
    /// Gets every action but ``RelayAction/send(_:)``, on the event loop. nil from the end on.
    private var report: ((RelayAction) -> Void)?
    /// When something came, or silence was reported, for the last time.
    private var lastSign = NIODeadline.distantPast
    private var timer: Scheduled<Void>?

    /// - Parameters:
    ///   - relay: The address and port of the relay, for errors.
    ///   - silence: The time without a message after which the conversation is told, again and again.
    init(
        _ conversation: Conversation,
        relay: String,
        silence: Duration,
        report: @escaping (RelayAction) -> Void
    ) {
        self.conversation = conversation
        self.relay = relay
        self.silence = TimeAmount(silence)
        self.report = report
        decoder = RelayMessageDecoder(relay: relay)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case TLSUserEvent.handshakeCompleted:
            handle(.connected, context: context)
            lastSign = context.eventLoop.now
            setTimer(context: context)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lastSign = context.eventLoop.now
        decoder.append(unwrapInboundIn(data).readableBytesView)
        do throws(RelayError) {
            while report != nil, let message = try decoder.next() {
                handle(.message(message), context: context)
            }
        } catch {
            perform(.fail(error), context: context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        perform(.fail(.transport(error, relay: relay)), context: context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        perform(.fail(.closed(relay)), context: context)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        perform(.fail(.closed(relay)), context: context)
    }

    private func setTimer(context: ChannelHandlerContext) {
        guard report != nil else { return }
        timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: lastSign + silence) {
            let now = context.eventLoop.now
            if now >= self.lastSign + self.silence {
                self.lastSign = now
                self.handle(.silence, context: context)
            }
            self.setTimer(context: context)
        }
    }

    private func handle(_ event: RelayEvent, context: ChannelHandlerContext) {
        for action in conversation.handle(event) { perform(action, context: context) }
    }

    private func perform(_ action: RelayAction, context: ChannelHandlerContext) {
        switch action {
        case .send(let message):
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: message.bytes)), promise: nil)
        case .fail:
            guard let report else { return }
            self.report = nil
            timer?.cancel()
            report(action)
            context.close(promise: nil)
        case .joined, .invited, .ponged:
            report?(action)
        }
    }
}
