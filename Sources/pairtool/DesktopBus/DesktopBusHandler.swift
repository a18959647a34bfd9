import NIOCore

/// A call, and whom its answer is for.
struct DesktopBusCall: Sendable {
    var message: DBusMessage
    var answer: EventLoopPromise<DBusMessage>
}

/// Speaks D-Bus on a channel: authenticates (D-Bus specification, Authentication Protocol: EXTERNAL), sends calls, and
/// hands out answers and signals.
final class DesktopBusHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = DesktopBusCall
    typealias OutboundOut = ByteBuffer

    private enum Phase {
        case authenticating, speaking, over
    }

    private let user: String
    private let patience: TimeAmount
    private let ready: EventLoopPromise<Void>
    private let signals: AsyncStream<DBusMessage>.Continuation
    private var phase = Phase.authenticating
    private var received: [UInt8] = []
    private var serial: UInt32 = 0
    private var waiting: [UInt32: (answer: EventLoopPromise<DBusMessage>, limit: Scheduled<Void>)] = [:]
    private var limit: Scheduled<Void>?

    init(
        user: String,
        patience: TimeAmount,
        ready: EventLoopPromise<Void>,
        signals: AsyncStream<DBusMessage>.Continuation
    ) {
        self.user = user
        self.patience = patience
        self.ready = ready
        self.signals = signals
    }

    func channelActive(context: ChannelHandlerContext) {
        let name = user.utf8.map { String($0, radix: 16) }.joined()
        send(Array("\0AUTH EXTERNAL \(name)\r\n".utf8), context)
        let channel = context.channel
        limit = context.eventLoop.scheduleTask(in: patience) { channel.close(promise: nil) }
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard phase != .over else { return }
        received += unwrapInboundIn(data).readableBytesView
        do {
            if phase == .authenticating { try authenticate(context) }
            while phase == .speaking, let size = try DBusMessage.size(of: received), size <= received.count {
                let bytes = Array(received[..<size])
                received.removeFirst(size)
                take(try DBusMessage(parsing: bytes))
            }
        } catch {
            end(DesktopBus.Failure(description: "what answers on the desktop's message bus does not speak D-Bus"))
            context.close(promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(DesktopBus.Failure(description: "the desktop's message bus has closed the connection, or does not answer"))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        end(DesktopBus.Failure(description: "the connection to the desktop's message bus failed: \(error)"))
        context.close(promise: nil)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let call = unwrapOutboundIn(data)
        guard phase == .speaking else {
            let failure = DesktopBus.Failure(description: "the connection to the desktop's message bus has ended")
            call.answer.fail(failure)
            promise?.fail(failure)
            return
        }
        serial += 1
        var message = call.message
        message.serial = serial
        let name = message.destination ?? "the bus"
        let answer = call.answer
        let limit = context.eventLoop.assumeIsolated().scheduleTask(in: patience) { [serial] in
            self.waiting.removeValue(forKey: serial)
            answer.fail(DesktopBus.Failure(description: "\(name) does not answer"))
        }
        waiting[serial] = (answer, limit)
        context.write(wrapOutboundOut(ByteBuffer(bytes: message.bytes)), promise: promise)
    }

    private func authenticate(_ context: ChannelHandlerContext) throws {
        guard let end = received.firstIndex(of: UInt8(ascii: "\n")) else {
            guard received.count < 4096 else { throw DBusFormatError() }
            return
        }
        let line = received[..<end]
        received.removeFirst(end + 1)
        guard line.starts(with: Array("OK ".utf8)) else { throw DBusFormatError() }
        limit?.cancel()
        send(Array("BEGIN\r\n".utf8), context)
        phase = .speaking
        ready.succeed()
    }

    private func send(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
    }

    private func take(_ message: DBusMessage) {
        switch message.kind {
        case .answer, .error:
            guard let call = message.replySerial.flatMap({ waiting.removeValue(forKey: $0) }) else { return }
            call.limit.cancel()
            call.answer.succeed(message)
        case .signal: signals.yield(message)
        // No other program has a reason to call this connection.
        case .call: break
        }
    }

    private func end(_ failure: DesktopBus.Failure) {
        guard phase != .over else { return }
        phase = .over
        limit?.cancel()
        ready.fail(failure)
        for call in waiting.values {
            call.limit.cancel()
            call.answer.fail(failure)
        }
        waiting = [:]
        signals.finish()
    }
}
