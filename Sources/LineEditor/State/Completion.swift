/// A request for completions, made by the Tab key.
package struct CompletionRequest: Sendable, Hashable {
    /// Distinguishes it from earlier requests.
    let number: Int
    /// The text before the cursor in its line.
    package let text: String
}

/// The possible replacements of the word before the cursor.
package struct Completion: Sendable, Hashable {
    /// The word: the end of the request's text. If it is not, the terminal's bell rings.
    package var word: String
    /// The replacements. Their common beginning is inserted; if it adds nothing, they are listed. Empty: the bell
    /// rings.
    package var candidates: [String]

    package init(word: String, candidates: [String]) {
        (self.word, self.candidates) = (word, candidates)
    }

    /// The scalars that all candidates begin with.
    var commonPrefix: String {
        guard let first = candidates.first else { return "" }
        var common = Array(first.unicodeScalars)
        for candidate in candidates.dropFirst() {
            let same = zip(common, candidate.unicodeScalars).prefix { $0 == $1 }.count
            common.removeLast(common.count - same)
        }
        var result = String.UnicodeScalarView()
        result.append(contentsOf: common)
        return String(result)
    }
}
