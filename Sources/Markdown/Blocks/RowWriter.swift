/// Writes rows, with what stands before them: the bars of quotes, the bullets and the indentation of lists.
struct RowWriter {
    var options: MarkdownOptions
    let palette = Palette()
    /// The rows. Each ends with a line feed.
    private(set) var rows: [UInt8] = []
    /// Whether there are rows, here or before.
    private(set) var hasRows: Bool
    /// The code blocks that were written, each line with its end; nil if they are not wanted.
    var codeBlocks: [[UInt8]]?

    /// The margin before every row but the next one.
    private var margin: [UInt8] = []
    /// The margin before the next row, such as a bullet. It is as wide as ``margin``.
    private var next: [UInt8] = []
    private var marginWidth = 0
    private var depth = 0
    private var wantsGap = false

    /// The deepest nesting that is shown. What is nested deeper stands where that does.
    private static let mostDepth = 12

    init(options: MarkdownOptions, hasRows: Bool) {
        self.options = options
        self.hasRows = hasRows
    }

    /// The columns that a row of text has.
    var width: Int { max(2, options.columns - marginWidth) }

    /// The rows since the last call.
    mutating func takeRows() -> [UInt8] {
        defer { rows.removeAll() }
        return rows
    }

    /// Writes an empty row before the next one, unless that is the first of all.
    mutating func gap() {
        wantsGap = hasRows
    }

    /// Writes what a body writes behind a margin.
    ///
    /// - Parameters:
    ///   - first: What stands before the first row, such as a bullet. The row is written even if the body writes none.
    ///   - rest: What stands before the other rows, such as the bar of a quote; nil: blanks.
    mutating func nested(_ first: StyledText, rest: StyledText? = nil, _ body: (inout RowWriter) -> Void) {
        let width = Wrapping.extent(of: first.bytes).line
        depth += 1
        defer { depth -= 1 }
        // A third of the window stays for the text.
        guard depth <= Self.mostDepth, marginWidth + width <= options.columns * 2 / 3 else { return body(&self) }
        let (margin, marginWidth) = (margin, marginWidth)
        // A gap stands in front of the bullet, not behind it.
        writeGap()
        Self.append(first, to: &next)
        if let rest {
            Self.append(rest, to: &self.margin)
        } else {
            self.margin += [UInt8](repeating: UInt8(ascii: " "), count: width)
        }
        self.marginWidth += width
        let count = rows.count
        body(&self)
        if rows.count == count { row() }
        (self.margin, self.marginWidth, next, wantsGap) = (margin, marginWidth, margin, false)
    }

    /// Writes a text, broken into rows.
    ///
    /// - Parameter indent: Blanks before every row, if the window is wide enough for them.
    mutating func text(_ text: StyledText, atWords: Bool = true, indent: Int = 0) {
        var cursor = 0
        let indent = indent * 3 < width ? indent : 0
        Wrapping(width: width - indent, atWords: atWords).rows(of: text.bytes) { found in
            row { out in
                for _ in 0..<indent { out.append(UInt8(ascii: " ")) }
                text.write(found.part, to: &out, cursor: &cursor)
            }
        }
    }

    /// Writes a row of one character, as often as it is given.
    mutating func line(_ character: String, count: Int) {
        let frame = palette.frame
        row { out in
            frame.begin(&out)
            for _ in 0..<count { out += character.utf8 }
            frame.end(&out)
        }
    }

    /// Writes one row, which must not be wider than ``width``.
    mutating func row(_ body: (inout [UInt8]) -> Void = { _ in }) {
        writeGap()
        let begin = rows.count
        rows += next
        next = margin
        body(&rows)
        while rows.count > begin, rows.last == UInt8(ascii: " ") { rows.removeLast() }
        rows.append(UInt8(ascii: "\n"))
        hasRows = true
    }

    /// Adds a line to the last code block, if code blocks are wanted.
    mutating func keepCode(_ line: some Collection<UInt8>, isContinued: Bool) {
        guard let last = codeBlocks?.indices.last else { return }
        if isContinued { _ = codeBlocks?[last].popLast() }
        codeBlocks?[last] += line
        codeBlocks?[last].append(UInt8(ascii: "\n"))
    }

    private mutating func writeGap() {
        guard wantsGap else { return }
        wantsGap = false
        let begin = rows.count
        rows += margin
        while rows.count > begin, rows.last == UInt8(ascii: " ") { rows.removeLast() }
        rows.append(UInt8(ascii: "\n"))
    }

    private static func append(_ text: StyledText, to out: inout [UInt8]) {
        var cursor = 0
        text.write(0..<text.bytes.count, to: &out, cursor: &cursor)
    }
}
