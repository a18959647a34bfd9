import CompanionWire

/// Turns Markdown that comes piece by piece into rows for a terminal.
///
/// Rows of blocks that have ended are given out once and do not change any more. The rest is open: ``openRows()`` gives
/// the rows that would be shown if the text ended here. The rows do not depend on how the text is cut into pieces.
package struct MarkdownStream: Sendable {
    /// May be changed at any time: rows that were given out stay as they are.
    package var options: MarkdownOptions {
        get { scanner.writer.options }
        set { scanner.writer.options = newValue }
    }

    private var scanner: BlockScanner
    /// The line that has not ended, sanitised.
    private var line: [UInt8] = []
    /// Whether the line is the rest of a longer one.
    private var isContinued = false
    /// A line feed that follows a carriage return ends no other line.
    private var wasReturn = false

    /// Longer lines are broken, between words if possible: what is held of an open line is bounded.
    private static let longestLine = 8 << 10
    /// Pieces are taken in parts of this size.
    private static let part = 64 << 10

    /// Begins a text.
    package init(_ options: MarkdownOptions) {
        scanner = BlockScanner(options: options)
    }

    /// The rows of a whole text, each with a line feed.
    package static func rows(of text: String, with options: MarkdownOptions) -> [UInt8] {
        var stream = MarkdownStream(options)
        stream.feed(text)
        stream.finish()
        return stream.takeRows()
    }

    /// The rows of a text in a language that ``CodeHighlighter`` knows, each with a line feed.
    package static func rows(ofCode text: String, language: String, with options: MarkdownOptions) -> [UInt8] {
        var writer = RowWriter(options: options, hasRows: false)
        var code = CodeBlock(info: language.utf8, palette: writer.palette)
        for line in text.parts("\n", omittingEmpty: false) {
            // A separator of lines of Unicode begins no row: what it follows would pass for a line of its own.
            let safe = TerminalText.block(String(line)).utf8.map { $0 == UInt8(ascii: "\n") ? UInt8(ascii: " ") : $0 }
            code.line(safe, to: &writer)
        }
        return writer.takeRows()
    }

    /// The code blocks of a whole text, without their fences and last line ends, as they are shown: also those within
    /// lists and quotes.
    package static func codeBlocks(of text: String) -> [String] {
        var stream = MarkdownStream(MarkdownOptions(columns: 80))
        stream.scanner.writer.codeBlocks = []
        stream.feed(text)
        stream.finish()
        return (stream.scanner.writer.codeBlocks ?? []).map { String(decoding: $0.dropLast(), as: UTF8.self) }
    }

    /// How much text is held because it is open.
    var heldBytes: Int { line.count + scanner.heldBytes }

    /// Whether nothing is open.
    package var isEmpty: Bool { line.isEmpty && !scanner.isOpen }

    /// Takes the next piece of the text, which may end anywhere. It is sanitised here.
    package mutating func feed(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            var begin = 0
            while begin < bytes.count {
                var end = min(begin + Self.part, bytes.count)
                while end < bytes.count, bytes[end] & 0xC0 == 0x80 { end += 1 }
                sanitize(UnsafeBufferPointer(rebasing: bytes[begin..<end]))
                takeLines()
                begin = end
            }
        }
    }

    /// Ends the text: what is open becomes finished. Text that follows is a text of its own.
    package mutating func finish() {
        if !line.isEmpty {
            let rest = line
            line.removeAll(keepingCapacity: true)
            rest.withUnsafeBufferPointer { scanner.take($0, isContinued: isContinued) }
        }
        (isContinued, wasReturn) = (false, false)
        scanner.finish()
    }

    /// Ends the open block, so that something else can be shown below it. A block of code stays open: its lines that
    /// have ended are finished, and the text that follows belongs to it.
    package mutating func endBlock() {
        if !scanner.isInFence { finish() }
    }

    /// Finishes the rows of an open paragraph but the last one: they stay as they are when the width changes, and the
    /// rest of the paragraph goes on below them.
    ///
    /// Of another block, such as a table, nothing is finished.
    package mutating func finishRows() {
        let rows = openRows()
        guard rows.count > 1 else { return }
        let wanted = Array(rows.dropLast().joined(separator: [UInt8(ascii: "\n")])) + [UInt8(ascii: "\n")]
        // The last row begins behind one of the last blanks: how wide a text is shown depends on its marks.
        let blanks = line.indices.filter { line[$0] == UInt8(ascii: " ") }.suffix(Self.mostWords).reversed()
        for blank in blanks {
            if let copy = broken(at: blank + 1), copy.scanner.writer.rows == wanted {
                self = copy
                return
            }
        }
        if let copy = broken(at: 0), copy.scanner.writer.rows == wanted { self = copy }
    }

    /// The same text, whose open paragraph is written up to a place in the unfinished line; nil in another block.
    private func broken(at end: Int) -> MarkdownStream? {
        var copy = self
        if end > 0 {
            line[..<end].withUnsafeBufferPointer { copy.scanner.take($0, isContinued: isContinued) }
            (copy.line, copy.isContinued) = (Array(line[end...]), true)
        }
        return copy.scanner.breakParagraph() ? copy : nil
    }

    /// More words than a row has.
    private static let mostWords = 200

    /// The rows that have been finished since the last call, each with a line feed.
    package mutating func takeRows() -> [UInt8] {
        scanner.writer.takeRows()
    }

    /// The rows of what is open.
    package func openRows() -> [[UInt8]] {
        guard !isEmpty else { return [] }
        var copy = self
        _ = copy.takeRows()
        copy.finish()
        return copy.takeRows().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
            .map(Array.init)
    }

    // MARK: Lines

    /// Appends text as ``TerminalText`` makes it safe, with one kind of line end.
    private mutating func sanitize(_ bytes: UnsafeBufferPointer<UInt8>) {
        var (place, clean) = (0, 0)
        while place < bytes.count {
            let byte = bytes[place]
            if byte >= 0x20, byte < 0x7F {
                wasReturn = false
                place += 1
                continue
            }
            let (scalar, length) = bytes.scalar(at: place)
            let wasReturn = wasReturn
            self.wasReturn = byte == 0x0D
            if byte == 0x0A && !wasReturn || byte == 0x09 || !TerminalText.isUnsafe(scalar) {
                place += length
                continue
            }
            line += bytes[clean..<place]
            place += length
            clean = place
            switch scalar.value {
            // Both halves of CR LF are one end. Vertical tab, form feed, NEL, and the separators of lines and
            // paragraphs end lines, too.
            case 0x0A: break
            case 0x0B...0x0D, 0x85, 0x2028, 0x2029: line.append(0x0A)
            default: line += TerminalText.line(String(scalar)).utf8
            }
        }
        line += bytes[clean...]
    }

    private mutating func takeLines() {
        let text = line
        var begin = 0
        text.withUnsafeBufferPointer { bytes in
            while begin < bytes.count {
                let most = min(begin + Self.longestLine, bytes.count)
                if let end = bytes[begin..<most].firstIndex(of: 0x0A) {
                    scanner.take(UnsafeBufferPointer(rebasing: bytes[begin..<end]), isContinued: isContinued)
                    isContinued = false
                    begin = end + 1
                } else if bytes.count - begin > Self.longestLine {
                    let end = Self.breaking(bytes, from: begin, atMost: most)
                    scanner.take(UnsafeBufferPointer(rebasing: bytes[begin..<end]), isContinued: isContinued)
                    isContinued = true
                    begin = end
                } else {
                    break
                }
            }
        }
        line = Array(text[begin...])
    }

    /// Returns the place where a long line is broken: after a blank in its last quarter, or between two scalars.
    private static func breaking(_ bytes: UnsafeBufferPointer<UInt8>, from begin: Int, atMost most: Int) -> Int {
        let quarter = most - longestLine / 4
        if let blank = bytes[quarter..<most].lastIndex(of: UInt8(ascii: " ")) { return blank + 1 }
        var end = most
        while end > begin + 1, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        return end
    }
}
