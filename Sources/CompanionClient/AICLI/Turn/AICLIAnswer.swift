/// An answer as it is put together from pieces whose white space was lost on the way, and from the whole at the end.
struct AICLIAnswer: Sendable, Hashable {
    /// What was shown so far.
    private(set) var shown = ""
    /// The letters and digits of it: all that the whole has to agree in.
    private var letters: [Character] = []
    /// What is shown before the first piece.
    private let lead: String

    /// - Parameter isBehind: Whether this goes on behind an answer that was shown.
    init(isBehind: Bool = false) {
        lead = isBehind ? "\n\n" : ""
    }

    var isEmpty: Bool { letters.isEmpty }

    /// Adds a piece.
    ///
    /// - Returns: What to show; nil for a piece that was shown already, in smaller ones.
    mutating func add(_ piece: String) -> String? {
        let new = Self.letters(of: piece)
        if !new.isEmpty, letters.count >= new.count, letters.suffix(new.count).elementsEqual(new) { return nil }
        // Messages of tools repeat what was said so far, and the last one has it all.
        if letters.count >= Self.longEnough, new.count > letters.count, new.starts(with: letters),
            let rest = missing(from: piece)
        {
            // What ends the last sentence was shown.
            let ending = String(shown.reversed().prefix { !Self.counts($0) && !$0.isWhitespace }.reversed())
            (shown, letters) = (piece, new)
            return String(rest.utf8.starts(with: ending.utf8) ? rest.dropFirst(ending.count) : rest[...])
        }
        // Servers cut an answer at its blank lines, and leave these out.
        let needsGap = shown.last?.isWhitespace == false && piece.first?.isWhitespace == false
        let text = needsGap ? "\n\n" + piece : piece
        defer { shown += text }
        letters += new
        return shown.isEmpty ? lead + text : text
    }

    /// Takes the whole answer.
    ///
    /// - Returns: What of it was not shown; nil where it is another one than what was shown.
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

    /// From so many letters on, a piece that begins with all that was said is taken for it and more.
    private static let longEnough = 12

    private static func counts(_ character: Character) -> Bool {
        character.isLetter || character.isNumber
    }

    private static func letters(of text: String) -> [Character] {
        text.filter(counts).map { $0 }
    }
}
