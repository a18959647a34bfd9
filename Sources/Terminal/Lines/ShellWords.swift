/// Splits a command line into words as a shell would, without running one: quotes and backslashes are interpreted,
/// nothing is expanded.
package enum ShellWords {
    /// - Returns: nil if a quote is not closed.
    package static func split(_ text: String) -> [String]? {
        var words: [String] = []
        var current: String?
        var quote: Character?
        var isEscaped = false
        for character in text {
            if isEscaped {
                current = (current ?? "") + String(character)
                isEscaped = false
            } else if character == "\\", quote != "'" {
                isEscaped = true
            } else if let open = quote {
                if character == open { quote = nil } else { current = (current ?? "") + String(character) }
            } else if character == "'" || character == "\"" {
                quote = character
                current = current ?? ""
            } else if character.isWhitespace {
                if let word = current { words.append(word) }
                current = nil
            } else {
                current = (current ?? "") + String(character)
            }
        }
        guard quote == nil, !isEscaped else { return nil }
        if let word = current { words.append(word) }
        return words
    }
}
