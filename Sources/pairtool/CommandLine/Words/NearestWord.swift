/// Finds the word that a mistyped one was probably meant to be.
enum NearestWord {
    /// Unicode scalars that are compared: titles can be long.
    private static let longest = 64

    /// - Parameters:
    ///   - word: What was typed.
    ///   - words: What there is. Upper and lower case are alike.
    /// - Returns: The word that `word` is the beginning of, if there is only one; else the one with the fewest typing
    ///   errors; nil if none is near.
    static func of(_ word: String, in words: [String]) -> String? {
        let typed = scalars(word)
        guard !typed.isEmpty else { return nil }
        let candidates = words.map { (word: $0, scalars: scalars($0)) }
        let longer = candidates.filter { typed.count >= 3 && $0.scalars.starts(with: typed) }
        if let only = longer.first, longer.count == 1 { return only.word }
        // One error in four characters: more would find words that have nothing to do with it.
        let limit = typed.count < 3 ? 0 : min(3, max(1, typed.count / 4 + (typed.count > 4 ? 1 : 0)))
        let near = candidates.map { (word: $0.word, errors: errors(typed, $0.scalars)) }.filter { $0.errors <= limit }
        return near.min { $0.errors < $1.errors }?.word
    }

    private static func scalars(_ word: String) -> [Unicode.Scalar] {
        Array(word.lowercased().unicodeScalars.prefix(longest))
    }

    /// The edit distance (optimal string alignment): characters that are missing, added, replaced or swapped.
    static func errors(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for (row, scalar) in left.enumerated() {
            var current = [row + 1]
            for (column, other) in right.enumerated() {
                var best = min(last[column] + (scalar == other ? 0 : 1), last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, scalar == right[column - 1], other == left[row - 1] {
                    best = min(best, beforeLast[column - 1] + 1)
                }
                current.append(best)
            }
            (beforeLast, last) = (last, current)
        }
        return last[right.count]
    }
}
