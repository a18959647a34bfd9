/// Turns a line's state into the output that shows it, given what the terminal shows already.
///
/// Rows end with line feeds of its own, never by the terminal's wrapping, so that widths it does not agree about with
/// the terminal disturb one row at most.
struct LineRenderer: Sendable {
    /// The window's size.
    struct Size: Sendable, Hashable {
        var columns: Int
        var rows: Int

        init(columns: Int, rows: Int) {
            (self.columns, self.rows) = (max(1, columns), max(1, rows))
        }
    }

    private let prompt: String
    private let rule: Glyph.Rule
    /// Whether the terminal breaks rows that are too long when its window gets narrower.
    private let reflows: Bool
    private var size: Size
    /// The rows on the screen; nil if they have to be drawn again.
    private var shown: [ScreenRow]? = []
    private var cursor = LineLayout.Place()

    init(prompt: String, size: Size, reflows: Bool, rule: @escaping Glyph.Rule) {
        (self.prompt, self.size, self.reflows, self.rule) = (prompt, size, reflows, rule)
    }

    /// Tells it the window's present size. What is shown is then drawn again as a whole.
    mutating func resize(_ new: Size) {
        guard new != size else { return }
        if new.columns < size.columns, reflows, let shown, cursor.row < shown.count {
            let above = shown[..<cursor.row].reduce(0) { $0 + $1.breaks(columns: new.columns) }
            cursor.row += above + shown[cursor.row].breaks(columns: new.columns, at: cursor.column)
        }
        size = new
        shown = nil
    }

    /// The screen was cleared: draws everything again.
    mutating func clearScreen() -> String {
        (shown, cursor) = ([], LineLayout.Place())
        return "\u{1B}[H\u{1B}[2J"
    }

    /// The output that shows a state.
    mutating func draw(_ state: LineState) -> String {
        var (rows, place) = frame(state)
        let below = CandidateList.rows(
            state.candidates,
            columns: size.columns,
            limit: min(size.rows / 2, size.rows - 1),
            rule: rule
        )
        let limit = size.rows - below.count
        if rows.count > limit {
            // The rows around the cursor.
            let first = max(0, min(place.row - limit / 2, rows.count - limit))
            rows = Array(rows[first..<first + limit])
            place.row -= first
        }
        return show(rows + below, cursor: place)
    }

    /// The output that shows a state for the last time, with the cursor in the row below.
    mutating func finish(_ state: LineState) -> String {
        let rows = frame(state).rows
        defer { (shown, cursor) = ([], LineLayout.Place()) }
        // A text that is taller than the window is written as a whole now.
        return Self.up(cursor.row) + "\r\u{1B}[J" + Self.unwrapped(rows.map(\.text).joined(separator: "\r\n")) + "\r\n"
    }

    private func frame(_ state: LineState) -> (rows: [ScreenRow], cursor: LineLayout.Place) {
        let layout = LineLayout(prompt: prompt(state), buffer: state.buffer, columns: size.columns, rule: rule)
        return (layout.rows, layout.cursor)
    }

    private func prompt(_ state: LineState) -> String {
        guard let search = state.search else { return prompt }
        let failed = search.match == nil && !search.query.isEmpty
        return "(\(failed ? "not found" : "search"): \(search.query)) "
    }

    private mutating func show(_ rows: [ScreenRow], cursor place: LineLayout.Place) -> String {
        defer { (shown, cursor) = (rows, place) }
        guard let shown else {
            let text = Self.up(cursor.row) + "\r\u{1B}[J" + rows.map(\.text).joined(separator: "\r\n")
            return Self.unwrapped(text) + Self.move(from: rows.count - 1, to: place)
        }
        let same = zip(shown, rows).prefix { $0 == $1 }.count
        guard same < max(shown.count, rows.count) else {
            return cursor == place ? "" : Self.move(from: cursor.row, to: place)
        }
        // A row below the others can only be reached from the last of them.
        let start = max(0, min(same, shown.count - 1, rows.count - 1))
        var text = Self.vertical(start - cursor.row) + "\r"
        for (index, row) in rows.enumerated().dropFirst(start) {
            if index > start { text += "\r\n" }
            // First: behind a full row, the cursor is still on its last column.
            if index < shown.count { text += "\u{1B}[K" }
            text += row.text
        }
        if shown.count > rows.count { text += "\r\n\u{1B}[J\u{1B}[A" }
        return Self.unwrapped(text) + Self.move(from: rows.count - 1, to: place)
    }

    /// Keeps the terminal from wrapping.
    private static func unwrapped(_ text: String) -> String { "\u{1B}[?7l\(text)\u{1B}[?7h" }

    private static func move(from row: Int, to place: LineLayout.Place) -> String {
        vertical(place.row - row) + "\r" + (place.column > 0 ? "\u{1B}[\(place.column)C" : "")
    }

    private static func vertical(_ rows: Int) -> String { rows > 0 ? "\u{1B}[\(rows)B" : up(-rows) }
    private static func up(_ rows: Int) -> String { rows > 0 ? "\u{1B}[\(rows)A" : "" }
}
