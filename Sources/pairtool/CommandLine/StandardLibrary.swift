extension String {
    /// The text without white space at both ends.
    func trimmingBlanks() -> String {
        guard let start = firstIndex(where: { !$0.isWhitespace }), let end = lastIndex(where: { !$0.isWhitespace })
        else {
            return ""
        }
        return String(self[start...end])
    }
}

extension Array where Element: Hashable {
    /// The elements without duplicates, in the order of their first occurrence.
    var unique: [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}
