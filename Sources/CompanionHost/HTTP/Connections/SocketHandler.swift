import CompanionWire
import FoundationEssentials
import NIOCore

/// Next to the socket: closes a connection at once, and looks at the first bytes that come to a port of HTTPS.
///
/// A client that speaks plain HTTP there gets an answer that says so. (Bytes of a TLS
/// handshake begin with 22: RFC 8446, section 5.1.)
final class SocketHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum State {
        case fresh
        case passing
        /// The peer was answered. Further bytes are thrown away until it has read the answer.
        case draining(bytes: Int)
    }

    /// How long a peer that was answered may take to close.
    private static let closeTimeout = TimeAmount.seconds(1)
    /// Bytes that are thrown away for it.
    private static let drainLimit = 64 << 10

    private let gate: ConnectionGate
    private let peer: IPAddress?
    private var state: State
    private var isNoted = false
    private var context: ChannelHandlerContext?

    init(gate: ConnectionGate, peer: IPAddress?, isSecure: Bool) {
        self.gate = gate
        self.peer = peer
        state = isSecure ? .fresh : .passing
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    /// Closes the socket at once: a peer that is to be ended does not get to agree on the end of TLS first.
    func cut() {
        context?.close(promise: nil)
    }

    /// Logs that the peer sent something other than a request; once for each connection.
    func note(_ reason: String) {
        guard let peer, !isNoted else { return }
        isNoted = true
        gate.note(reason, of: peer)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch state {
        case .passing: context.fireChannelRead(data)
        case .draining(let bytes):
            let count = bytes + Self.unwrapInboundIn(data).readableBytes
            state = .draining(bytes: count)
            if count > Self.drainLimit { cut() }
        case .fresh:
            let bytes = Self.unwrapInboundIn(data)
            guard let first = bytes.getInteger(at: bytes.readerIndex, as: UInt8.self) else { return }
            if first == 22 {
                state = .passing
                context.fireChannelRead(data)
            } else if UInt8(ascii: "A")...UInt8(ascii: "Z") ~= first {
                note("plain HTTP to the port of HTTPS")
                answer(context)
            } else {
                note("neither TLS nor HTTP")
                cut()
            }
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .draining = state, let event = event as? ChannelEvent, event == .inputClosed {
            cut()
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    private func answer(_ context: ChannelHandlerContext) {
        state = .draining(bytes: 0)
        let bytes = PlainAnswer.bytes(
            400,
            reason: "Bad Request",
            text: CompanionErrorResponse.Text.httpsOnly
        )
        context.writeAndFlush(Self.wrapOutboundOut(bytes), promise: nil)
        context.close(mode: .output, promise: nil)
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: Self.closeTimeout) { handler.value.cut() }
    }
}

/// An answer that is written without a request's way through the routes.
enum PlainAnswer {
    static func bytes(_ status: Int, reason: String, text: String) -> ByteBuffer {
        let encoded = try? CompanionJSON.encoder().encode(CompanionErrorResponse(error: text))
        let body = encoded.map { String(decoding: $0, as: UTF8.self) } ?? ""
        return ByteBuffer(
            string: "HTTP/1.1 \(status) \(reason)\r\nContent-Type: application/json; charset=utf-8\r\n"
                + "Cache-Control: no-store\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        )
    }
}
