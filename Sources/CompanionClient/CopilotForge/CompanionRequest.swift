import CompanionWire
import FoundationEssentials
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

/// A request of the protocol.
struct CompanionRequest: Sendable {
    var method: HTTPMethod
    /// Path and query, percent-encoded.
    var target: String
    /// In addition to the headers of every request.
    var headers: [(name: String, value: String)] = []
    /// JSON; nil for no body.
    var body: ByteBuffer?
    /// Whether the request is sent without the session's token even if there is one.
    var isAnonymous = false

    static func get(_ target: String) -> CompanionRequest {
        CompanionRequest(method: .GET, target: target)
    }

    static func delete(_ target: String) -> CompanionRequest {
        CompanionRequest(method: .DELETE, target: target)
    }

    static func post(_ target: String, body: some Encodable) throws -> CompanionRequest {
        let json = try CompanionJSON.encoder().encode(body)
        return CompanionRequest(method: .POST, target: target, body: ByteBuffer(data: json))
    }

    /// A request whose body is already encoded as JSON.
    static func post(_ target: String, json: [UInt8], isAnonymous: Bool = false) -> CompanionRequest {
        CompanionRequest(method: .POST, target: target, body: ByteBuffer(bytes: json), isAnonymous: isAnonymous)
    }

    /// Whether the request can safely be sent twice.
    var isRepeatable: Bool { method == .GET }
}

/// A JSON object without keys.
struct EmptyBody: Codable, Sendable {}
