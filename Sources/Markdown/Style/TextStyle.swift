/// The attributes and the colour of a piece of text, for a terminal whose theme has 16 colours.
struct TextStyle: Hashable, Sendable {
    private var bits: UInt16

    private init(bits: UInt16) {
        self.bits = bits
    }

    static let plain = TextStyle(bits: 0)
    static let bold = TextStyle(bits: 1)
    static let dim = TextStyle(bits: 2)
    static let italic = TextStyle(bits: 4)
    static let underline = TextStyle(bits: 8)
    static let struck = TextStyle(bits: 16)
    /// Marks code, where addresses are not links. A terminal shows nothing of it.
    static let code = TextStyle(bits: 32)

    /// - Parameter number: The colour's code for a terminal (ECMA-48, SGR): 30 to 37, or 90 to 97 for the bright ones.
    static func colour(_ number: UInt8) -> TextStyle {
        TextStyle(bits: UInt16(number) << 8)
    }

    /// Both styles; the second one's colour, if it has one.
    static func + (first: TextStyle, second: TextStyle) -> TextStyle {
        let colour = second.bits & 0xFF00 == 0 ? first.bits & 0xFF00 : second.bits & 0xFF00
        return TextStyle(bits: (first.bits | second.bits) & 0xFF | colour)
    }

    func has(_ style: TextStyle) -> Bool {
        bits & style.bits == style.bits
    }

    /// Whether a terminal shows the text in this style as it shows plain text.
    var isShownPlain: Bool {
        bits & ~Self.code.bits == 0
    }

    /// Appends the sequence that turns the style on.
    func begin(_ out: inout [UInt8]) {
        guard !isShownPlain else { return }
        out += [0x1B, UInt8(ascii: "[")]
        var isFirst = true
        func add(_ code: UInt8) {
            if !isFirst { out.append(UInt8(ascii: ";")) }
            isFirst = false
            if code >= 10 { out.append(UInt8(ascii: "0") + code / 10) }
            out.append(UInt8(ascii: "0") + code % 10)
        }
        for (style, code) in Self.codes where has(style) { add(code) }
        if bits >> 8 != 0 { add(UInt8(bits >> 8)) }
        out.append(UInt8(ascii: "m"))
    }

    /// Appends the sequence that turns every style off.
    func end(_ out: inout [UInt8]) {
        guard !isShownPlain else { return }
        out += [0x1B, UInt8(ascii: "["), UInt8(ascii: "0"), UInt8(ascii: "m")]
    }

    private static let codes: [(TextStyle, UInt8)] = [(bold, 1), (dim, 2), (italic, 3), (underline, 4), (struck, 9)]
}
