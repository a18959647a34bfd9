/// An incremental search of the history (Ctrl-R).
struct HistorySearch: Sendable {
    private(set) var query = ""
    /// The line that matches; nil if none does.
    private(set) var match: Int?
    /// The index of the last match, from which the search goes on.
    private var place: Int
    /// The line, and the place in the history, before the search.
    let original: (line: LineBuffer, history: PromptHistory)

    init(from line: LineBuffer, in history: PromptHistory) {
        original = (line, history)
        place = history.lines.count
    }

    /// Changes what is looked for, and looks from the present match on.
    mutating func change(_ query: String, in lines: [String]) {
        self.query = query
        guard !query.isEmpty else {
            match = nil
            return
        }
        look(in: lines, from: min(place, lines.count - 1), by: -1)
    }

    /// The next older match, or the next newer one.
    mutating func again(older: Bool, in lines: [String]) {
        guard !query.isEmpty else { return }
        look(in: lines, from: place + (older ? -1 : 1), by: older ? -1 : 1)
    }

    /// A failed search keeps its place.
    private mutating func look(in lines: [String], from start: Int, by step: Int) {
        var index = start
        while lines.indices.contains(index) {
            if matches(lines[index]) {
                (match, place) = (index, index)
                return
            }
            index += step
        }
        match = nil
    }

    /// Letters match in either case unless the query has capitals.
    private func matches(_ line: String) -> Bool {
        let isExact = query.unicodeScalars.contains { $0.properties.isUppercase }
        let text = isExact ? line : line.lowercased()
        return text.utf8.firstRange(of: query.utf8) != nil
    }
}
