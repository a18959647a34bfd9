extension JSONValue {
    /// How deeply arrays and objects may be nested that are read leniently.
    package static let maximumLenientDepth = 100

    /// Reads one value from software that does not keep to the rules; it may have white space and a byte-order mark
    /// around it. nil for anything else.
    ///
    /// Fractions, `NaN` and infinities (both become null), control characters in texts, halves of characters and bytes
    /// that are not UTF-8 (they become U+FFFD), and members that come twice (the last one counts) are taken.
    ///
    /// - Parameter ordered: Members of this name that are objects are read as arrays of pairs, each a name and a value:
    ///   where the order of members matters.
    package init?(lenient json: [UInt8], ordering ordered: String? = nil) {
        let value = json.withUnsafeBytes { bytes -> JSONValue? in
            var parser = LenientParser(bytes, ordering: ordered)
            guard let value = parser.value(), parser.isAtEnd else { return nil }
            return value
        }
        guard let value else { return nil }
        self = value
    }

    /// The objects in a line that has other text around them: an agent may print a title, a byte-order mark or a
    /// warning in front of its message, or two messages with nothing between them.
    ///
    /// Objects inside another object are parts of it, even if the outer object is broken: parts of a message are never
    /// taken for messages.
    ///
    /// - Parameter mark: A member that the wanted objects have. An object that is broken behind this member ends the
    ///   search.
    package static func objects(in line: [UInt8], with mark: String) -> [JSONValue] {
        line.withUnsafeBytes { bytes in
            var found: [JSONValue] = []
            var position = 0
            // Text with many braces is looked at again from each of them; this keeps the time in proportion to the line.
            var effort = 2 * bytes.count + (64 << 10)
            while effort >= 0, let start = LenientParser.find(UInt8(ascii: "{"), in: bytes, from: position) {
                var parser = LenientParser(bytes, from: start)
                if let value = parser.value() {
                    if value[mark] != nil { found.append(value) }
                    position = parser.position
                    continue
                }
                let read = UnsafeRawBufferPointer(rebasing: bytes[start..<parser.position])
                if parser.isTooDeep || read.contains(quoted: mark) { break }
                effort -= read.count
                position = start + 1
            }
            return found
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether a word in quotation marks is among the bytes.
    fileprivate func contains(quoted word: String) -> Bool {
        let wanted = Array("\"\(word)\"".utf8)
        var position = 0
        while let start = LenientParser.find(UInt8(ascii: "\""), in: self, from: position) {
            if self[start...].starts(with: wanted) { return true }
            position = start + 1
        }
        return false
    }
}
