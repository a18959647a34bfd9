import CompanionWire
import FoundationEssentials
import NIOCore
import NIOFoundationCompat
import NIOPosix
import NIOSSL
import NIOWebSocket

/// One WebSocket (RFC 6455) to a host of protocol v2, over TLS with the pinned key.
struct LiveConnection: Sendable {
    /// In bytes.
    private static let largestEvent = 1 << 20

    private let frames: WebSocketOpening.Frames
    private let line: WebSocketMonitor

    /// - Returns: nil if the host does not answer with a WebSocket.
    /// - Throws: Any error of NIO, also if the host does not answer within the request timeout;
    ///   ``CompanionClientError/Code/pinMismatch``.
    init?(client: CompanionAPIClient, pin: String, token: String?) async throws {
        let context = try NIOSSLContext(configuration: PinnedTLS.clientConfiguration)
        let (line, target) = (client.line, client.target)
        var headers = [
            ("User-Agent", "pairtool"), (ProtocolVersion.header, "\(ProtocolVersion.maximum)"),
            (ProtocolVersion.viaHeader, target.rung.rawValue),
        ]
        if let token { headers.append(("Authorization", "Bearer \(token)")) }
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let verdict = loop.makePromise(of: Void.self)
        let opening = WebSocketOpening(
            target: target,
            path: "/companion/live",
            headers: headers,
            timeouts: target.allowing(client.configuration.timeouts),
            largestMessage: Self.largestEvent,
            // Hosts ping every 20 s.
            longestSilence: TimeAmount(client.configuration.timeouts.silence),
            group: loop,
            prepare: { channel in
                let tls = try PinnedTLS.verifyingHandler(context, host: target, pin: pin) {
                    verdict.completeWith($0.map { _ in })
                }
                try channel.pipeline.syncOperations.addHandler(tls)
                line.register(channel)
            }
        )
        do {
            let frames = try await opening.connect().frames()
            verdict.succeed()
            guard let frames else { return nil }
            self.frames = frames
            self.line = opening.line
        } catch {
            // A failed verification is the cause of the handshake's error, so throw that one instead.
            verdict.fail(error)
            try await verdict.futureResult.get()
            throw error
        }
    }

    /// The next frame; nil if the connection has ended, cleanly or not.
    private static func frame(
        _ inbound: inout NIOAsyncChannelInboundStream<WebSocketFrame>.AsyncIterator
    ) async throws -> WebSocketFrame? {
        do {
            return try await inbound.next()
        } catch {
            if error is CancellationError { throw error }
            return nil
        }
    }

    /// Reports events until the host closes the connection.
    func run(_ take: (LiveEvent) async throws -> Void) async throws {
        try await frames.executeThenClose { inbound, outbound in
            var next = inbound.makeAsyncIterator()
            while let frame = try await Self.frame(&next) {
                let data = frame.unmaskedData
                switch frame.opcode {
                case .text, .binary:
                    // Skip events that this version cannot read.
                    guard let event = try? CompanionJSON.decode(LiveEvent.self, fromPeer: Data(buffer: data)) else {
                        continue
                    }
                    try await take(event)
                case .ping:
                    try? await outbound.write(WebSocketFrame(fin: true, opcode: .pong, maskKey: .random(), data: data))
                case .connectionClose:
                    try? await outbound.write(
                        WebSocketFrame(fin: true, opcode: .connectionClose, maskKey: .random(), data: data)
                    )
                    return
                default: continue
                }
            }
            if line.fault == .tooLarge {
                throw CompanionClientError(.tooLarge, message: "The host sent a live event of more than 1 MiB.")
            }
        }
    }
}
