/// Finds what a model thinks in front of its answer, between `<think>` and `</think>`, however the text is cut.
///
/// Only at the beginning of an answer: a model may write about the tag further on.
struct ThoughtTags: Sendable {
    private enum State: Sendable {
        case beginning
        case thinking(end: [UInt8])
        /// White space behind the thoughts is no part of the answer.
        case gap
        case answering
    }

    private static let names = ["think", "thinking", "thought"]
    /// The most bytes in front of a tag: blanks that come one by one are looked at again each time.
    private static let mostBlanks = 4096

    private var state = State.beginning
    /// The bytes that are held back, as they may be the beginning of a tag.
    private var held: [UInt8] = []
    private var hasThought = false

    mutating func take(_ text: String) -> [ProviderEvent] {
        held += text.utf8
        switch state {
        case .beginning: return begin()
        case .thinking(let end): return think(until: end)
        case .gap: return leaveGap()
        case .answering: return [.text(takeHeld())]
        }
    }

    /// Returns the rest at the end of the answer, or before anything other than text.
    mutating func finish() -> [ProviderEvent] {
        switch state {
        case .beginning, .answering: return held.isEmpty ? [] : [.text(takeHeld())]
        case .thinking: return thought(takeHeld())
        case .gap: return []
        }
    }

    private mutating func takeHeld() -> String {
        defer { held = [] }
        return String(decoding: held, as: UTF8.self)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte <= 0x20 }

    private mutating func begin() -> [ProviderEvent] {
        let start = held.drop(while: Self.isBlank)
        for name in Self.names where start.starts(with: "<\(name)>".utf8) {
            held = Array(start.dropFirst(name.utf8.count + 2))
            let end = Array("</\(name)>".utf8)
            state = .thinking(end: end)
            return think(until: end)
        }
        if held.count <= Self.mostBlanks, Self.names.contains(where: { "<\($0)>".utf8.starts(with: start) }) {
            return []
        }
        state = .answering
        return [.text(takeHeld())]
    }

    private mutating func think(until end: [UInt8]) -> [ProviderEvent] {
        if let found = held.firstRange(of: end) {
            let thought = String(decoding: held[..<found.lowerBound], as: UTF8.self)
            held = Array(held[found.upperBound...])
            state = .gap
            return self.thought(thought) + leaveGap()
        }
        // The last bytes may be the beginning of the end.
        let kept = (1..<end.count).last { held.suffix($0).elementsEqual(end.prefix($0)) } ?? 0
        let thought = String(decoding: held.dropLast(kept), as: UTF8.self)
        held = Array(end.prefix(kept))
        return self.thought(thought)
    }

    private mutating func leaveGap() -> [ProviderEvent] {
        held = Array(held.drop(while: Self.isBlank))
        guard !held.isEmpty else { return [] }
        state = .answering
        return [.text(takeHeld())]
    }

    /// Thoughts begin with a word: some models always write the tags, with nothing between them.
    private mutating func thought(_ text: String) -> [ProviderEvent] {
        guard hasThought || !text.utf8.allSatisfy(Self.isBlank) else { return [] }
        hasThought = true
        return text.isEmpty ? [] : [.thought(text)]
    }
}
