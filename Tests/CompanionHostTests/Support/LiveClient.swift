import CompanionWire
import FoundationEssentials
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket

/// A WebSocket client of a host's live feed, which pins the host's certificate.
struct LiveClient: Sendable {
    typealias Channel = NIOAsyncChannel<WebSocketFrame, WebSocketFrame>

    /// All that comes, in order. A connection that is reset has ended.
    let frames: AsyncStream<WebSocketFrame>
    let outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>

    /// Connects and runs a body.
    ///
    /// - Parameter answersPings: Whether pings get their pongs, whatever the body does meanwhile. The host ends a
    ///   connection that answers none, which a slow machine would take for a fault. Default: they do.
    static func with<Result: Sendable>(
        _ host: TestHost,
        token: String?,
        answersPings: Bool = true,
        _ body: @escaping @Sendable (LiveClient) async throws -> Result
    ) async throws -> Result {
        guard let channel = try await connect(host, token: token) else {
            throw TestFailure("the host did not upgrade")
        }
        return try await channel.executeThenClose { inbound, outbound in
            let (frames, source) = AsyncStream.makeStream(of: WebSocketFrame.self)
            return try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    defer { source.finish() }
                    do {
                        for try await frame in inbound {
                            source.yield(frame)
                            guard answersPings, frame.opcode == .ping else { continue }
                            let pong = WebSocketFrame(
                                fin: true,
                                opcode: .pong,
                                maskKey: .random(),
                                data: frame.data
                            )
                            // What the host has sent before the end is still to be read.
                            try? await outbound.write(pong)
                        }
                    } catch {}
                }
                defer { group.cancelAll() }
                return try await body(LiveClient(frames: frames, outbound: outbound))
            }
        }
    }

    /// Whether the host lets a client in.
    static func isUpgraded(
        _ host: TestHost,
        token: String?,
        headers: [(String, String)] = []
    ) async throws -> Bool {
        guard let channel = try await connect(host, token: token, headers: headers) else { return false }
        // The host may be quicker with the end.
        try? await channel.executeThenClose { _, _ in }
        return true
    }

    /// - Returns: nil when the host did not upgrade.
    static func connect(
        _ host: TestHost,
        token: String?,
        headers extra: [(String, String)] = []
    ) async throws -> Channel? {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates([host.certificate])
        tls.certificateVerification = .noHostnameVerification
        let context = try NIOSSLContext(configuration: tls)
        let negotiated = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: host.tlsPort) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        NIOSSLClientHandler(context: context, serverHostname: nil)
                    )
                    let upgrader = NIOTypedWebSocketClientUpgrader<Channel?> { channel, _ in
                        channel.eventLoop.makeCompletedFuture { try Channel(wrappingChannelSynchronously: channel) }
                    }
                    var headers: HTTPHeaders = ["Host": "127.0.0.1", "Content-Length": "0"]
                    headers.add(name: ProtocolVersion.header, value: "2")
                    if let token { headers.add(name: "Authorization", value: "Bearer \(token)") }
                    for (name, value) in extra { headers.replaceOrAdd(name: name, value: value) }
                    var configuration = NIOUpgradableHTTPClientPipelineConfiguration(
                        upgradeConfiguration: NIOTypedHTTPClientUpgradeConfiguration(
                            upgradeRequestHead: HTTPRequestHead(
                                version: .http1_1,
                                method: .GET,
                                uri: "/companion/live",
                                headers: headers
                            ),
                            upgraders: [upgrader],
                            notUpgradingCompletionHandler: { channel in
                                channel.eventLoop.execute { channel.close(promise: nil) }
                                return channel.eventLoop.makeSucceededFuture(nil)
                            }
                        )
                    )
                    // The first frame may come together with the answer to the upgrade.
                    configuration.leftOverBytesStrategy = .forwardBytes
                    return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(
                        configuration: configuration
                    )
                }
            }
        return try await negotiated.get()
    }

    func send(_ opcode: WebSocketOpcode, _ text: String = "", isMasked: Bool = true) async throws {
        let mask: WebSocketMaskingKey? = isMasked ? .random() : nil
        let data = ByteBuffer(string: text)
        try await outbound.write(WebSocketFrame(fin: true, opcode: opcode, maskKey: mask, data: data))
    }

    /// The next frame; nil at the end of the connection.
    func frame() async -> WebSocketFrame? {
        for await frame in frames { return frame }
        return nil
    }

    /// The next event; other frames are passed over.
    func event() async throws -> LiveEvent {
        var end = "no close frame"
        while let frame = await frame() {
            if frame.opcode == .connectionClose {
                var data = frame.data
                let code = data.readWebSocketErrorCode().map { "\($0)" } ?? "no code"
                end = "\(code) \(String(buffer: data))"
            }
            guard frame.opcode == .text else { continue }
            return try CompanionJSON.decoder().decode(LiveEvent.self, from: Data(frame.data.readableBytesView))
        }
        throw TestFailure("the connection ended: \(end)")
    }

    /// The first event of a kind.
    func event(_ kind: LiveEvent.Kind) async throws -> LiveEvent {
        while true {
            let event = try await event()
            if event.type == kind { return event }
        }
    }

    /// Reads to the end; the code and the reason of the close frame, if there is one.
    func close() async -> (code: WebSocketErrorCode, reason: String)? {
        var close: (WebSocketErrorCode, String)?
        while let frame = await frame() {
            guard frame.opcode == .connectionClose else { continue }
            var data = frame.data
            close = data.readWebSocketErrorCode().map { ($0, String(buffer: data)) }
        }
        return close
    }
}
