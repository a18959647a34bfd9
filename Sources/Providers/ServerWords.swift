import CompanionWire

/// Finds a server's own words in an answer of any shape: JSON with a `message`, a `detail` or something like them, a
/// page of HTML, or plain text.
enum ServerWords {
    /// Members with words for people, the most telling first.
    private static let names = [
        "message", "msg", "detail", "details", "error_description", "error_message", "error_msg", "errorMessage",
        "description", "reason", "error", "errors", "title",
    ]
    /// How many errors of a list are repeated.
    private static let most = 3
    private static let depth = 5

    /// - Returns: nil where there are no words.
    static func text(ofBody body: [UInt8]) -> String? {
        if let json = JSONValue(lenient: body) { return text(of: json) }
        let text = String(decoding: body, as: UTF8.self).trimmingWhitespace()
        guard text.begins(with: "<") else { return text.isEmpty ? nil : text }
        return title(of: text)
    }

    static func text(of json: JSONValue) -> String? { text(of: json, depth: depth) }

    private static func text(of json: JSONValue, depth: Int) -> String? {
        guard depth > 0 else { return nil }
        switch json {
        case .string(let text):
            let trimmed = text.trimmingWhitespace()
            return trimmed.isEmpty ? nil : trimmed
        case .array(let elements):
            let texts = elements.lazy.compactMap { text(of: $0, depth: depth - 1) }.prefix(most)
            return texts.isEmpty ? nil : texts.joined(separator: "; ")
        case .object:
            guard
                let words = names.lazy.compactMap({ name in json[name].flatMap { text(of: $0, depth: depth - 1) } })
                    .first
            else { return nil }
            return place(of: json) + words + cause(of: json, besides: words)
        default: return nil
        }
    }

    /// Which part of the request is meant, as FastAPI says it: `"loc": ["body", "stream_options"]`.
    private static func place(of json: JSONValue) -> String {
        let parts = (json["loc"]?.array ?? []).compactMap(\.word)
        return parts.isEmpty ? "" : parts.joined(separator: ".") + ": "
    }

    /// Returns the words of a server behind the server (OpenRouter: `metadata.raw`), after a colon; empty if there are
    /// none, or if `words` has them already.
    private static func cause(of json: JSONValue, besides words: String) -> String {
        guard let raw = json["metadata"]?["raw"]?.string, let cause = text(ofBody: Array(raw.utf8)),
            !words.has(cause)
        else { return "" }
        return ": " + cause
    }

    /// The title of a page, or its first heading.
    private static func title(of page: String) -> String? {
        let page = Array(page.utf8)
        for tag in ["title", "h1"] {
            guard let begin = find("<\(tag)", in: page, from: 0), let open = find(">", in: page, from: begin),
                let end = find("</\(tag)", in: page, from: open)
            else { continue }
            var bytes = Array(page[(open + 1)..<end])
            for (entity, character) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
            {
                bytes = bytes.replacing(Array(entity.utf8), with: Array(character.utf8))
            }
            let text = String(decoding: bytes, as: UTF8.self).trimmingWhitespace()
            if !text.isEmpty { return text }
        }
        return nil
    }

    /// The place of a tag in small letters, whatever letters the page has.
    private static func find(_ tag: String, in page: [UInt8], from start: Int) -> Int? {
        let tag = Array(tag.utf8)
        return page[start...].indices.first { index in
            page.count - index >= tag.count && zip(page[index...], tag).allSatisfy { $0 == $1 || $0 | 0x20 == $1 }
        }
    }
}
