/// Finds where the blocks of a text end, line by line, and writes each block once it has ended.
///
/// It follows the rules by which CommonMark tells blocks apart at the top of a text. What is within a quote or a list
/// item is left to cmark-gfm, and so is everything within lines. Each item of a list is a block of its own here, and
/// each line of code and of HTML: a long list or a long program is shown as it comes. A block's rows do not depend on
/// what follows the block.
struct BlockScanner {
    private enum Open {
        case none
        case paragraph
        case fence(BlockLine.Fence, CodeBlock)
        case indented(CodeBlock, blanks: Int)
        case html(BlockLine.HTML)
        case quote
        case item(BlockLine.Item)
    }

    /// Stands at the beginning of the rest of a paragraph that was too long to be parsed in one piece: the rest of a
    /// paragraph must not begin another block. Text of a peer does not have this character: sanitising replaces it.
    static let continued = Array("\u{2060}".utf8)

    /// The longest paragraph, quote and table that are parsed in one piece, in bytes and lines, and the longest list
    /// item: cmark takes time with the square of the length of some texts.
    private static let mostBytes = 8 << 10
    private static let mostLines = 1000
    private static let mostItemBytes = 64 << 10
    /// The longest head of a table that is repeated where the table is too long for one piece.
    private static let mostHeadBytes = 1 << 10
    /// The most characters in a longer list item that can begin links and emphasis.
    private static let mostMarks = 4096
    /// The most containers within each other that one line begins, and the most columns of a table. What exceeds them
    /// is shown as text.
    private static let mostContainers = 32

    var writer: RowWriter
    private var open = Open.none
    /// The lines of the open block that are not written.
    private var block: [UInt8] = []
    private var lines = 0
    private var marks = 0
    /// The first two lines of an open table.
    private var tableHead: [UInt8]?
    /// The place in ``block`` where its last line begins.
    private var lastLine = 0
    /// Empty lines in an open item, which belong to it if it goes on.
    private var blanks = 0
    /// Whether the open item has become too long: the rest of it is shown as text.
    private var isPlain = false
    /// The number of the open item of an ordered list.
    private var ordinal: Int?
    private var definitions = LinkDefinitions()

    init(options: MarkdownOptions) {
        writer = RowWriter(options: options, hasRows: false)
    }

    /// Takes a line.
    ///
    /// - Parameter isContinued: Whether the line is the rest of a longer one.
    mutating func take(_ bytes: UnsafeBufferPointer<UInt8>, isContinued: Bool = false) {
        let line = BlockLine(bytes)
        // The rest of a line is no empty line, which would end a block.
        if isContinued, line.isBlank { return }
        switch open {
        case .none: begin(line, isContinued: isContinued)
        case .paragraph: takeInParagraph(line, isContinued: isContinued)
        case .fence(let fence, var code): takeInFence(line, of: fence, into: &code, isContinued: isContinued)
        case .indented(var code, let blanks): takeIndented(line, into: &code, after: blanks, isContinued: isContinued)
        case .html(let html): takeHTML(line, of: html)
        case .quote: takeInQuote(line, isContinued: isContinued)
        case .item(let item): takeInItem(line, of: item, isContinued: isContinued)
        }
    }

    /// Ends the open block, as the end of the text does.
    mutating func finish() {
        switch open {
        case .paragraph, .quote, .item: writeBlock()
        case .none, .fence, .indented, .html: break
        }
        open = .none
    }

    /// Ends the rows of an open paragraph, which goes on.
    ///
    /// - Returns: Whether there is one.
    mutating func breakParagraph() -> Bool {
        guard case .paragraph = open, tableHead == nil, block.count > Self.continued.count else { return false }
        writeBlock()
        open = .paragraph
        block = Self.continued
        return true
    }

    var heldBytes: Int { block.count }

    var isOpen: Bool {
        if case .none = open { false } else { true }
    }

    /// Whether lines of code are written as they come, so that the block need not end before something else is shown.
    var isInFence: Bool {
        if case .fence = open { true } else { false }
    }

    // MARK: Blocks of lines that are written at once

    private mutating func begin(_ line: BlockLine, isContinued: Bool = false) {
        if line.isBlank { return }
        writer.gap()
        if isContinued {
            open = .paragraph
            block = Self.continued
            return append(line)
        }
        if line.isIndented {
            var code = CodeBlock(info: [], palette: writer.palette)
            code.begin(&writer)
            code.line(line.removing(4), to: &writer)
            open = .indented(code, blanks: 0)
        } else if let (fence, info) = line.fence {
            let code = CodeBlock(info: Self.decoded(info, of: line), palette: writer.palette)
            code.begin(&writer)
            open = .fence(fence, code)
        } else if line.isHeading {
            append(line)
            writeBlock()
        } else if line.isRule {
            BlockRenderer.rule(&writer)
        } else if let html = line.html {
            BlockRenderer.plainLine(line.bytes, to: &writer)
            if !line.ends(html) { open = .html(html) }
        } else if line.isQuote {
            open = .quote
            append(line)
        } else if let item = line.item {
            open = .item(item)
            ordinal = item.number
            append(line)
        } else {
            open = .paragraph
            // Footnotes stay where they are: cmark would take those of one word for links.
            if line.isFootnote { block.append(UInt8(ascii: "\\")) }
            append(line)
        }
    }

    /// An info string, with what its escapes and entities stand for.
    private static func decoded(_ info: UnsafeBufferPointer<UInt8>, of line: BlockLine) -> [UInt8] {
        guard info.contains(where: { $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: "&") }) else { return Array(info) }
        let document = ParsedDocument(Array(line.bytes))
        return document.node.children.first { _ in true }?.withInfo { Array($0) } ?? []
    }

    private mutating func takeInFence(
        _ line: BlockLine,
        of fence: BlockLine.Fence,
        into code: inout CodeBlock,
        isContinued: Bool
    ) {
        open = .none
        if isContinued || !line.closes(fence) {
            let indent = isContinued ? 0 : fence.indent
            code.line(line.removing(indent, onlySpaces: true), isContinued: isContinued, to: &writer)
            open = .fence(fence, code)
        }
    }

    private mutating func takeIndented(
        _ line: BlockLine,
        into code: inout CodeBlock,
        after blanks: Int,
        isContinued: Bool
    ) {
        open = .none
        if line.isBlank {
            open = .indented(code, blanks: blanks + 1)
        } else if isContinued || line.isIndented {
            for _ in 0..<min(blanks, Self.mostLines) { code.line([], to: &writer) }
            code.line(line.removing(isContinued ? 0 : 4), isContinued: isContinued, to: &writer)
            open = .indented(code, blanks: 0)
        } else {
            begin(line)
        }
    }

    private mutating func takeHTML(_ line: BlockLine, of html: BlockLine.HTML) {
        let isEnd = line.ends(html)
        if !line.isBlank || !isEnd { BlockRenderer.plainLine(line.bytes, to: &writer) }
        if isEnd { open = .none }
    }

    // MARK: Blocks that are parsed

    private mutating func takeInParagraph(_ line: BlockLine, isContinued: Bool) {
        if line.isBlank { return writeBlock() }
        if isContinued || line.isIndented { return appendToParagraph(line) }
        if line.isUnderline("-") || line.isUnderline("=") && tableHead == nil && block[0] != UInt8(ascii: "[") {
            append(line)
            return writeBlock(isHeading: true)
        }
        if line.interruptsParagraph {
            writeBlock()
            return begin(line)
        }
        if line.isFootnote {
            writeBlock()
            open = .paragraph
            block = [UInt8(ascii: "\\")]
            return append(line)
        }
        if tableHead == nil, line.isTableRuler, block[lastLine...].contains(UInt8(ascii: "|")),
            line.excess(most: Self.mostContainers) == nil,
            block.count - lastLine + line.bytes.count <= Self.mostHeadBytes
        {
            tableHead = Array(block[lastLine...]) + Array(line.bytes) + [UInt8(ascii: "\n")]
        }
        appendToParagraph(line)
    }

    private mutating func appendToParagraph(_ line: BlockLine) {
        if block.count + line.bytes.count > Self.mostBytes || lines >= Self.mostLines {
            let head = tableHead
            writeBlock()
            open = .paragraph
            // The rest of a table is a table of its own.
            block = head ?? Self.continued
            tableHead = head
            if head != nil { writer.gap() }
        }
        append(line)
    }

    private mutating func takeInQuote(_ line: BlockLine, isContinued: Bool) {
        if line.isBlank { return writeBlock() }
        if !line.isQuote, !isContinued, line.interruptsParagraph {
            writeBlock()
            return begin(line)
        }
        if block.count + line.bytes.count > Self.mostBytes || lines >= Self.mostLines {
            writeBlock()
            open = .quote
            if !line.isQuote { block = Array("> ".utf8) }
        }
        append(line)
    }

    private mutating func takeInItem(_ line: BlockLine, of item: BlockLine.Item, isContinued: Bool) {
        if line.isBlank {
            blanks += 1
            return
        }
        if isContinued || line.indent >= item.contentIndent { return appendToItem(line) }
        if !line.isRule, let next = line.item {
            let isSibling = next.mark == item.mark && (next.number == nil) == (item.number == nil)
            let (number, hadBlank) = (ordinal, blanks > 0)
            writeBlock()
            guard isSibling else { return begin(line) }
            if hadBlank { writer.gap() }
            open = .item(next)
            // Numbers count on from the first one, whatever the others are.
            ordinal = number.map { $0 &+ 1 }
            return append(line)
        }
        if blanks > 0 || line.interruptsParagraph {
            writeBlock()
            return begin(line)
        }
        appendToItem(line)
    }

    private mutating func appendToItem(_ line: BlockLine) {
        let blanks = min(blanks, Self.mostLines)
        self.blanks = 0
        if isPlain { return BlockRenderer.plainLine(line.bytes, to: &writer) }
        marks += line.bytes.count { byte in
            switch byte {
            case UInt8(ascii: "["), UInt8(ascii: "*"), UInt8(ascii: "_"), UInt8(ascii: "~"): true
            default: false
            }
        }
        let count = block.count + blanks + line.bytes.count
        guard count <= Self.mostBytes || count <= Self.mostItemBytes && marks <= Self.mostMarks else {
            let before = open
            writeBlock()
            open = before
            isPlain = true
            return BlockRenderer.plainLine(line.bytes, to: &writer)
        }
        block += [UInt8](repeating: UInt8(ascii: "\n"), count: blanks)
        append(line)
    }

    /// Appends a line to the open block, with a limit to what it nests.
    private mutating func append(_ line: BlockLine) {
        lastLine = block.count
        if let place = line.excess(most: Self.mostContainers) {
            block += line.bytes[..<place]
            block.append(UInt8(ascii: "\\"))
            block += line.bytes[place...]
        } else {
            block += line.bytes
        }
        block.append(UInt8(ascii: "\n"))
        lines += 1
    }

    /// Writes the open block, which ends.
    ///
    /// - Parameter isHeading: Whether its last line makes a heading of it.
    private mutating func writeBlock(isHeading: Bool = false) {
        if case .paragraph = open, !isHeading, InlineText.isPlain(block) {
            writer.text(InlineText.ofPlain(block, options: writer.options, palette: writer.palette))
        } else {
            if block.first == UInt8(ascii: "["), case .paragraph = open { definitions.add(from: block) }
            let text = block.contains(UInt8(ascii: "[")) ? definitions.used(by: block) + block : block
            if !isPlain { BlockRenderer.write(text, ordinal: ordinal, to: &writer) }
        }
        open = .none
        block.removeAll(keepingCapacity: true)
        (lines, marks, lastLine, blanks, isPlain, ordinal, tableHead) = (0, 0, 0, 0, false, nil, nil)
    }
}

extension BlockLine {
    /// The line without its first columns, as far as they are blank. A tab that is cut leaves blanks.
    ///
    /// - Parameter onlySpaces: Whether tabs stay.
    func removing(_ columns: Int, onlySpaces: Bool = false) -> [UInt8] {
        var (place, column) = (0, 0)
        while place < bytes.count, column < columns {
            if bytes[place] == UInt8(ascii: " ") {
                column += 1
            } else if bytes[place] == UInt8(ascii: "\t"), !onlySpaces {
                column += 4 - column % 4
            } else {
                break
            }
            place += 1
        }
        return [UInt8](repeating: UInt8(ascii: " "), count: max(0, column - columns)) + bytes[place...]
    }

    private static func isInNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "."), UInt8(ascii: ")"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: false
        }
    }

    /// Returns the offset where a backslash has to be inserted so that the line does not nest more containers, or make
    /// a wider table, than a limit allows; nil for a line within the limit.
    func excess(most: Int) -> Int? {
        if isTableRuler, bytes.count(where: { $0 == UInt8(ascii: "|") }) > most {
            return bytes.firstIndex(of: UInt8(ascii: "|"))
        }
        var (place, count) = (first, 0)
        while place < bytes.count {
            let rest = BlockLine(UnsafeBufferPointer(rebasing: bytes[place...]))
            if rest.isQuote {
                place += rest.first + 1
            } else if let item = rest.item, !item.isEmpty {
                place += rest.first + 1
                while place < bytes.count, Self.isInNumber(bytes[place]) { place += 1 }
            } else if rest.isIndented, !rest.isBlank {
                // What is indented this far after a bullet begins nothing, but a later look at it must not be missed.
                place += rest.first
            } else {
                return nil
            }
            count += 1
            if count > most { return place < bytes.count ? place : nil }
        }
        return nil
    }
}
