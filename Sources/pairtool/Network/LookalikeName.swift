import CompanionWire

/// A name reduced to how it looks: two names that look the same are equal here.
///
/// Ignores case, spaces and invisible characters, treats I, l and 1 as equal, and maps common letters of other scripts
/// to the Latin letters that they look like (a part of Unicode Technical Standard 39, section 4).
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
        // Swift compares strings by canonical equivalence, so é is the same as one character or as two.
        self.skeleton = String(skeleton)
    }

    private static let latin: [Unicode.Scalar: Unicode.Scalar] = {
        let pairs: [(String, String)] = [
            // Cyrillic, Greek, and Latin letters, digits and signs that look like another (such as capital I).
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
