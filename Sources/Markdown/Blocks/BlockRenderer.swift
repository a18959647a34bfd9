/// Writes parsed blocks as rows.
enum BlockRenderer {
    /// Writes a piece of a text.
    ///
    /// - Parameters:
    ///   - text: Markdown, sanitised.
    ///   - ordinal: The number of the first list item, where its list began earlier.
    static func write(_ text: [UInt8], ordinal: Int? = nil, to writer: inout RowWriter) {
        let document = ParsedDocument(text)
        blocks(of: document.node, ordinal: ordinal, to: &writer)
    }

    private static func blocks(
        of node: MarkdownNode,
        isTight: Bool = false,
        ordinal: Int? = nil,
        to writer: inout RowWriter
    ) {
        var isFirst = true
        for child in node.children {
            if !isFirst, !isTight { writer.gap() }
            block(child, ordinal: isFirst ? ordinal : nil, to: &writer)
            isFirst = false
        }
    }

    private static func block(_ node: MarkdownNode, ordinal: Int?, to writer: inout RowWriter) {
        switch node.kind {
        case .paragraph: writer.text(inline(node, for: writer))
        case .heading:
            let style = writer.palette.heading[max(1, min(node.level, 6)) - 1]
            writer.text(inline(node, for: writer, style: style))
        case .code:
            var code = node.withInfo { CodeBlock(info: $0, palette: writer.palette) }
            code.begin(&writer)
            node.withLiteral { literal in
                for line in lines(literal) { code.line(line, to: &writer) }
            }
        case .html:
            node.withLiteral { literal in
                for line in lines(literal) { plainLine(line, to: &writer) }
            }
        case .rule: rule(&writer)
        case .quote:
            let bar = StyledText("│ ", style: writer.palette.frame)
            writer.nested(bar, rest: bar) { blocks(of: node, to: &$0) }
        case .list: list(node, ordinal: ordinal, to: &writer)
        case .table: TableBlock(node, writer: writer).write(&writer)
        default: blocks(of: node, to: &writer)
        }
    }

    private static func inline(
        _ node: MarkdownNode,
        for writer: borrowing RowWriter,
        style: TextStyle = .plain
    ) -> StyledText {
        InlineText.of(node, options: writer.options, palette: writer.palette, style: style)
    }

    private static func list(_ node: MarkdownNode, ordinal: Int?, to writer: inout RowWriter) {
        let isTight = node.isTight
        var number = node.firstNumber.map { ordinal ?? $0 }
        var isFirst = true
        for item in node.children {
            if !isFirst, !isTight { writer.gap() }
            isFirst = false
            let bullet = number.map { "\($0)\(node.hasParenthesis ? ")" : ".") " } ?? "• "
            var mark = StyledText(bullet, style: writer.palette.frame)
            if let isDone = item.isDone { mark.append(isDone ? "[x] " : "[ ] ", style: writer.palette.strong) }
            writer.nested(mark) { blocks(of: item, isTight: isTight, to: &$0) }
            number = number.map { $0 &+ 1 }
        }
    }

    /// Writes a line as it is: of HTML, or of a block that is too long to be shown in another way.
    static func plainLine(_ line: some Collection<UInt8>, to writer: inout RowWriter) {
        var text = StyledText()
        Array(line.map { $0 == UInt8(ascii: "\t") ? UInt8(ascii: " ") : $0 }).withUnsafeBufferPointer {
            text.append(unsafe: $0, style: .code)
        }
        writer.text(text)
    }

    static func rule(_ writer: inout RowWriter) {
        writer.line("─", count: writer.width)
    }

    /// The lines of the content of a block, whose last line ends as the others do.
    private static func lines(_ literal: UnsafeBufferPointer<UInt8>) -> [UnsafeBufferPointer<UInt8>.SubSequence] {
        if literal.isEmpty { return [] }
        let content = literal.last == UInt8(ascii: "\n") ? literal.dropLast() : literal[...]
        return content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    }
}
