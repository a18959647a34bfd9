/// The text of a line with its cursor.
struct LineBuffer: Sendable, Equatable {
    /// The unit that the cursor moves over in one step.
    enum Cell: Sendable, Equatable {
        case character(Character)
        /// A large paste, which is shown abbreviated.
        case paste(String)

        var text: String {
            switch self {
            case .character(let character): String(character)
            case .paste(let text): text
            }
        }

        var isLineFeed: Bool { self == .character("\n") }
        var isBlank: Bool { if case .character(let character) = self { character.isWhitespace } else { false } }
        var isOfWord: Bool {
            if case .character(let character) = self { character.isLetter || character.isNumber } else { true }
        }
    }

    /// From this size in bytes, or number of line feeds, a paste is shown abbreviated.
    private static let largePaste = (bytes: 2000, lines: 12)

    /// The longest text, in bytes, that is shown whole where it is not typed: it comes from the history, or an editor.
    private static let mostEdited = 16 << 10

    private(set) var cells: [Cell] = []
    /// The cell before which the cursor is.
    private(set) var cursor = 0

    init() {}

    /// A text, with the cursor behind it. One that is too long to edit is like a large paste.
    init(_ text: String) {
        if text.utf8.count > Self.mostEdited { paste(text) } else { insert(text) }
    }

    var text: String { Self.text(cells[...]) }
    var isEmpty: Bool { cells.isEmpty }

    /// The position of the cursor in cells, and how many cells there are.
    var position: (cursor: Int, count: Int) { (cursor, cells.count) }

    static func text(_ cells: ArraySlice<Cell>) -> String {
        cells.reduce(into: "") { $0 += $1.text }
    }

    // MARK: Changes

    /// Inserts at the cursor. Combining marks join what is beside them.
    mutating func insert(_ text: String) {
        var (left, right) = ("", "")
        if cursor > 0, case .character(let character) = cells[cursor - 1] { left = String(character) }
        if cursor < cells.count, case .character(let character) = cells[cursor] { right = String(character) }
        let begin = left.isEmpty ? cursor : cursor - 1
        let end = left.utf8.count + text.utf8.count
        var (made, used, place): ([Cell], Int, Int?) = ([], 0, nil)
        for character in left + text + right {
            if used >= end, place == nil { place = made.count }
            made.append(.character(character))
            used += character.utf8.count
        }
        cells.replaceSubrange(begin..<(right.isEmpty ? cursor : cursor + 1), with: made)
        cursor = begin + (place ?? made.count)
    }

    /// Inserts a paste; a large one as a single cell.
    mutating func paste(_ text: String) {
        let lines = text.utf8.reduce(0) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) }
        guard text.utf8.count >= Self.largePaste.bytes || lines >= Self.largePaste.lines else { return insert(text) }
        insert([.paste(text)])
    }

    mutating func insert(_ new: [Cell]) {
        cells.insert(contentsOf: new, at: cursor)
        cursor += new.count
    }

    /// Removes the cells between the cursor and another place, and leaves the cursor where they were.
    @discardableResult
    mutating func remove(to place: Int) -> [Cell] {
        let range = min(place, cursor)..<max(place, cursor)
        defer {
            cells.removeSubrange(range)
            cursor = range.lowerBound
        }
        return Array(cells[range])
    }

    /// Swaps the two characters before the cursor's place, as Emacs does.
    mutating func transpose() -> Bool {
        guard cursor > 0, cells.count > 1 else { return false }
        if cursor == cells.count { cursor -= 1 }
        cells.swapAt(cursor - 1, cursor)
        cursor += 1
        return true
    }

    // MARK: Places

    mutating func move(to place: Int) {
        cursor = max(0, min(place, cells.count))
    }

    var lineStart: Int { (cells[..<cursor].lastIndex(where: \.isLineFeed) ?? -1) + 1 }
    var lineEnd: Int { cells[cursor...].firstIndex(where: \.isLineFeed) ?? cells.count }

    /// The place one line up or down in the same column; nil if there is no such line.
    func place(linesDown: Int) -> Int? {
        let column = cursor - lineStart
        if linesDown < 0 {
            guard lineStart > 0 else { return nil }
            let end = lineStart - 1
            let start = (cells[..<end].lastIndex(where: \.isLineFeed) ?? -1) + 1
            return min(start + column, end)
        }
        guard lineEnd < cells.count else { return nil }
        let start = lineEnd + 1
        return min(start + column, cells[start...].firstIndex(where: \.isLineFeed) ?? cells.count)
    }

    /// The place behind the next word.
    var wordEnd: Int {
        var place = cursor
        while place < cells.count, !cells[place].isOfWord { place += 1 }
        while place < cells.count, cells[place].isOfWord { place += 1 }
        return place
    }

    /// The beginning of the word before the cursor.
    var wordStart: Int { start { $0.isOfWord } }
    /// The beginning of the word before the cursor, where only blanks divide words.
    var blankWordStart: Int { start { !$0.isBlank } }

    private func start(_ belongs: (Cell) -> Bool) -> Int {
        var place = cursor
        while place > 0, !belongs(cells[place - 1]) { place -= 1 }
        while place > 0, belongs(cells[place - 1]) { place -= 1 }
        return place
    }

    /// The text before the cursor in its line, from the last large paste on.
    var beforeCursor: String {
        var start = cursor
        while start > lineStart, case .character = cells[start - 1] { start -= 1 }
        return Self.text(cells[start..<cursor])
    }

    /// How many backslashes are at the end.
    var trailingBackslashes: Int {
        cells.reversed().prefix { $0 == .character("\\") }.count
    }
}
