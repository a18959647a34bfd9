/// The text that a terminal shows for a character.
package struct Glyph: Sendable, Hashable {
    /// The text to write. It must not contain control characters.
    package var text: String
    /// In columns: 0 to 2.
    package var width: Int

    package init(_ text: String, width: Int) {
        (self.text, self.width) = (text, width)
    }

    /// Finds the glyph of a character that is neither a tab nor a line feed.
    package typealias Rule = @Sendable (Character) -> Glyph
}

/// A row of the terminal.
struct ScreenRow: Sendable, Equatable {
    private(set) var glyphs: [Glyph] = []
    private(set) var width = 0

    var text: String { glyphs.reduce(into: "") { $0 += $1.text } }

    mutating func append(_ glyph: Glyph) {
        glyphs.append(glyph)
        width += glyph.width
    }

    /// How often a terminal breaks this row up to a place in it when its window gets narrower.
    ///
    /// - Parameter column: The column of the place. Default: the end of the row.
    func breaks(columns: Int, at column: Int = .max) -> Int {
        var (breaks, used, total) = (0, 0, 0)
        for glyph in glyphs where total <= column {
            used += glyph.width
            total += glyph.width
            if used > columns { (breaks, used) = (breaks + 1, glyph.width) }
        }
        return breaks
    }
}
