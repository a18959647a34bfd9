/// A user's search, as words and phrases. No text is a syntax error.
///
/// Words are separated by white space, and all of them have to occur. Words in double quotes are a phrase; `*` at the
/// end of a word or phrase stands for any ending. Text beyond ``mostWords`` or ``longest`` does not count.
package struct SearchQuery: Sendable, Hashable {
    /// The most words that are looked for, those of phrases included: each of them takes the index its time.
    package static let mostWords = 64
    /// The most scalars of the text: it is also looked for as a whole, in every message.
    package static let longest = 1000

    struct Term: Sendable, Hashable {
        var text: String
        var isPrefix: Bool
    }

    let terms: [Term]
    /// The text as it was given, as far as it counts.
    let text: String
    /// Whether the text has more than counts.
    package let isCut: Bool

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
        var (words, isInWord) = (0, false)
        let scalars = text.storable.unicodeScalars
        var end = scalars.endIndex
        for (count, (index, scalar)) in zip(scalars.indices, scalars).enumerated() {
            let begins = !isInWord && Self.isIndexed(scalar)
            if count == Self.longest || begins && words == Self.mostWords {
                end = index
                break
            }
            if begins { words += 1 }
            if begins || !Self.isMark(scalar) { isInWord = Self.isIndexed(scalar) }
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
        self.text = String(scalars[..<end])
        isCut = end < scalars.endIndex
    }

    private init(terms: [Term], text: String, isCut: Bool) {
        (self.terms, self.text, self.isCut) = (terms, text, isCut)
    }

    /// Whether it has a word or phrase that the index can have.
    package var isEmpty: Bool { terms.isEmpty }

    /// The same with any endings.
    var asPrefixes: SearchQuery {
        SearchQuery(terms: terms.map { Term(text: $0.text, isPrefix: true) }, text: text, isCut: isCut)
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

    /// A mark belongs to the letter before it, and begins no other word.
    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .nonspacingMark || scalar.properties.generalCategory == .spacingMark
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
