import CompanionWire

/// A line of a text, and the blocks that it can begin or end by the rules of CommonMark
/// (https://spec.commonmark.org/0.29/).
struct BlockLine {
    /// The line without its end.
    let bytes: UnsafeBufferPointer<UInt8>
    /// The offset of the first byte that is not blank; the length of the line if all are.
    let first: Int
    /// The column of that byte, from 0, with tab stops at every fourth.
    let indent: Int

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
        var (first, indent) = (0, 0)
        while first < bytes.count {
            if bytes[first] == UInt8(ascii: " ") {
                indent += 1
            } else if bytes[first] == UInt8(ascii: "\t") {
                indent += 4 - indent % 4
            } else {
                break
            }
            first += 1
        }
        (self.first, self.indent) = (first, indent)
    }

    var isBlank: Bool { first == bytes.count }
    /// Whether the line is code where no paragraph is open. It begins no other block then.
    var isIndented: Bool { indent >= 4 }

    private var byte: UInt8 { isBlank ? 0 : bytes[first] }
    private var rest: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(rebasing: bytes[first...]) }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }

    // MARK: Fences

    struct Fence {
        var byte: UInt8
        var length: Int
        var indent: Int
    }

    /// The fence that opens a code block, and the info string behind it.
    var fence: (fence: Fence, info: UnsafeBufferPointer<UInt8>)? {
        guard !isIndented, byte == UInt8(ascii: "`") || byte == UInt8(ascii: "~") else { return nil }
        let length = rest.prefix { $0 == byte }.count
        guard length >= 3 else { return nil }
        let info = UnsafeBufferPointer(rebasing: rest[length...])
        if byte == UInt8(ascii: "`"), info.contains(byte) { return nil }
        return (Fence(byte: byte, length: length, indent: indent), info)
    }

    func closes(_ fence: Fence) -> Bool {
        guard !isIndented, byte == fence.byte else { return false }
        let length = rest.prefix { $0 == fence.byte }.count
        return length >= fence.length && rest[length...].allSatisfy(Self.isBlank)
    }

    // MARK: Other blocks of one line

    var isHeading: Bool {
        guard !isIndented, byte == UInt8(ascii: "#") else { return false }
        let level = rest.prefix { $0 == UInt8(ascii: "#") }.count
        return level <= 6 && (level == rest.count || Self.isBlank(rest[level]))
    }

    var isRule: Bool {
        guard !isIndented else { return false }
        switch byte {
        case UInt8(ascii: "*"), UInt8(ascii: "-"), UInt8(ascii: "_"): break
        default: return false
        }
        var count = 0
        for other in rest where !Self.isBlank(other) {
            guard other == byte else { return false }
            count += 1
        }
        return count >= 3
    }

    /// Whether the line makes a heading of the paragraph above it.
    func isUnderline(_ mark: Unicode.Scalar) -> Bool {
        guard !isIndented, byte == UInt8(ascii: mark) else { return false }
        let length = rest.prefix { $0 == byte }.count
        return rest[length...].allSatisfy(Self.isBlank)
    }

    /// Whether the line makes a table of the line above it.
    var isTableRuler: Bool {
        var (hasDash, hasBar) = (false, false)
        for byte in rest {
            switch byte {
            case UInt8(ascii: "-"): hasDash = true
            case UInt8(ascii: "|"): hasBar = true
            case UInt8(ascii: ":"), UInt8(ascii: " "), UInt8(ascii: "\t"): break
            default: return false
            }
        }
        return hasDash && hasBar
    }

    // MARK: Containers

    var isQuote: Bool { !isIndented && byte == UInt8(ascii: ">") }

    struct Item {
        /// The bullet, or what stands behind the number.
        var mark: UInt8
        /// Nil for a bullet.
        var number: Int?
        /// The column from which on text belongs to the item.
        var contentIndent: Int
        var isEmpty: Bool
    }

    /// The list item that the line begins.
    var item: Item? {
        guard !isIndented, !isBlank else { return nil }
        let rest = rest
        var digits = 0
        while digits < min(10, rest.count), Self.isDigit(rest[digits]) { digits += 1 }
        let length: Int
        if digits == 0 {
            switch byte {
            case UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "*"): length = 1
            default: return nil
            }
        } else {
            guard digits <= 9, digits < rest.count,
                rest[digits] == UInt8(ascii: ".") || rest[digits] == UInt8(ascii: ")")
            else { return nil }
            length = digits + 1
        }
        guard length == rest.count || Self.isBlank(rest[length]) else { return nil }
        var (place, column) = (length, indent + length)
        while place < rest.count, Self.isBlank(rest[place]) {
            column += rest[place] == UInt8(ascii: "\t") ? 4 - column % 4 : 1
            place += 1
        }
        let isEmpty = place == rest.count
        let blanks = column - indent - length
        return Item(
            mark: rest[length - 1],
            number: digits == 0 ? nil : rest.prefix(digits).reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) },
            contentIndent: indent + length + (isEmpty || blanks > 4 ? 1 : blanks),
            isEmpty: isEmpty
        )
    }

    /// Whether the line ends a paragraph before it and begins something else.
    var interruptsParagraph: Bool {
        guard !isIndented, !isBlank else { return false }
        // Most lines are told by their first character.
        switch byte {
        case UInt8(ascii: "#"), UInt8(ascii: ">"), UInt8(ascii: "<"), UInt8(ascii: "`"), UInt8(ascii: "~"),
            UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "_"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            break
        default: return false
        }
        if isHeading || isRule || isQuote || fence != nil || html.map({ $0 != .tag }) == true { return true }
        guard let item else { return false }
        return !item.isEmpty && item.number ?? 1 == 1
    }

    /// Whether the line defines a footnote.
    var isFootnote: Bool {
        guard !isIndented, rest.starts(with: "[^".utf8), let end = rest.firstIndex(of: UInt8(ascii: "]")) else {
            return false
        }
        return end > 2 && end + 1 < rest.count && rest[end + 1] == UInt8(ascii: ":")
    }

    // MARK: HTML

    /// The kinds of HTML blocks, by the end that each has.
    enum HTML: Hashable {
        case raw, comment, instruction, declaration, data
        /// An empty line. A tag that is not a block's does not interrupt a paragraph.
        case block, tag
    }

    /// The block of HTML that the line begins.
    var html: HTML? {
        guard !isIndented, byte == UInt8(ascii: "<"), rest.count > 1 else { return nil }
        if rest.starts(with: "<!--".utf8) { return .comment }
        if rest.starts(with: "<?".utf8) { return .instruction }
        if rest.starts(with: "<![CDATA[".utf8) { return .data }
        if rest[1] == UInt8(ascii: "!") { return rest.count > 2 && Self.isLetter(rest[2]) ? .declaration : nil }
        let isEnd = rest[1] == UInt8(ascii: "/")
        let begin = isEnd ? 2 : 1
        let name = rest[begin...].prefix {
            Self.isLetter($0) || Self.isDigit($0) || $0 == UInt8(ascii: "-")
        }
        guard let letter = name.first, Self.isLetter(letter), name.count <= 64 else { return nil }
        let next = name.endIndex < rest.count ? rest[name.endIndex] : UInt8(ascii: " ")
        guard Self.isBlank(next) || next == UInt8(ascii: ">") || next == UInt8(ascii: "/") else { return nil }
        let word = String(decoding: name, as: UTF8.self).lowercased()
        if !isEnd, Self.rawTags.contains(word), next != UInt8(ascii: "/") { return .raw }
        if Self.blockTags.contains(word) { return .block }
        // One whole tag, and nothing else.
        guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return nil }
        return rest[(end + 1)...].allSatisfy(Self.isBlank) ? .tag : nil
    }

    /// Whether the line is the last one of a block of HTML.
    func ends(_ html: HTML) -> Bool {
        switch html {
        case .raw: Self.rawTags.contains { has("</\($0)>") }
        case .comment: has("-->")
        case .instruction: has("?>")
        case .declaration: has(">")
        case .data: has("]]>")
        case .block, .tag: isBlank
        }
    }

    private func has(_ text: String) -> Bool {
        let text = Array(text.utf8)
        guard rest.count >= text.count else { return false }
        return (0...(rest.count - text.count)).contains { place in
            rest[place] == text[0]
                && rest[place..<place + text.count].elementsEqual(text) {
                    Self.isLetter($0) ? $0 | 0x20 == $1 : $0 == $1
                }
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z")
    }

    private static let rawTags: Set = ["script", "pre", "style"]
    private static let blockTags = Set(
        """
        address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt \
        fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li \
        link main menu menuitem nav noframes ol optgroup option p param section source summary table tbody td tfoot th \
        thead title tr track ul
        """.parts(" ").map(String.init)
    )
}
