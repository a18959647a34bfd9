import CompanionWire
import FoundationEssentials
import NIOCore
import NIOSSL
import NIOWebSocket

/// One WebSocket to an AICLI server (RFC 6455), over TLS where the server was paired by it.
struct AICLISocket: Sendable {
    /// The most bytes of a message, and of a frame of it. Nothing is allocated for a frame that says that it has more.
    static let largestMessage = 8 << 20

    private let frames: WebSocketOpening.Frames
    private let line: WebSocketMonitor

    /// - Parameter longestSilence: After so long without a frame the connection is dead, and is closed.
    /// - Returns: Nil where the server answers with something else than a WebSocket, or ends the connection instead.
    init?(client: AICLIClient, longestSilence: Duration) async throws {
        var opening = WebSocketOpening(
            endpoint: client.endpoint,
            path: "/ws",
            headers: client.credentials,
            timeouts: client.configuration.timeouts,
            largestFrame: Self.largestMessage,
            longestSilence: TimeAmount(longestSilence)
        )
        if let pin = client.security.certificate?.spki {
            let context = try NIOSSLContext(configuration: PinnedTLS.clientConfiguration)
            let endpoint = client.endpoint
            opening.prepare = { channel in
                let tls = try PinnedTLS.verifyingHandler(context, endpoint: endpoint, pin: pin) { _ in }
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

    /// Gives what comes until the connection ends, and sends what is asked for.
    ///
    /// - Parameters:
    ///   - requests: JSON texts to send. Their end closes the connection.
    ///   - limit: The most bytes that may come in all.
    /// - Returns: How the connection ended.
    func run(
        sending requests: AsyncStream<[UInt8]>,
        limit: Int,
        _ take: @Sendable @escaping (AICLIFrame) -> Void
    ) async throws -> AICLIClosure {
        let end = try await frames.executeThenClose { inbound, outbound in
            try await withThrowingTaskGroup(of: AICLIClosure?.self) { group in
                group.addTask {
                    for await request in requests {
                        let buffer = ByteBuffer(bytes: request)
                        let frame = WebSocketFrame(fin: true, opcode: .text, maskKey: .random(), data: buffer)
                        // A connection that is gone says so to the reader.
                        do { try await outbound.write(frame) } catch { return nil }
                    }
                    // Nobody wants the connection any more.
                    return AICLIClosure()
                }
                group.addTask { try await Self.read(inbound, outbound, limit: limit, take) }
                defer { group.cancelAll() }
                while let end = try await group.next() {
                    if let end { return end }
                }
                return AICLIClosure()
            }
        }
        // What broke the rules of the line is the cause of whatever end came of it.
        guard let fault = line.fault else { return end }
        return fault == .invalidFrameLength ? Self.tooLarge : Self.isGarbage
    }

    private static func read(
        _ inbound: NIOAsyncChannelInboundStream<WebSocketFrame>,
        _ outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>,
        limit: Int,
        _ take: (AICLIFrame) -> Void
    ) async throws -> AICLIClosure {
        var message = ByteBuffer()
        var received = 0
        var garbage = 0
        do {
            for try await frame in inbound {
                var data = frame.unmaskedData
                received += data.readableBytes
                guard received <= limit else { return tooLarge }
                switch frame.opcode {
                case .text, .binary, .continuation:
                    guard message.readableBytes + data.readableBytes <= largestMessage else { return tooLarge }
                    message.writeBuffer(&data)
                    guard frame.fin else { continue }
                    defer { message.clear() }
                    if let frame = AICLIFrame(json: message.readableBytesView) {
                        take(frame)
                    } else {
                        garbage += 1
                        guard garbage < 100 else { return isGarbage }
                    }
                case .ping:
                    try? await outbound.write(WebSocketFrame(fin: true, opcode: .pong, maskKey: .random(), data: data))
                case .connectionClose:
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
        AICLIClosure(error: CompanionClientError(.tooLarge, "The host sends more than an answer may have."))
    }

    private static var isGarbage: AICLIClosure {
        AICLIClosure(error: CompanionClientError(.badAnswer, "The host sends what is no message of its protocol."))
    }
}

/// How a connection ended.
package struct AICLIClosure: Sendable {
    /// The code of the close frame (RFC 6455, section 7.4); nil where there was none.
    package var code: Int?
    package var error: CompanionClientError?
    /// Whether nothing came before the end. The server may have said why all the same: what comes together with the end
    /// does not always get through the upgrade to a WebSocket.
    package var isMute: Bool

    package init(code: Int? = nil, error: CompanionClientError? = nil, isMute: Bool = false) {
        self.code = code
        self.error = error
        self.isMute = isMute
    }

    /// Servers complete the handshake of a client whose token is wrong, and then close.
    package var isRefusal: Bool { code == 1008 }
}
