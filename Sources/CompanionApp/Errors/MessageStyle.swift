import CompanionWire

/// The style of errors and warnings: they begin in lower case, unless the first word is a name or a quote, and a single
/// sentence has no full stop.
package enum MessageStyle {
    /// The words in lower case that sentences of the modules and of the argument parser begin with. Other words may be
    /// names, and stay as they are.
    private static let openings: Set<String> = [
        "a", "after", "an", "another", "cannot", "command", "frames", "give", "hosts", "internal", "invalid", "it",
        "leave", "missing", "name", "no", "nobody", "none", "not", "nothing", "only", "option", "pictures", "port",
        "rate", "several", "that", "the", "there", "these", "this", "to", "too", "unexpected", "unknown", "use",
        "value", "what", "with", "wrong", "you",
    ]

    /// - Parameter beginsWithName: Whether the first word is a name, even if it looks like another word.
    package static func sentence(_ text: String, beginsWithName: Bool = false) -> String {
        var text = text
        let letters = text.utf8.prefix { (UInt8(ascii: "A")...UInt8(ascii: "z")).contains($0) }
        let word = String(decoding: letters, as: UTF8.self).lowercased()
        let endsWord = text.utf8.dropFirst(letters.count).first.map { " ,:".utf8.contains($0) } ?? true
        if !beginsWithName, endsWord, openings.contains(word) {
            text = word + String(decoding: text.utf8.dropFirst(letters.count), as: UTF8.self)
        }
        if text.ends(with: "."), !text.has(". ") { text.removeLast() }
        return text
    }
}
