import CompanionWire

/// An error that a provider sent, in its stream or as a body.
struct ProviderFailure: Error, Sendable, Hashable {
    /// Such as `overloaded_error`, `rate_limit_exceeded`, `UNAVAILABLE`, and numbers.
    var kind: String
    var text: String

    var code: ProviderError.Code {
        let kind = kind.lowercased()
        let words = kind.parts(" ")
        func has(_ word: String) -> Bool { words.contains { $0.utf8.elementsEqual(word.utf8) } }
        if isOverflow { return .contextOverflow }
        if kind.has("overload") || kind.has("unavailable") || has("503") || has("529") { return .overloaded }
        if kind.has("rate_limit") || kind.has("resource_exhausted") || kind.has("quota") || has("429") {
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

extension ProviderFailure {
    /// Members that pieces of answers have. With one of them a piece is an answer, whatever else it has.
    private static let answers = ["choices", "candidates", "usage", "usageMetadata", "delta", "content_block", "done"]
    private static let successes = ["0", "200", "ok", "success", "succeeded", "null", "none", ""]

    /// The error in a piece of a stream; nil where it is none. `error: ""`, `error: null` and `code: 0` are no errors.
    init?(in piece: ProviderPiece) {
        if let json = piece.json, let failure = ProviderFailure(in: json) {
            self = failure
        } else if piece.isError, !piece.isBlank {
            self.init(kind: piece.json.map(Self.kind(of:)) ?? "", text: ServerWords.text(ofBody: piece.bytes) ?? "")
        } else {
            return nil
        }
    }

    /// - Parameter json: A piece of a stream, a choice in one, or a body.
    init?(in json: JSONValue) {
        for name in ["error", "errors"] {
            guard let error = json[name], error != .bool(false) else { continue }
            let text = ServerWords.text(of: error)
            let kind = [error["type"], error["status"], error["code"]].compactMap(\.self).compactMap(Self.kindWord)
            if text != nil || !kind.isEmpty || error == .bool(true) {
                let words = text ?? (error == .bool(true) ? ServerWords.text(of: json) : nil)
                let kind = kind.joined(separator: " ")
                self.init(kind: kind, text: words ?? kind)
                return
            }
        }
        guard json.isObject, !Self.answers.contains(where: { json[$0] != nil }) else { return nil }
        let type = json["object"]?.string ?? json["type"]?.string ?? ""
        let isError = type.utf8.elementsEqual("error".utf8) || json["success"]?.bool == false
        // DashScope's own interface, FastAPI, and others.
        let isCoded = json["code"].flatMap(Self.kindWord) != nil && json["message"]?.string?.isEmpty == false
        guard isError || isCoded || json["detail"].flatMap(ServerWords.text(of:)) != nil else { return nil }
        self.init(kind: Self.kind(of: json), text: ServerWords.text(of: json) ?? "")
    }

    private static func kind(of json: JSONValue) -> String {
        [json["type"], json["status"], json["code"]].compactMap(\.self).compactMap(kindWord).joined(separator: " ")
    }

    /// The word for a kind of error; nil for those that mean success.
    private static func kindWord(_ value: JSONValue) -> String? {
        guard let word = value.word, !successes.contains(word.lowercased()) else { return nil }
        return word
    }

    /// Reads the failure from the body of an answer with an error status, whatever its shape; nil if the body has no
    /// words.
    init?(body: [UInt8]) {
        let json = JSONValue(lenient: body)
        if let json, let failure = ProviderFailure(in: json) {
            self = failure
        } else if let text = ServerWords.text(ofBody: body) {
            self.init(kind: json.map(Self.kind(of:)) ?? "", text: text)
        } else {
            return nil
        }
    }
}
