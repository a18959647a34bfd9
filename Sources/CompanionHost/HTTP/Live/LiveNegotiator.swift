import NIOCore
import NIOHTTP1

/// Decides whether a connection's first request becomes a WebSocket, before NIO's upgrade handler sees it: that handler
/// drops requests whose upgrade it refuses, and they would never be answered.
///
/// A request that is not granted is passed on without its `Upgrade`, as the connection's last one: NIO's parser reads
/// nothing behind a request for an upgrade. A connection whose first bytes are no request is answered and closed.
final class LiveNegotiator: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private enum State {
        case waiting
        /// The router is being asked about a head; the parts are those that have come behind it.
        case asking(HTTPRequestHead, [HTTPServerRequestPart])
        case done
    }

    private var state = State.waiting
    private let isMalformed: () -> Void
    private let isGranted: (any Channel, HTTPRequestHead) -> EventLoopFuture<Bool>

    /// - Parameter isMalformed: Called if the first bytes are no request.
    init(
        isMalformed: @escaping () -> Void,
        isGranted: @escaping (any Channel, HTTPRequestHead) -> EventLoopFuture<Bool>
    ) {
        self.isMalformed = isMalformed
        self.isGranted = isGranted
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Behind the first request, the server's library answers.
        if case .done = state { return context.fireErrorCaught(error) }
        guard let error = error as? HTTPParserError else { return context.fireErrorCaught(error) }
        state = .done
        guard error != .invalidEOFState else { return context.close(promise: nil) }
        isMalformed()
        let head = HTTPResponseHead(
            version: .http1_1,
            status: .badRequest,
            headers: ["Connection": "close", "Content-Length": "0"]
        )
        context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
        let channel = context.channel
        context.writeAndFlush(Self.wrapOutboundOut(.end(nil))).whenComplete { _ in channel.close(promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch state {
        case .done: context.fireChannelRead(data)
        case .asking(let head, let parts): state = .asking(head, parts + [Self.unwrapInboundIn(data)])
        case .waiting:
            guard case .head(let head) = Self.unwrapInboundIn(data), head.headers.contains(name: "Upgrade") else {
                state = .done
                return context.fireChannelRead(data)
            }
            state = .asking(head, [])
            guard Self.isWebSocket(head) else { return decide(context, isGranted: false) }
            isGranted(context.channel, head).hop(to: context.eventLoop).assumeIsolated().whenComplete { result in
                self.decide(context, isGranted: (try? result.get()) ?? false)
            }
        }
    }

    private func decide(_ context: ChannelHandlerContext, isGranted: Bool) {
        guard case .asking(var head, let parts) = state else { return }
        state = .done
        if !isGranted {
            head.headers.remove(name: "Upgrade")
            head.headers.replaceOrAdd(name: "Connection", value: "close")
        }
        context.fireChannelRead(Self.wrapInboundOut(.head(head)))
        for part in parts { context.fireChannelRead(Self.wrapInboundOut(part)) }
        context.fireChannelReadComplete()
    }

    /// Whether NIO will take a request as the opening handshake of RFC 6455, section 4.2.1.
    static func isWebSocket(_ head: HTTPRequestHead) -> Bool {
        let headers = head.headers
        let isEmpty = headers["Transfer-Encoding"].isEmpty && headers["Content-Length"].allSatisfy { $0 == "0" }
        return head.method == .GET && head.version == .http1_1 && isEmpty
            && headers[canonicalForm: "Upgrade"].map { $0.lowercased() } == ["websocket"]
            && headers[canonicalForm: "Connection"].contains { $0.lowercased() == "upgrade" }
            && headers["Sec-WebSocket-Key"].count == 1
            && headers["Sec-WebSocket-Version"] == ["13"]
    }
}
