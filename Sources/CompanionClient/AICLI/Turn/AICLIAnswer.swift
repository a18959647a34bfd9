/// An answer that is assembled from pieces that have lost their white space, and from the complete text at the end.
struct AICLIAnswer: Sendable, Hashable {
    /// The text that was shown so far.
    private(set) var shown = ""
    /// Its letters and digits. Only these are compared with the complete text.
    private var letters: [Character] = []
    /// The text to show before the first piece.
    private let lead: String

    /// - Parameter isBehind: Whether this answer follows one that was already shown.
    init(isBehind: Bool = false) {
        lead = isBehind ? "\n\n" : ""
    }

    var isEmpty: Bool { letters.isEmpty }

    /// Adds a piece.
    ///
    /// - Returns: The text to show; nil if the piece was already shown in smaller pieces.
    mutating func add(_ piece: String) -> String? {
        let new = Self.letters(of: piece)
        if !new.isEmpty, letters.count >= new.count, letters.suffix(new.count).elementsEqual(new) { return nil }
        // Tool messages repeat the text so far, and the last message contains all of it.
        if letters.count >= Self.longEnough, new.count > letters.count, new.starts(with: letters),
            let rest = missing(from: piece)
        {
            // The punctuation at the end of the last sentence was already shown.
            let ending = String(shown.reversed().prefix { !Self.counts($0) && !$0.isWhitespace }.reversed())
            (shown, letters) = (piece, new)
            return String(rest.utf8.starts(with: ending.utf8) ? rest.dropFirst(ending.count) : rest[...])
        }
        // Servers split an answer at its blank lines and drop these.
        let needsGap = shown.last?.isWhitespace == false && piece.first?.isWhitespace == false
        let text = needsGap ? "\n\n" + piece : piece
        defer { shown += text }
        letters += new
        return shown.isEmpty ? lead + text : text
    }

    /// Takes the complete answer.
    ///
    /// - Returns: The part that was not shown yet; nil if the answer differs from what was shown.
    mutating func complete(with whole: String) -> String? {
        guard !whole.allSatisfy(\.isWhitespace) else { return "" }
        let missing = missing(from: whole)
        shown = whole
        letters = Self.letters(of: whole)
        return missing
    }

    private func missing(from whole: String) -> String? {
        guard !letters.isEmpty else { return lead + whole }
        var index = whole.startIndex
        for letter in letters {
            guard let found = whole[index...].firstIndex(where: Self.counts), whole[found] == letter else { return nil }
            index = whole.index(after: found)
        }
        let rest = whole[index...]
        return rest.contains(where: Self.counts) ? String(rest) : ""
    }

    /// From this many letters on, a piece that begins with all previous text is taken to repeat it.
    private static let longEnough = 12

    private static func counts(_ character: Character) -> Bool {
        character.isLetter || character.isNumber
    }

    private static func letters(of text: String) -> [Character] {
        text.filter(counts).map { $0 }
    }
}
