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
    /// Besides those that every request has.
    var headers: [(name: String, value: String)] = []
    /// JSON; nil for none.
    var body: ByteBuffer?
    /// Whether it goes without a session, also where there is one.
    var isAnonymous = false

    static func get(_ target: String) -> CompanionRequest {
        CompanionRequest(method: .GET, target: target)
    }

    static func delete(_ target: String) -> CompanionRequest {
        CompanionRequest(method: .DELETE, target: target)
    }

    static func post(_ target: String, _ body: some Encodable) throws -> CompanionRequest {
        let json = try CompanionJSON.encoder().encode(body)
        return CompanionRequest(method: .POST, target: target, body: ByteBuffer(data: json))
    }

    /// A request with a body that is JSON already.
    static func post(_ target: String, json: [UInt8], isAnonymous: Bool = false) -> CompanionRequest {
        CompanionRequest(method: .POST, target: target, body: ByteBuffer(bytes: json), isAnonymous: isAnonymous)
    }

    /// Whether the request may be sent a second time without harm.
    var isRepeatable: Bool { method == .GET }
}

/// A JSON object without keys.
struct EmptyBody: Codable, Sendable {}

/// Percent-encodes everything but letters, digits, `-`, `.`, `_` and `~` (RFC 3986, section 2.3).
///
/// Ids are the host's: one may hold `/`, `?` or spaces, or be `..`.
func percentEncoded(_ text: String) -> String {
    let onlyDots = text.allSatisfy { $0 == "." }
    var result = ""
    for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "."):
            result += onlyDots ? "%2E" : "."
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "~"):
            result.append(Character(Unicode.Scalar(byte)))
        default:
            let hex = String(byte, radix: 16, uppercase: true)
            result += hex.count == 1 ? "%0\(hex)" : "%\(hex)"
        }
    }
    return result
}
