/// Earlier lines, and the draft that waits while one of them is shown.
struct PromptHistory: Sendable {
    /// How many lines are kept.
    static let limit = 1000

    private(set) var lines: [String]
    /// The line that is shown; `lines.count` stands for the draft.
    private var place: Int
    private var draft = LineBuffer()

    init(_ lines: [String] = []) {
        self.lines = lines.suffix(Self.limit)
        place = self.lines.count
    }

    /// Adds a line, unless it repeats the last one. Begins at the draft again.
    mutating func add(_ line: String) {
        if !line.utf8.isEmpty, !(lines.last.map { $0.utf8.elementsEqual(line.utf8) } ?? false) { lines.append(line) }
        if lines.count > Self.limit { lines.removeFirst(lines.count - Self.limit) }
        restart()
    }

    mutating func restart() {
        place = lines.count
        draft = LineBuffer()
    }

    /// The line so many steps older (or newer, if negative); nil if there is none.
    ///
    /// - Parameter current: Becomes the draft when it is left.
    mutating func step(older steps: Int, from current: LineBuffer) -> LineBuffer? {
        let next = place - steps
        guard next >= 0, next <= lines.count else { return nil }
        if place == lines.count { draft = current }
        place = next
        return next == lines.count ? draft : LineBuffer(lines[next])
    }

    /// Shows a line that a search found.
    mutating func show(_ index: Int, from current: LineBuffer) -> LineBuffer? {
        guard lines.indices.contains(index) else { return nil }
        return step(older: place - index, from: current)
    }
}
