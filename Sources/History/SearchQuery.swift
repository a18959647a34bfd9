/// What the user searches for, as words and phrases. No text is a syntax error.
///
/// Words are separated by white space, and all of them have to occur. Words in double quotes are a phrase; `*` at the
/// end of a word or phrase stands for any ending.
package struct SearchQuery: Sendable, Hashable {
    struct Term: Sendable, Hashable {
        var text: String
        var isPrefix: Bool
    }

    let terms: [Term]
    /// The text as it was given, without white space at its ends.
    let text: String

    package init(_ text: String) {
        var terms: [Term] = []
        var word = String.UnicodeScalarView()
        var isQuoted = false
        func endTerm(isPrefix: Bool = false) {
            defer { word = .init() }
            // The index has letters and digits; a term without any would match nothing.
            guard word.contains(where: Self.isIndexed) else { return }
            terms.append(Term(text: String(word), isPrefix: isPrefix))
        }
        var previous: Unicode.Scalar = " "
        for scalar in text.storable.unicodeScalars {
            switch scalar {
            case "\"":
                endTerm()
                isQuoted.toggle()
            case "*" where previous == "\"" && !isQuoted:
                if let last = terms.indices.last { terms[last].isPrefix = true }
            case "*": word.append("\u{0}")
            case _ where scalar.properties.isWhitespace && !isQuoted: endTerm(isPrefix: Self.dropStar(&word))
            default: word.append(scalar)
            }
            previous = scalar
        }
        endTerm(isPrefix: Self.dropStar(&word))
        self.terms = terms
        self.text = text.storable
    }

    private init(terms: [Term], text: String) {
        (self.terms, self.text) = (terms, text)
    }

    /// Whether it has a word or phrase that the index can have.
    package var isEmpty: Bool { terms.isEmpty }

    /// The same with any endings.
    var asPrefixes: SearchQuery {
        SearchQuery(terms: terms.map { Term(text: $0.text, isPrefix: true) }, text: text)
    }

    /// In the language of FTS5: each term a string, whose quotes are doubled.
    var expression: String {
        terms.map { term in
            let quoted = term.text.unicodeScalars.map { $0 == "\"" ? "\"\"" : $0 == "\0" ? " " : String($0) }.joined()
            return "\"\(quoted)\"" + (term.isPrefix ? " *" : "")
        }.joined(separator: " AND ")
    }

    /// Stars inside of words are no words; one at the end stands for any ending.
    private static func dropStar(_ word: inout String.UnicodeScalarView) -> Bool {
        guard word.last?.value == 0 else { return false }
        word.removeLast()
        return true
    }

    private static func isIndexed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber, .privateUse:
            true
        default: false
        }
    }
}
