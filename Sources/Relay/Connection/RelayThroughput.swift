import NIOCore

/// Writes bytes into a pipe for as long as it is open, one piece at a time.
final class RelayByteSource: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let piece = ByteBuffer(repeating: 0x5A, count: 64 << 10)

    func handlerAdded(context: ChannelHandlerContext) {
        write(context: context)
    }

    private func write(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(piece)).assumeIsolated().whenSuccess {
            // In a turn of the loop of its own: the other end of the pipe may be on the same one.
            context.eventLoop.assumeIsolated().execute { self.write(context: context) }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}

/// Counts the bytes that come out of a pipe in a time that begins with the first of them.
final class RelayByteCounter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let duration: TimeAmount
    private let bytesPerSecond: EventLoopPromise<Double>
    private var count = 0
    private var start: NIODeadline?

    /// - Parameter bytesPerSecond: Fails where the pipe ends before.
    init(for duration: Duration, bytesPerSecond: EventLoopPromise<Double>) {
        self.duration = TimeAmount(duration)
        self.bytesPerSecond = bytesPerSecond
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        count += unwrapInboundIn(data).readableBytes
        guard start == nil else { return }
        let begin = NIODeadline.now()
        start = begin
        context.eventLoop.assumeIsolated().scheduleTask(in: duration) {
            let seconds = Duration(NIODeadline.now() - begin) / .seconds(1)
            self.bytesPerSecond.succeed(Double(self.count) / max(seconds, 0.001))
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        bytesPerSecond.fail(ChannelError.eof)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        bytesPerSecond.fail(error)
        context.close(promise: nil)
    }
}
