import CompanionWire
import NIOConcurrencyHelpers
import NIOCore
import NIOSSL

/// A connection to a relay in protocol mode: TLS in which both show certificates, and messages inside.
struct RelayControl: Sendable {
    let dialer: RelayDialer
    private let address: RelayAddress
    private let identity: RelayIdentity
    private let silence: Duration
    private let shown = NIOLockedValueBox<RelayID?>(nil)

    init(client: RelayClient) {
        address = client.address
        identity = client.identity
        silence = client.silence
        dialer = RelayDialer(client: client)
    }

    /// The id of the certificate that the relay has shown; nil before.
    var shownID: RelayID? { shown.withLockedValue(\.self) }

    /// Adds what a conversation needs to a channel that is active, on its event loop.
    ///
    /// - Parameters:
    ///   - report: Gets what the conversation wants done, on the event loop. The last is always a failure.
    ///   - onWrongID: Gets the error before any other where the relay is another one than the address says. Nothing is
    ///     sent to it.
    func converse<Conversation: RelayConversation>(
        _ conversation: Conversation,
        on channel: any Channel,
        report: @escaping (RelayAction) -> Void,
        onWrongID: @escaping @Sendable (RelayError) -> Void
    ) throws {
        let handler = RelayControlHandler(
            conversation,
            relay: address.authority,
            silence: silence,
            report: report
        )
        try channel.pipeline.syncOperations.addHandlers([tlsHandler(onWrongID: onWrongID), handler])
        try channel.syncOptions?.setOption(.autoRead, value: true)
    }

    private func tlsHandler(onWrongID: @escaping @Sendable (RelayError) -> Void) throws -> NIOSSLClientHandler {
        try NIOSSLClientHandler(context: identity.context, serverHostname: nil) { [address, shown] chain, verdict in
            guard let der = try? chain.first?.toDERBytes() else { return verdict.succeed(.failed) }
            let id = RelayID(certificate: der)
            shown.withLockedValue { $0 = id }
            if let expected = address.id, expected != id {
                onWrongID(.wrongID(address.authority, expected: expected, shown: id))
                return verdict.succeed(.failed)
            }
            verdict.succeed(.certificateVerified)
        }
    }
}
