/// Decisions on text of others, made on its bytes as files, peers and other programs make them.
///
/// Swift's own comparisons go by what people see: U+0600 and `/` are one `Character`, so a slash behind U+0600 is not
/// found, and both spellings of `é` are equal. `scripts/check-text` finds such comparisons.
extension StringProtocol {
    /// Whether both have the same bytes.
    package func isSame(as other: some StringProtocol) -> Bool {
        utf8.elementsEqual(other.utf8)
    }

    /// Whether the text begins with these bytes.
    package func begins(with prefix: some StringProtocol) -> Bool {
        utf8.starts(with: prefix.utf8)
    }

    /// Whether the text ends with these bytes.
    package func ends(with suffix: some StringProtocol) -> Bool {
        utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }

    /// Whether these bytes occur in the text. Every text has the empty one.
    package func has(_ part: some StringProtocol) -> Bool {
        guard let first = part.utf8.first else { return true }
        var rest = utf8[...]
        while let start = rest.firstIndex(of: first) {
            if rest[start...].starts(with: part.utf8) { return true }
            rest = rest[rest.index(after: start)...]
        }
        return false
    }

    /// The text without white space and line breaks at its ends.
    package func trimmingWhitespace() -> String {
        let scalars = unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        return String(self[first..<scalars.index(after: last)])
    }

    /// Whether a condition holds for every byte, without going from index to index where the bytes lie in a row.
    func allBytes(_ condition: (UInt8) -> Bool) -> Bool {
        utf8.withContiguousStorageIfAvailable { $0.allSatisfy(condition) } ?? utf8.allSatisfy(condition)
    }

    /// The first scalars of the text. A `Character` has no limit of length.
    package func scalars(atMost count: Int) -> String {
        String(self[..<(unicodeScalars.index(startIndex, offsetBy: count, limitedBy: endIndex) ?? endIndex)])
    }

    /// The first scalars of the text as one line, without white space at its ends.
    package func oneLine(atMost count: Int) -> String {
        let scalars = unicodeScalars.lazy.map { $0.properties.isWhitespace ? " " : $0 }
        return String(String.UnicodeScalarView(scalars.prefix(count))).trimmingWhitespace()
    }

    /// The first 8 scalars of an id, to show to people.
    package var shortID: String { scalars(atMost: 8) }

    /// Returns the rest of the text after a prefix; nil if the text does not begin with the bytes of the prefix.
    ///
    /// - Parameter ignoringCase: Whether letters of ASCII may be of the other case.
    package func dropping(prefix: some StringProtocol, ignoringCase: Bool = false) -> SubSequence? {
        func folded(_ byte: UInt8) -> UInt8 {
            ignoringCase && (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
        }
        guard utf8.starts(with: prefix.utf8, by: { folded($0) == folded($1) }) else { return nil }
        return self[utf8.index(startIndex, offsetBy: prefix.utf8.count)...]
    }

    /// Returns the text before a suffix; nil if the text does not end with the bytes of the suffix.
    package func dropping(suffix: some StringProtocol) -> SubSequence? {
        guard ends(with: suffix) else { return nil }
        return self[..<utf8.index(startIndex, offsetBy: utf8.count - suffix.utf8.count)]
    }

    /// The parts between separators.
    ///
    /// - Parameter separator: An ASCII character.
    package func parts(
        _ separator: Unicode.Scalar,
        maxSplits: Int = .max,
        omittingEmpty: Bool = true
    ) -> [SubSequence] {
        let byte = UInt8(ascii: separator)
        return utf8.split(separator: byte, maxSplits: maxSplits, omittingEmptySubsequences: omittingEmpty).map {
            self[$0.startIndex..<$0.endIndex]
        }
    }

    /// Splits the text at the first separator and returns the parts before and after it; nil if there is no separator.
    ///
    /// - Parameter separator: An ASCII character.
    package func cut(at separator: Unicode.Scalar) -> (before: SubSequence, after: SubSequence)? {
        guard let place = utf8.firstIndex(of: UInt8(ascii: separator)) else { return nil }
        return (self[..<place], self[utf8.index(after: place)...])
    }

    /// Splits the text at the last separator and returns the parts before and after it; nil if there is no separator.
    ///
    /// - Parameter separator: An ASCII character.
    package func cut(atLast separator: Unicode.Scalar) -> (before: SubSequence, after: SubSequence)? {
        let byte = UInt8(ascii: separator)
        var last: Index?
        for place in utf8.indices where utf8[place] == byte { last = place }
        guard let place = last else { return nil }
        return (self[..<place], self[utf8.index(after: place)...])
    }
}

extension String {
    // For the usual type, so that the compiler need not go through a protocol for each byte.

    /// Whether both are the same bytes: `==` of Swift's texts also holds for other spellings of a character.
    package func isSame(as other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }
}

/// A text that equals only the same bytes, as a path does: for sets and dictionaries.
package struct ByteText: Sendable, Hashable {
    /// The text itself, unchanged.
    package let text: String

    package init(_ text: some StringProtocol) {
        self.text = String(text)
    }

    package static func == (left: ByteText, right: ByteText) -> Bool {
        left.text.isSame(as: right.text)
    }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension [String] {
    /// The beginnings of ids, to show to people: all of the length by which the ids differ, of 8 to 36 scalars.
    package var shortIDs: [String] {
        let sorted = map { [Unicode.Scalar]($0.unicodeScalars) }.sorted { $0.lexicographicallyPrecedes($1) }
        let length = zip(sorted, sorted.dropFirst()).reduce(8) { length, pair in
            guard pair.0 != pair.1 else { return length }
            return Swift.max(length, zip(pair.0, pair.1).prefix { $0 == $1 }.count + 1)
        }
        return map { $0.scalars(atMost: Swift.min(length, 36)) }
    }
}

extension UInt8 {
    package var isASCIILetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }
    package var isASCIIDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
