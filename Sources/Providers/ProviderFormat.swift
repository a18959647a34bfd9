import CompanionWire
import FoundationEssentials

/// How a provider wants to be asked.
struct ProviderRequest: Sendable {
    /// Behind the base URL.
    var path: String
    var headers: [(name: String, value: String)]
    var body: Data
}

/// One provider's format: what is sent, and what the pieces of its stream mean. A value, fed with whole pieces.
protocol ProviderFormat: Sendable {
    /// - Parameter omitted: What the server refuses.
    func request(
        _ prompt: ProviderPrompt,
        key: ProviderKey?,
        without omitted: Set<ProviderFeature>
    ) throws -> ProviderRequest
    /// Takes a piece's JSON, which is an object and no error.
    ///
    /// - Throws: ``ProviderFailure`` where the answer ends with an error; ``UnknownPiece``; ``PieceTooLarge``.
    mutating func take(_ piece: JSONValue, isFramed: Bool) throws -> [ProviderEvent]
    /// Returns the events that are left at the end of the stream.
    mutating func finish() -> [ProviderEvent]
    /// Whether the model has said that its answer is at its end.
    var isComplete: Bool { get }
    /// Whether nothing follows: reading can stop.
    var isOver: Bool { get }
}

extension ProviderFormat {
    mutating func finish() -> [ProviderEvent] { [] }

    static func encode(_ body: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        return try encoder.encode(body)
    }
}

/// A piece of a stream is not the provider's format.
struct UnknownPiece: Error {}

extension ProviderEvent.Reason {
    private static let limits = [
        "length", "max_tokens", "max_output_tokens", "model_length", "max_length",
        "model_context_window_exceeded",
    ]
    private static let filters = [
        "content_filter", "safety", "refusal", "blocklist", "prohibited_content", "recitation", "spii", "sensitive",
        "image_safety", "language", "content_filtered", "guardrail_intervened",
    ]
    private static let breaks = [
        "error", "abort", "cancel", "insufficient", "fail", "timeout", "time_limit", "interrupt", "malformed",
        "unspecified", "unexpected", "network", "other",
    ]

    /// Returns the meaning of the word with which a model ends its answer.
    ///
    /// - Throws: ``ProviderFailure`` for words that mean that the answer is not whole.
    static func named(_ word: String) throws(ProviderFailure) -> ProviderEvent.Reason {
        let lowered = word.lowercased()
        if limits.contains(lowered) { return .length }
        if filters.contains(lowered) { return .blocked }
        if breaks.contains(where: lowered.has) {
            throw ProviderFailure(kind: "", text: "the answer ended with “\(word)”")
        }
        return .complete
    }
}

extension JSONValue {
    /// The text of a message or of a piece of one: a text, or a list of parts (Mistral). Thoughts are left out.
    var messageText: String {
        switch self {
        case .string(let text): text
        case .array(let parts): parts.map(\.messageText).joined()
        case .object where !isThought: (self["text"] ?? self["content"] ?? self["refusal"])?.messageText ?? ""
        default: ""
        }
    }

    /// The thoughts among the parts of a message.
    var messageThought: String {
        switch self {
        case .array(let parts): parts.map(\.messageThought).joined()
        case .object where isThought:
            (self["thinking"] ?? self["reasoning"] ?? self["text"] ?? self["content"])?.messageText ?? ""
        default: ""
        }
    }

    private var isThought: Bool {
        let type = self["type"]?.string ?? ""
        return ["thinking", "reasoning", "thought"].contains(type) || self["thought"]?.bool == true
    }
}

extension TurnImage {
    var base64: String { Base64.encode(bytes) }
}
