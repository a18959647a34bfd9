/// Finds the known word that is closest to a mistyped one.
package enum NearestWord {
    /// The most Unicode scalars that are compared, because titles can be long.
    private static let longest = 64

    /// - Parameters:
    ///   - word: What was typed.
    ///   - words: The known words. Compared without regard to case.
    /// - Returns: The only word that begins with `word`; else the one with the fewest typing errors; nil if none is
    ///   near.
    package static func of(_ word: String, in words: [String]) -> String? {
        let typed = scalars(word)
        guard !typed.isEmpty else { return nil }
        let candidates = words.map { (word: $0, scalars: scalars($0)) }
        let longer = candidates.filter { typed.count >= 3 && $0.scalars.starts(with: typed) }
        if let only = longer.first, longer.count == 1 { return only.word }
        // One error per four characters: a higher limit would find unrelated words.
        let limit = typed.count < 3 ? 0 : min(3, max(1, typed.count / 4 + (typed.count > 4 ? 1 : 0)))
        // Of words that are as near, the one that was typed with something behind it.
        return candidates.map { known in
            (known.word, rank: (errors(typed, known.scalars), typed.starts(with: known.scalars) ? 0 : 1))
        }
        .filter { $0.rank.0 <= limit }.min { $0.rank < $1.rank }?.0
    }

    private static func scalars(_ word: String) -> [Unicode.Scalar] {
        Array(word.lowercased().unicodeScalars.prefix(longest))
    }

    /// The edit distance (optimal string alignment): missing, added, replaced and swapped characters.
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
