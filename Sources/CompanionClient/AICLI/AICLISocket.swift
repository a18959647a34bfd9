import CompanionWire
import FoundationEssentials
import NIOCore
import NIOSSL
import NIOWebSocket

/// One WebSocket (RFC 6455) to an AICLI server, over TLS if the server was paired with it.
struct AICLISocket: Sendable {
    /// The most bytes of a message, and of each of its frames. If a frame announces more, no memory is allocated for
    /// it.
    static let largestMessage = 8 << 20

    private let frames: WebSocketOpening.Frames
    private let line: WebSocketMonitor

    /// - Parameter longestSilence: After this long without a frame, the connection counts as dead and is closed.
    /// - Returns: nil if the server does not answer with a WebSocket, or closes the connection.
    init?(client: AICLIClient, longestSilence: Duration) async throws {
        var opening = WebSocketOpening(
            target: .address(client.endpoint),
            path: "/ws",
            headers: client.credentials,
            timeouts: client.configuration.timeouts,
            largestMessage: Self.largestMessage,
            longestSilence: TimeAmount(longestSilence)
        )
        if let pin = client.security.certificate?.spki {
            let context = try NIOSSLContext(configuration: PinnedTLS.clientConfiguration)
            let endpoint = client.endpoint
            opening.prepare = { channel in
                let tls = try PinnedTLS.verifyingHandler(context, host: endpoint, pin: pin) { _ in }
                try channel.pipeline.syncOperations.addHandler(tls)
            }
        }
        let upgrade = try await opening.connect()
        let frames = try? await upgrade.frames()
        try Task.checkCancellation()
        guard let frames else { return nil }
        self.frames = frames
        line = opening.line
    }

    /// Reports incoming frames until the connection ends, and sends the requests.
    ///
    /// - Parameters:
    ///   - requests: JSON texts to send. When the stream finishes, the connection is closed.
    ///   - budget: What may arrive in total.
    /// - Returns: How the connection ended.
    func run(
        sending requests: AsyncStream<[UInt8]>,
        within budget: StreamBudget,
        _ take: @Sendable @escaping (AICLIFrame) -> Void
    ) async throws -> AICLIClosure {
        let end = try await frames.executeThenClose { inbound, outbound in
            try await withThrowingTaskGroup(of: AICLIClosure?.self) { group in
                group.addTask {
                    for await request in requests {
                        let buffer = ByteBuffer(bytes: request)
                        let frame = WebSocketFrame(fin: true, opcode: .text, maskKey: .random(), data: buffer)
                        // If the connection is gone, the reader reports it.
                        do { try await outbound.write(frame) } catch { return nil }
                    }
                    // The stream of requests has finished: nobody needs the connection any more.
                    return AICLIClosure()
                }
                group.addTask { try await Self.read(inbound, outbound: outbound, within: budget, take) }
                defer { group.cancelAll() }
                while let end = try await group.next() {
                    if let end { return end }
                }
                return AICLIClosure()
            }
        }
        // If the peer broke the protocol, report that instead of the resulting close.
        guard let fault = line.fault else { return end }
        return fault == .tooLarge ? Self.tooLarge : Self.isGarbage
    }

    private static func read(
        _ inbound: NIOAsyncChannelInboundStream<WebSocketFrame>,
        outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>,
        within budget: StreamBudget,
        _ take: (AICLIFrame) -> Void
    ) async throws -> AICLIClosure {
        var received = 0
        var garbage = 0
        do {
            for try await frame in inbound {
                received += frame.length
                guard budget.takes(bytes: frame.length) else { return tooLarge }
                switch frame.opcode {
                case .text, .binary:
                    guard budget.takesFrame() else { return tooLarge }
                    if let frame = AICLIFrame(json: frame.unmaskedData.readableBytesView) {
                        take(frame)
                    } else {
                        garbage += 1
                        guard garbage < 100 else { return isGarbage }
                    }
                case .ping:
                    let data = frame.unmaskedData
                    try? await outbound.write(WebSocketFrame(fin: true, opcode: .pong, maskKey: .random(), data: data))
                case .connectionClose:
                    var data = frame.unmaskedData
                    let code = data.readWebSocketErrorCode().map { Int(UInt16(webSocketErrorCode: $0)) }
                    return AICLIClosure(code: code)
                default: continue
                }
            }
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            return AICLIClosure(isMute: received == 0)
        }
        return AICLIClosure(isMute: received == 0)
    }

    private static var tooLarge: AICLIClosure {
        AICLIClosure(error: CompanionClientError(.tooLarge, message: "The host sent an answer that is too large."))
    }

    private static var isGarbage: AICLIClosure {
        AICLIClosure(error: CompanionClientError(.badAnswer, message: "The host sent an invalid message."))
    }
}

/// How a connection ended.
package struct AICLIClosure: Sendable {
    /// The code of the close frame (RFC 6455, section 7.4); nil if there was none.
    package var code: Int?
    /// The error that ended the connection, if there was one.
    package var error: CompanionClientError?
    /// Whether nothing arrived before the end. The server may have sent a reason: data that arrives together with the
    /// close is sometimes lost during the upgrade to a WebSocket.
    package var isMute: Bool

    package init(code: Int? = nil, error: CompanionClientError? = nil, isMute: Bool = false) {
        self.code = code
        self.error = error
        self.isMute = isMute
    }

    /// Servers complete the handshake of a client with a wrong token, then close the connection with this code.
    package var isRefusal: Bool { code == 1008 }
}
