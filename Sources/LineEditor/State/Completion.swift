/// What the Tab key asks for.
package struct CompletionRequest: Sendable, Hashable {
    /// Distinguishes it from earlier requests.
    let number: Int
    /// The text before the cursor in its line.
    package let text: String
}

/// What can stand in place of the word before the cursor.
package struct Completion: Sendable, Hashable {
    /// The end of the request's text that is replaced.
    package var word: String
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
