import CompanionWire
import FoundationEssentials

/// How a provider wants to be asked.
struct ProviderRequest: Sendable {
    /// Behind the base URL.
    var path: String
    var headers: [(name: String, value: String)]
    var body: Data
}

/// How a provider frames its stream.
enum ProviderFraming: Sendable {
    case serverSentEvents
    /// One JSON object a line.
    case lines
}

/// One provider's format: what is sent, and what the pieces of its stream mean. A value, fed with whole pieces.
protocol ProviderFormat: Sendable {
    var framing: ProviderFraming { get }
    func request(_ prompt: ProviderPrompt, key: ProviderKey?) throws -> ProviderRequest
    /// - Parameter data: A piece's JSON, or its closing word.
    /// - Returns: What it means; an error that the provider sent in its stream is thrown as ``ProviderFailure``.
    mutating func take(_ data: [UInt8]) throws -> [ProviderEvent]
    /// Whether the answer is whole.
    var isComplete: Bool { get }
    /// Whether nothing follows: reading can stop.
    var isOver: Bool { get }
}

/// A piece of a stream is not the provider's format.
struct UnknownPiece: Error {}

/// An error that a provider sent, in its stream or as a body.
struct ProviderFailure: Error, Sendable, Hashable {
    /// Such as `overloaded_error`, `rate_limit_exceeded`, `UNAVAILABLE`.
    var kind: String
    var text: String

    var code: ProviderError.Code {
        let kind = kind.lowercased()
        if isOverflow { return .contextOverflow }
        if kind.has("overload") || kind.has("unavailable") || kind == "503" || kind == "529" {
            return .overloaded
        }
        if kind.has("rate_limit") || kind.has("resource_exhausted") || kind.has("quota") || kind == "429" {
            return .rateLimited
        }
        if kind.has("authentication") || kind.has("invalid_api_key") || kind.has("unauthenticated") {
            return .keyRefused
        }
        return kind.has("permission") ? .forbidden : kind.has("invalid_request") ? .badRequest : .server
    }

    /// Whether the conversation is longer than the model takes, as OpenAI, llama.cpp, vLLM and others word it.
    var isOverflow: Bool {
        let (kind, text) = (kind.lowercased(), text.lowercased())
        return kind.has("context_length_exceeded") || kind.has("exceed_context_size")
            || ["context length", "context window", "context size", "maximum context", "prompt is too long"]
                .contains(where: text.has)
    }
}

/// The errors of all providers: `{"error":"text"}` or `{"error":{"message", "type"|"status"|"code"}}`.
struct ProviderFailureBody: Decodable {
    var failure: ProviderFailure

    private struct Detail: Decodable {
        var message: String?
        var type: String?
        var status: String?
        var code: Code?
    }

    /// A word or a number.
    private struct Code: Decodable {
        var text: String

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let word = try? container.decode(String.self) {
                text = word
            } else {
                text = String(try container.decode(Int.self))
            }
        }
    }

    private enum CodingKeys: String, CodingKey {
        case error, message, code
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let text = try? container.decode(String.self, forKey: .error) {
            failure = ProviderFailure(kind: "", text: text)
        } else if let detail = try? container.decode(Detail.self, forKey: .error) {
            let kinds = [detail.type, detail.status, detail.code?.text].compactMap(\.self)
            failure = ProviderFailure(kind: kinds.joined(separator: " "), text: detail.message ?? "")
        } else {
            // DashScope's own interface.
            let code = try container.decode(Code.self, forKey: .code)
            let text = (try? container.decode(String.self, forKey: .message)) ?? ""
            failure = ProviderFailure(kind: code.text, text: text)
        }
    }
}

extension ProviderFormat {
    static func encode(_ body: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        return try encoder.encode(body)
    }

    /// Reads a piece.
    ///
    /// - Throws: ``ProviderFailure`` where it is an error; ``UnknownPiece`` where it is nothing known.
    static func decode<Piece: Decodable>(_ data: [UInt8], as: Piece.Type) throws -> Piece {
        let content = Data(CompanionJSON.repaired(data))
        let decoder = JSONDecoder()
        if let body = try? decoder.decode(ProviderFailureBody.self, from: content) { throw body.failure }
        do {
            return try decoder.decode(Piece.self, from: content)
        } catch {
            throw UnknownPiece()
        }
    }
}

extension TurnImage {
    var base64: String { Base64.encode(bytes) }
}
