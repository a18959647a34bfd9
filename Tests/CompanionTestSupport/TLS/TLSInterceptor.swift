import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NIOSSL

/// Somebody in between: ends TLS with a certificate of its own, and passes on to a host what it reads, both ways.
package struct TLSInterceptor: Sendable {
    package let port: Int
    package let certificate: TestCertificate
    fileprivate let heard: NIOLockedValueBox<[UInt8]>

    /// All that passed through in the clear, both ways.
    package var overheard: String { String(decoding: heard.withLockedValue { $0 }, as: UTF8.self) }
}

/// Runs `body` with somebody in between it and the host at a port of this machine.
///
/// - Parameters:
///   - certificate: Default: one of its own. With the host's it is no interceptor, but hears all that the two say.
///   - rewrite: Says something else in the host's place: gets what it sent, and returns what goes on; nil waits for more.
///     Default: nothing is changed.
package func withTLSInterceptor<Result>(
    before hostPort: Int,
    certificate: TestCertificate? = nil,
    rewrite: @escaping @Sendable ([UInt8]) -> [UInt8]? = { $0 },
    isolation: isolated (any Actor)? = #isolation,
    _ body: (TLSInterceptor) async throws -> Result
) async throws -> Result {
    let certificate = try certificate ?? TestCertificate()
    let context = try certificate.serverContext()
    var upstream = TLSConfiguration.makeClientConfiguration()
    upstream.certificateVerification = .none
    let upstreamContext = try NIOSSLContext(configuration: upstream)
    let heard = NIOLockedValueBox<[UInt8]>([])
    let children = NIOLockedValueBox<[any Channel]>([])
    let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        .childChannelOption(.autoRead, value: false)
        .childChannelInitializer { channel in
            children.withLockedValue { $0.append(channel) }
            let connecting = ClientBootstrap(group: channel.eventLoop)
                .channelInitializer { other in
                    other.eventLoop.makeCompletedFuture {
                        let tls = try NIOSSLClientHandler(context: upstreamContext, serverHostname: nil)
                        try other.pipeline.syncOperations.addHandlers([
                            tls, Relay(to: channel, heard: heard, rewrite: rewrite),
                        ])
                    }
                }
                .connect(host: "127.0.0.1", port: hostPort)
            return connecting.flatMap { other in
                channel.eventLoop.makeCompletedFuture {
                    let tls = NIOSSLServerHandler(context: context)
                    try channel.pipeline.syncOperations.addHandlers([tls, Relay(to: other, heard: heard)])
                }
                .flatMap { channel.setOption(.autoRead, value: true) }
            }
        }
        .bind(host: "127.0.0.1", port: 0).get()
    let outcome: Swift.Result<Result, any Error>
    do {
        let port = server.localAddress?.port ?? 0
        outcome = .success(try await body(TLSInterceptor(port: port, certificate: certificate, heard: heard)))
    } catch {
        outcome = .failure(error)
    }
    try? await server.close()
    for child in children.withLockedValue({ $0 }) { try? await child.close() }
    return try outcome.get()
}

/// Passes on what a channel reads to another one of the same loop.
private final class Relay: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let other: any Channel
    private let heard: NIOLockedValueBox<[UInt8]>
    private let rewrite: @Sendable ([UInt8]) -> [UInt8]?
    private let held = NIOLockedValueBox<[UInt8]>([])

    init(
        to other: any Channel,
        heard: NIOLockedValueBox<[UInt8]>,
        rewrite: @escaping @Sendable ([UInt8]) -> [UInt8]? = { $0 }
    ) {
        (self.other, self.heard, self.rewrite) = (other, heard, rewrite)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        heard.withLockedValue { $0 += bytes.readableBytesView }
        let passed = held.withLockedValue { held -> [UInt8]? in
            held += bytes.readableBytesView
            guard let passed = rewrite(held) else { return nil }
            held = []
            return passed
        }
        if let passed { other.writeAndFlush(ByteBuffer(bytes: passed), promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        other.close(promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
