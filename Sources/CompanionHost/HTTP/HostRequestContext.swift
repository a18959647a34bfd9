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
        peer = IPAddress(peerOf: source.channel)
    }

    /// The id that the client has shown to the relay by which it came; nil for one that came otherwise.
    var relayID: RelayID? { RelayPeers.id(of: channel) }

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

    /// The id of the chat that the path names.
    ///
    /// - Throws: 400 for an empty one; as ``parameter(_:)``.
    func chatID() throws -> String {
        let id = try parameter("id")
        guard !id.isEmpty else { throw HostResponseError(.badRequest, CompanionErrorResponse.Text.missingChatID) }
        return id
    }

    /// Reads the body, and checks that it is JSON where it says so: then ``json`` has it.
    ///
    /// - Throws: ``HostResponseError``: 413 for more bytes than the limit, 400 for a body that is no JSON, or breaks
    ///   off.
    mutating func readBody(of request: Request, upTo limit: Int) async throws {
        guard request.hasBody else { return }
        if let length = request.bodyLength, length > limit { throw Self.tooLarge(limit) }
        var body = ByteBuffer()
        do {
            for try await var part in request.body {
                guard body.readableBytes + part.readableBytes <= limit else {
                    throw Self.tooLarge(limit)
                }
                body.writeBuffer(&part)
            }
        } catch let error as HostResponseError {
            throw error
        } catch {
            // The connection has ended, or was ended. Nothing is wrong here.
            throw HostResponseError(
                .badRequest,
                "The body of the request broke off",
                headers: [.connection: "close"]
            )
        }
        guard request.hasJSON, body.readableBytes > 0 else { return }
        // Requests of v2 have codes of their own for what they cannot read.
        guard version >= 2 || HostJSON.isObjectOrArray(body) else {
            throw HostJSON.malformed
        }
        json = body
    }

    /// Reads the body of a request whose sender was refused, if it is small: as on deployed hosts, malformed JSON is
    /// reported first.
    ///
    /// - Throws: ``HostResponseError``: 400 for a body that is no JSON.
    func checkBody(ofRefused request: Request) async throws {
        var copy = self
        do {
            try await copy.readBody(of: request, upTo: BodyLimit.anybody)
        } catch let error as HostResponseError where error.status == .contentTooLarge {}
    }

    /// Closing spares reading the rest.
    private static func tooLarge(_ limit: Int) -> HostResponseError {
        let size = limit < 1 << 20 ? "\(limit >> 10) KiB" : "\(limit >> 20) MiB"
        let text = "Request body is over \(size)"
        return HostResponseError(.contentTooLarge, text, headers: [.connection: "close"])
    }
}

/// How much of a request's body is read. Requests that prove nothing cost the host little memory; the body of
/// a route that needs none, or of a path that there is not, is never kept.
enum BodyLimit {
    /// Bytes that any client may send.
    static let anybody = 8 << 10
    /// Bytes that a device may send: 1 MiB.
    static let device = 1 << 20
    /// Bytes of a command, which may have pictures: 16 MiB.
    static let command = 16 << 20
}

extension Request {
    /// The length of the body in bytes, as the request states it; nil if it states none.
    var bodyLength: Int? { headers[.contentLength].flatMap { Int($0) } }

    var hasBody: Bool { bodyLength ?? 0 > 0 || headers[.transferEncoding] != nil }

    /// Whether a web page could have a browser send the body without asking this host first: it is a form of any kind
    /// (Fetch, CORS-safelisted request-header).
    var isForm: Bool {
        ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"].contains(mediaType)
    }

    fileprivate var hasJSON: Bool { mediaType == "application/json" }

    /// The type of the body in lower case, without parameters.
    private var mediaType: String? {
        headers[.contentType]?.parts(";").first.map { String($0).trimmingWhitespace().lowercased() }
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
