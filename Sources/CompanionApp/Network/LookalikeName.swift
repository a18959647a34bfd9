import CompanionWire

/// A name reduced to how it looks: two names that look the same are equal here.
///
/// Ignores case, spaces and invisible characters, treats I, l and 1 as equal, and maps letters in other forms (of full
/// width, in circles, bold) and common letters of other scripts to the Latin letters that they look like (a part of
/// Unicode Technical Standard 39, section 4).
struct LookalikeName: Hashable, Sendable {
    private let skeleton: String

    init(_ name: String) {
        var skeleton = String.UnicodeScalarView()
        let plain = String(String.UnicodeScalarView(name.unicodeScalars.map(Self.plain)))
        for scalar in plain.lowercased().unicodeScalars {
            guard !TerminalText.isUnsafe(scalar), !scalar.properties.isWhitespace,
                !scalar.properties.isDefaultIgnorableCodePoint, scalar != Self.blankBraille
            else { continue }
            skeleton.append(Self.latin[scalar] ?? scalar)
        }
        // Swift compares strings by canonical equivalence, so é is the same as one character or as two.
        self.skeleton = String(skeleton)
    }

    /// The ASCII character of which a scalar is another form; else the scalar.
    private static func plain(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        let value = scalar.value
        /// The letter with a number: A…Z, then a…z, again and again.
        func letter(_ number: UInt32) -> UInt32 { number % 52 < 26 ? 0x41 + number % 52 : 0x61 + number % 52 - 26 }
        let ascii: UInt32 =
            switch value {
            case 0xFF01...0xFF5E: value - 0xFEE0
            case 0x24B6...0x24E9: letter(value - 0x24B6)
            case 0x1D400...0x1D6A3: letter(value - 0x1D400)
            case 0x1D7CE...0x1D7FF: 0x30 + (value - 0x1D7CE) % 10
            case 0x1F130...0x1F149: letter(value - 0x1F130)
            case 0x1F150...0x1F169: letter(value - 0x1F150)
            case 0x1F170...0x1F189: letter(value - 0x1F170)
            default: value
            }
        return Unicode.Scalar(ascii) ?? scalar
    }

    /// A sign of Braille without dots.
    private static let blankBraille: Unicode.Scalar = "\u{2800}"

    private static let latin: [Unicode.Scalar: Unicode.Scalar] = {
        let pairs: [(String, String)] = [
            // Cyrillic, Greek, and Latin letters, digits and signs that look like another (such as capital I).
            ("аеорсухіјѕԁһԛԝвкмнт", "aeopcyxljsdhqwbkmht"), ("αοινυκρτχ", "aolvukptx"),
            ("i0l1|ı’ʼ‐‑–—", "lollll''----"), ("ⅰⅼⅽⅾⅿⅴⅹℓℎ", "llcdmvxlh"),
        ]
        var map: [Unicode.Scalar: Unicode.Scalar] = [:]
        for (from, to) in pairs {
            for (key, value) in zip(from.unicodeScalars, to.unicodeScalars) { map[key] = value }
        }
        return map
    }()
}
