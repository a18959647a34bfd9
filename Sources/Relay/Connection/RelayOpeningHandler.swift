import CompanionWire
import NIOCore

/// An open pipe.
struct RelayPipe<Output: Sendable>: Sendable {
    let channel: any Channel
    /// The result of the user's initializer. Succeeds when its handlers have got what came early.
    let output: EventLoopFuture<Output>
}

/// Opens a pipe on a connection in session mode, then makes way for the handlers of whoever uses it.
///
/// The other side may have sent something that comes together with the relay's answer. It is held until the user's
/// handlers are there, and reaches them first.
final class RelayOpeningHandler<Output: Sendable>: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum State {
        case opening
        /// The user's handlers are being added. Nothing reaches them yet.
        case handingOver(held: ByteBuffer)
        case over
    }

    private let relay: String
    private var opening: RelaySessionOpening
    private let opened: EventLoopPromise<RelayPipe<Output>>
    private let initializer: @Sendable (any Channel) -> EventLoopFuture<Output>
    private var state = State.opening
    /// nil once the handler is out of the pipeline.
    private var context: ChannelHandlerContext?

    /// - Parameters:
    ///   - relay: The address and port of the relay, for errors.
    ///   - opened: Is kept when the pipe is open.
    ///   - initializer: Adds the user's handlers; is called once, on the event loop, when the pipe is open.
    init(
        key: [UInt8],
        relay: String,
        opened: EventLoopPromise<RelayPipe<Output>>,
        initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Output>
    ) {
        self.relay = relay
        self.opened = opened
        self.initializer = initializer
        opening = RelaySessionOpening(key: key, relay: relay)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        handle(.connected, context: context)
        context.read()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        fail(.closed(relay), context: context)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch state {
        case .opening:
            handle(.received(Array(unwrapInboundIn(data).readableBytesView)), context: context)
        case .handingOver(var held):
            var bytes = unwrapInboundIn(data)
            held.writeBuffer(&bytes)
            state = .handingOver(held: held)
        case .over:
            context.fireChannelRead(data)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        switch state {
        case .opening: context.read()
        case .handingOver: break
        case .over: context.fireChannelReadComplete()
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard case .opening = state else { return context.fireErrorCaught(error) }
        fail(.transport(error, relay: relay), context: context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail(.closed(relay), context: context)
        passOn(context: context)
        context.fireChannelInactive()
    }

    private func handle(_ event: RelaySessionOpening.Event, context: ChannelHandlerContext) {
        switch opening.handle(event) {
        case nil: break
        case .send(let message):
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: message.bytes)), promise: nil)
        case .open(let early): open(early: early, context: context)
        case .fail(let error): fail(error, context: context)
        }
    }

    private func open(early: [UInt8], context: ChannelHandlerContext) {
        state = .handingOver(held: ByteBuffer(bytes: early))
        let channel = context.channel
        let ready = initializer(channel).hop(to: context.eventLoop).assumeIsolated()
            .map { output in
                self.handOver()
                return output
            }
            .nonisolated()
        ready.whenFailure { _ in channel.close(promise: nil) }
        opened.succeed(RelayPipe(channel: channel, output: ready))
    }

    /// Passes on what was held, and leaves the pipeline.
    private func handOver() {
        guard let context else { return }
        passOn(context: context)
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }

    private func passOn(context: ChannelHandlerContext) {
        guard case .handingOver(let held) = state else { return }
        state = .over
        guard held.readableBytes > 0 else { return }
        context.fireChannelRead(wrapInboundOut(held))
        context.fireChannelReadComplete()
    }

    private func fail(_ error: RelayError, context: ChannelHandlerContext) {
        guard case .opening = state else { return }
        state = .over
        opened.fail(error)
        context.close(promise: nil)
    }
}
