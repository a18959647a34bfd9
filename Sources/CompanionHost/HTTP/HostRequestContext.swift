import CompanionWire
import HTTPTypes
import Hummingbird
import NIOConcurrencyHelpers
import NIOCore

/// The context of a request for the routes: its connection, peer, body and version.
struct HostRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The connection, which has to be cut when its device's access ends.
    let channel: any Channel
    /// For the route of the live feed; nil where the connection cannot become a WebSocket.
    var upgrade: LiveUpgrade?
    /// The address of the client; nil if the connection has ended already.
    let peer: IPAddress?
    /// The body of a request with a JSON content type; nil for any other, which counts as `{}`.
    var json: ByteBuffer?
    /// Whether the request came by HTTPS.
    var isSecure = false
    /// The version of the protocol that the request speaks.
    var version = 1

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
        peer = source.channel.remoteAddress.flatMap(IPAddress.init(peer:))
    }

    /// Whether the request comes from this machine's loopback interface.
    var isLoopback: Bool {
        peer?.scope == .loopback
    }

    /// The address of the client.
    ///
    /// - Throws: 400 if the connection has ended already.
    func address() throws -> IPAddress {
        guard let peer else { throw HostResponseError(.badRequest, HostError.internal.text) }
        return peer
    }

    /// A path parameter with its percent escapes resolved.
    ///
    /// - Throws: 400 when they do not make valid UTF-8, or make a NUL.
    func parameter(_ name: String) throws -> String {
        let raw = parameters.get(name) ?? ""
        // SQLite's texts end at a NUL: two ids must not become one.
        guard let bytes = percentDecoded(raw[...]), let text = String(validating: bytes, as: UTF8.self),
            !text.utf8.contains(0)
        else {
            throw HostResponseError(.badRequest, "Malformed path")
        }
        return text.trimmingWhitespace()
    }
}

/// How the route of the live feed tells a connection that its request may become a WebSocket.
final class LiveUpgrade: Sendable {
    private let box = NIOLockedValueBox<AuthenticatedDevice?>(nil)

    /// The device that was let in.
    var device: AuthenticatedDevice? {
        get { box.withLockedValue { $0 } }
        set { box.withLockedValue { $0 = newValue } }
    }
}
