/// Collects what a paragraph, a heading or a cell of a table says.
struct InlineText {
    private(set) var text = StyledText()
    private let options: MarkdownOptions
    private let palette: Palette
    private var styles: [TextStyle]
    /// The links that are open: their number for the terminal if it is told of them, their address, and where their
    /// text begins.
    private var links: [(number: Int?, address: [UInt8], begin: Int)] = []

    static func of(
        _ node: MarkdownNode,
        options: MarkdownOptions,
        palette: Palette,
        style: TextStyle = .plain
    ) -> StyledText {
        var inline = InlineText(options: options, palette: palette, style: style)
        node.walk { inline.add($0, begins: $1) }
        if options.hasLinks { inline.text.linkAddresses() }
        return inline.text
    }

    /// Whether nothing in a paragraph can be markup, so that cmark need not look at it.
    static func isPlain(_ paragraph: [UInt8]) -> Bool {
        paragraph.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "\\"), UInt8(ascii: "`"), UInt8(ascii: "*"), UInt8(ascii: "_"), UInt8(ascii: "["),
                UInt8(ascii: "]"), UInt8(ascii: "<"), UInt8(ascii: "&"), UInt8(ascii: "~"), UInt8(ascii: "|"):
                false
            default: true
            }
        }
    }

    /// A paragraph in which nothing is markup (``isPlain(_:)``). Its lines stay lines: see ``addLineEnd()``.
    ///
    /// - Parameter paragraph: Its lines, each with its end.
    static func ofPlain(_ paragraph: [UInt8], options: MarkdownOptions, palette: Palette) -> StyledText {
        var inline = InlineText(options: options, palette: palette, style: .plain)
        inline.text.reserveCapacity(paragraph.count)
        paragraph.withUnsafeBufferPointer { bytes in
            var begin = 0
            while begin < bytes.count {
                let end = bytes[begin...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
                var (first, last) = (begin, end)
                while first < last, isBlank(bytes[first]) { first += 1 }
                while first < last, isBlank(bytes[last - 1]) { last -= 1 }
                inline.add(UnsafeBufferPointer(rebasing: bytes[first..<last]))
                if end + 1 < bytes.count { inline.addLineEnd() }
                begin = end + 1
            }
        }
        if options.hasLinks { inline.text.linkAddresses() }
        return inline.text
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    private init(options: MarkdownOptions, palette: Palette, style: TextStyle) {
        (self.options, self.palette) = (options, palette)
        styles = [style]
    }

    private var style: TextStyle { styles[styles.count - 1] }

    private mutating func add(_ node: MarkdownNode, begins: Bool) {
        switch node.kind {
        case .text: node.withLiteral { add($0) }
        case .softBreak: addLineEnd()
        case .lineBreak: text.append(UInt8(ascii: "\n"), style: .plain)
        case .inlineCode: addCode(node)
        case .inlineHTML: addHTML(node)
        case .emphasis: change(palette.emphasis, begins: begins)
        case .strong: change(palette.strong, begins: begins)
        case .struck: change(palette.struck, begins: begins)
        case .link: addLink(node, style: palette.link, begins: begins)
        case .image: addLink(node, style: palette.emphasis, begins: begins)
        default: break
        }
    }

    private mutating func change(_ added: TextStyle, begins: Bool) {
        if begins { styles.append(style + added) } else if styles.count > 1 { styles.removeLast() }
    }

    /// Adds the end of a line within a paragraph, which CommonMark allows to show as a blank or as it is (6.10): agents
    /// write listings and verses that way, and a line that is too long is wrapped in any case.
    private mutating func addLineEnd() {
        guard let last = text.bytes.last, last != UInt8(ascii: "\n") else { return }
        text.append(UInt8(ascii: "\n"), style: .plain)
    }

    /// Several blanks count as one, as in HTML.
    private mutating func addBlank() {
        if !text.isEmpty, !text.endsWithBlank { text.append(UInt8(ascii: " "), style: style, link: links.last?.number) }
    }

    private mutating func add(_ literal: UnsafeBufferPointer<UInt8>) {
        var literal = literal[...]
        if text.isEmpty, literal.starts(with: BlockScanner.continued) {
            literal = literal.dropFirst(BlockScanner.continued.count)
        }
        if literal.first != UInt8(ascii: " "), Self.isSimple(literal) {
            return text.append(literal, style: style, link: links.last?.number)
        }
        while let first = literal.first {
            let isBlank = first == UInt8(ascii: " ") || first == UInt8(ascii: "\t")
            let part = literal.prefix { ($0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t")) == isBlank }
            literal = literal[part.endIndex...]
            if isBlank {
                addBlank()
            } else {
                text.append(unsafe: UnsafeBufferPointer(rebasing: part), style: style, link: links.last?.number)
            }
        }
    }

    /// Whether a text is ASCII without control characters and without blanks that count as one.
    private static func isSimple(_ literal: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        var last = UInt8(ascii: "a")
        for byte in literal {
            guard byte >= 0x20, byte < 0x7F, byte != 0x20 || last != 0x20 else { return false }
            last = byte
        }
        return true
    }

    private mutating func addCode(_ node: MarkdownNode) {
        node.withLiteral { text.append(unsafe: $0, style: style + palette.code, link: links.last?.number) }
    }

    private mutating func addHTML(_ node: MarkdownNode) {
        node.withLiteral { tag in
            // The only way to break a line in a cell of a table.
            if ["<br>", "<br/>", "<br />"].contains(where: { tag.elementsEqual($0.utf8) }) {
                text.append(UInt8(ascii: "\n"), style: .plain)
            } else {
                text.append(unsafe: tag, style: style, link: links.last?.number)
            }
        }
    }

    private mutating func addLink(_ node: MarkdownNode, style: TextStyle, begins: Bool) {
        if begins {
            if let link = links.last, node.kind == .image {
                // A terminal knows no links within links: a picture in one leads where that does.
                links.append((link.number, [], text.bytes.count))
            } else {
                let address = node.address
                let safe = options.hasLinks ? LinkAddress.safe(address) : nil
                links.append((safe.map { text.addLink($0) }, address, text.bytes.count))
            }
            change(style, begins: true)
            return
        }
        change(style, begins: false)
        guard let link = links.popLast(), !link.address.isEmpty else { return }
        let shown = text.bytes[link.begin...]
        if !shown.contains(where: { $0 > 0x20 }) {
            link.address.withUnsafeBufferPointer {
                text.append(unsafe: $0, style: self.style + style, link: link.number)
            }
            return
        }
        let isSame =
            shown.elementsEqual(link.address)
            || "mailto:".utf8.elementsEqual(link.address.prefix(7))
                && shown.elementsEqual(link.address.dropFirst(7))
        // Where a link leads is not seen at the terminal before it is opened, and its text may name any other place.
        guard !isSame, link.number == nil || !LinkAddress.isHost(of: link.address, namedBy: shown) else { return }
        // An address that must not be a link does not become one by being shown.
        text.append(" (", style: self.style)
        link.address.withUnsafeBufferPointer { text.append(unsafe: $0, style: self.style + .code) }
        text.append(")", style: self.style)
    }
}
