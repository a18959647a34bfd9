package import CompanionWire
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS

/// TLS 1.3 with hosts whose certificates nobody but themselves has signed.
///
/// The HTTP library has no callback that could compare a pin. So the certificate is fetched first, its key compared
/// with the pin, and the library is then given that certificate as its only root: every connection ends at exactly that
/// key.
package enum PinnedTLS {
    /// Shakes hands with a host and returns the certificate whose key it has. Nothing is sent inside the connection.
    ///
    /// Certificates are public, and anyone can show one. This returns when the handshake is over, in which the host has
    /// signed with the key (RFC 8446, section 4.4.3).
    ///
    /// - Parameters:
    ///   - pin: The pin that the certificate's key must have. Nil: any, for a pairing that proves the key by itself.
    /// - Throws: ``CompanionClientError/Code/pinMismatch``, which names both pins, before the handshake is over;
    ///   ``CompanionClientError/Code/unreachable``; ``CompanionClientError/Code/notACompanion`` where no TLS 1.3 is
    ///   spoken; ``CompanionClientError/Code/refusedAddress``.
    package static func certificate(
        of endpoint: CompanionEndpoint,
        expecting pin: String?,
        configuration: CompanionClientConfiguration = .default
    ) async throws -> PinnedCertificate {
        try endpoint.requireLocal()
        return try await certificate(of: .address(endpoint), expecting: pin, configuration: configuration)
    }

    /// The same for a host that is not necessarily at a local address.
    package static func certificate(
        of target: ClientTarget,
        expecting pin: String?,
        configuration: CompanionClientConfiguration = .default
    ) async throws -> PinnedCertificate {
        try target.requireUsable()
        let timeouts = target.allowing(configuration.timeouts)
        do {
            return try await within(timeouts.connect) {
                try await handshake(with: target, expecting: pin, limit: timeouts.connect)
            }
        } catch is TimeLimitExceeded, ChannelError.connectTimeout {
            throw target.explained(
                CompanionClientError(
                    .unreachable,
                    message: "No TLS connection to \(target) within \(timeouts.connect.forPeople).",
                    delivery: .notSent
                )
            )
        } catch {
            throw target.explained(
                CompanionClientError.transport(error, endpoint: target, answered: false, timeouts: timeouts)
            )
        }
    }

    private static func handshake(
        with target: ClientTarget,
        expecting pin: String?,
        limit: Duration
    ) async throws -> PinnedCertificate {
        let context = try NIOSSLContext(configuration: clientConfiguration)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let found = loop.makePromise(of: PinnedCertificate.self)
        let bootstrap = ClientBootstrap(group: loop)
            .connectTimeout(TimeAmount(limit))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let end = HandshakeEnd(found: found)
                    let handler = try verifyingHandler(context, host: target, pin: pin, report: end.take)
                    try channel.pipeline.syncOperations.addHandlers([handler, end])
                }
            }
        let connecting = target.connect(bootstrap)
        connecting.whenFailure { found.fail($0) }
        return try await withTaskCancellationHandler {
            defer { connecting.whenSuccess { $0.close(promise: nil) } }
            return try await found.futureResult.get()
        } onCancel: {
            found.fail(CancellationError())
        }
    }

    /// A TLS handler that lets exactly those certificates pass whose key has the pin.
    ///
    /// - Parameter report: Gets the certificate, or why it is refused.
    static func verifyingHandler(
        _ context: NIOSSLContext,
        host: some CustomStringConvertible & Sendable,
        pin: String?,
        report: @escaping @Sendable (Result<PinnedCertificate, any Error>) -> Void
    ) throws -> NIOSSLClientHandler {
        try NIOSSLClientHandler(context: context, serverHostname: nil) { chain, verdict in
            do {
                guard let leaf = chain.first else { throw mismatch(host, expected: pin ?? "", shown: "none") }
                let certificate = try PinnedCertificate(leaf)
                guard pin == nil || pin == certificate.spki else {
                    throw mismatch(host, expected: pin ?? "", shown: certificate.spki)
                }
                report(.success(certificate))
                verdict.succeed(.certificateVerified)
            } catch {
                report(.failure(error))
                verdict.succeed(.failed)
            }
        }
    }

    static var clientConfiguration: TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        // A host in the middle of an answer does not read that the client closes. Whoever stops waiting for the answer
        // would wait for NIOSSL's 5 s.
        configuration.shutdownTimeout = .milliseconds(200)
        configuration.minimumTLSVersion = .tlsv13
        // The verifying handler's callback takes the place of the name and the roots: those of the system are not even
        // read.
        configuration.certificateVerification = .noHostnameVerification
        configuration.trustRoots = .certificates([])
        return configuration
    }

    static func clientConfiguration(trusting certificate: PinnedCertificate) throws -> TLSConfiguration {
        var configuration = clientConfiguration
        configuration.trustRoots = .certificates([try NIOSSLCertificate(bytes: certificate.der, format: .der)])
        return configuration
    }

    static func mismatch(
        _ host: some CustomStringConvertible,
        expected: String,
        shown: String
    ) -> CompanionClientError {
        CompanionClientError(
            .pinMismatch,
            message:
                "\(host) shows another TLS key, not the one that was paired: expected \(expected), shown \(shown). "
                + "Someone may be intercepting the connection; nothing was sent.",
            delivery: .notSent
        )
    }
}

/// Keeps a promise when a handshake is over, and fails it when the connection breaks before.
private final class HandshakeEnd: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let found: EventLoopPromise<PinnedCertificate>
    private let shown = NIOLockedValueBox<PinnedCertificate?>(nil)

    init(found: EventLoopPromise<PinnedCertificate>) {
        self.found = found
    }

    /// Takes in what the host shows, or why that is refused.
    func take(_ result: Result<PinnedCertificate, any Error>) {
        switch result {
        case .success(let certificate): shown.withLockedValue { $0 = certificate }
        case .failure(let error): found.fail(error)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent, let certificate = shown.withLockedValue(\.self) {
            found.succeed(certificate)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        found.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        found.fail(NIOSSLError.handshakeFailed(.sslError([.eofDuringHandshake])))
        context.fireChannelInactive()
    }
}
