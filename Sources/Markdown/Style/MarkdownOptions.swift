/// How text is shown on a terminal.
package struct MarkdownOptions: Hashable, Sendable {
    /// What the terminal's background is: colours that are readable on one may not be on the other.
    package enum Theme: Hashable, Sendable {
        case dark, light
    }

    /// The width of the window.
    package var columns: Int
    package var theme: Theme
    /// Whether the terminal knows links (OSC 8). Where it does not, a link's address follows its text.
    package var hasLinks: Bool

    package init(columns: Int, theme: Theme, hasLinks: Bool = false) {
        self.columns = columns
        self.theme = theme
        self.hasLinks = hasLinks
    }

    /// What the parts of a text look like.
    var palette: Palette {
        switch theme {
        case .dark: Palette(accent: 96, code: 93, keyword: 95, string: 92, number: 96, added: 92, removed: 91)
        case .light: Palette(accent: 34, code: 35, keyword: 35, string: 32, number: 34, added: 32, removed: 31)
        }
    }
}

/// What the parts of a text look like.
struct Palette: Sendable {
    let heading: [TextStyle]
    let strong = TextStyle.bold
    let emphasis = TextStyle.italic
    let struck = TextStyle.struck
    let link = TextStyle.underline
    /// Code within a line.
    let code: TextStyle
    /// Bars, bullets and names of languages.
    let frame = TextStyle.dim
    let keyword: TextStyle
    let string: TextStyle
    let comment = .code + TextStyle.dim
    let number: TextStyle
    let added: TextStyle
    let removed: TextStyle
    let place: TextStyle

    init(
        accent: UInt8,
        code: UInt8,
        keyword: UInt8,
        string: UInt8,
        number: UInt8,
        added: UInt8,
        removed: UInt8
    ) {
        let title = TextStyle.bold + .colour(accent)
        heading = [title + .underline, title, title, .bold, .bold, .bold + .italic]
        self.code = .code + .colour(code)
        self.keyword = .code + .colour(keyword)
        self.string = .code + .colour(string)
        self.number = .code + .colour(number)
        self.added = .code + .colour(added)
        self.removed = .code + .colour(removed)
        place = .code + .colour(accent)
    }
}
