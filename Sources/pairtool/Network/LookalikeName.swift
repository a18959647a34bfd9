/// A name as the eye takes it: names that look the same are the same here.
///
/// Case, spaces and characters that cannot be seen make no difference, nor which of I, l and 1 it is; of letters of
/// other scripts that look like Latin ones, the usual ones are known (a part of Unicode Technical Standard 39, section
/// 4).
struct LookalikeName: Hashable, Sendable {
    private let skeleton: String

    init(_ name: String) {
        var skeleton = String.UnicodeScalarView()
        for scalar in name.lowercased().unicodeScalars {
            guard !TerminalText.isUnsafe(scalar), !scalar.properties.isWhitespace,
                !scalar.properties.isDefaultIgnorableCodePoint
            else { continue }
            skeleton.append(Self.latin[scalar] ?? scalar)
        }
        // Strings are equal when they are canonically equivalent: é in one character or in two.
        self.skeleton = String(skeleton)
    }

    private static let latin: [Unicode.Scalar: Unicode.Scalar] = {
        let pairs: [(String, String)] = [
            // Cyrillic, Greek, and of Latin what a capital I may be, digits and signs.
            ("аеорсухіјѕԁһԛԝвкмнт", "aeopcyxljsdhqwbkmht"), ("αοινυκρτχ", "aolvukptx"),
            ("i0l1|ı’ʼ‐‑–—", "lollll''----"),
        ]
        var map: [Unicode.Scalar: Unicode.Scalar] = [:]
        for (from, to) in pairs {
            for (key, value) in zip(from.unicodeScalars, to.unicodeScalars) { map[key] = value }
        }
        return map
    }()
}
