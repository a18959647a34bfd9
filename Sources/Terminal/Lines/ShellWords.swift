/// Splits a command line into words as a shell would, without running one: quotes and backslashes are interpreted,
/// nothing is expanded.
package enum ShellWords {
    /// - Returns: nil if a quote is not closed.
    package static func split(_ text: String) -> [String]? {
        var words: [String] = []
        var current: String.UnicodeScalarView?
        var quote: Unicode.Scalar?
        var isEscaped = false
        for scalar in text.unicodeScalars {
            if isEscaped {
                current = (current ?? .init()) + [scalar]
                isEscaped = false
            } else if scalar == "\\", quote != "'" {
                isEscaped = true
            } else if scalar == quote {
                quote = nil
            } else if quote == nil, scalar == "'" || scalar == "\"" {
                quote = scalar
                current = current ?? .init()
            } else if quote == nil, scalar.properties.isWhitespace {
                if let word = current { words.append(String(word)) }
                current = nil
            } else {
                current = (current ?? .init()) + [scalar]
            }
        }
        guard quote == nil, !isEscaped else { return nil }
        if let word = current { words.append(String(word)) }
        return words
    }
}
