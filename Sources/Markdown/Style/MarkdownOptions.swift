/// How text is shown on a terminal.
package struct MarkdownOptions: Hashable, Sendable {
    /// The width of the window in columns.
    package var columns: Int
    /// Whether the terminal knows links (OSC 8). Where it does not, a link's address follows its text.
    package var hasLinks: Bool

    package init(columns: Int, hasLinks: Bool = false) {
        self.columns = columns
        self.hasLinks = hasLinks
    }
}

/// The styles of the parts of a text, in colours that can be read on a dark and on a light background: those of `git
/// diff`. The bright ones, and blue, cannot be read on one of the two.
struct Palette: Sendable {
    let heading: [TextStyle]
    let strong = TextStyle.bold
    let emphasis = TextStyle.italic
    let struck = TextStyle.struck
    let link = TextStyle.underline
    /// Code within a line.
    let code = .code + TextStyle.colour(Self.magenta)
    /// Bars, bullets and names of languages.
    let frame = TextStyle.dim
    let keyword = .code + TextStyle.colour(Self.magenta)
    let string = .code + TextStyle.colour(Self.green)
    let comment = .code + TextStyle.dim
    let number = .code + TextStyle.colour(Self.cyan)
    let added = .code + TextStyle.colour(Self.green)
    let removed = .code + TextStyle.colour(Self.red)
    let place = .code + TextStyle.colour(Self.cyan)

    private static let red: UInt8 = 31
    private static let green: UInt8 = 32
    private static let magenta: UInt8 = 35
    private static let cyan: UInt8 = 36

    init() {
        let title = TextStyle.bold + .colour(Self.cyan)
        heading = [title + .underline, title, title, .bold, .bold, .bold + .italic]
    }
}
