import FoundationEssentials

/// JSON of software that does not keep to the rules: read leniently, in this one place.
///
/// Fractions, `NaN` and infinities (both become null), control characters in texts, halves of characters and bytes that
/// are not UTF-8 (they become U+FFFD), and members that come twice (the last one counts) are taken. A member that is
/// missing or of another type is nil; ``word`` and ``count`` also read values of a related type.
package enum LenientJSON: Sendable, Hashable {
    case object([String: LenientJSON])
    case array([LenientJSON])
    case string(String)
    case integer(Int64)
    case number(Double)
    case bool(Bool)
    case null

    /// How deeply arrays and objects may be nested.
    package static let maximumDepth = 100

    /// Reads one value, which may have white space and a byte-order mark around it; nil for anything else.
    package init?(parsing json: [UInt8]) {
        let value = json.withUnsafeBytes { bytes -> LenientJSON? in
            var parser = LenientJSONParser(bytes)
            guard let value = parser.value(), parser.isAtEnd else { return nil }
            return value
        }
        guard let value else { return nil }
        self = value
    }

    package subscript(name: String) -> LenientJSON? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    package var string: String? { if case .string(let text) = self { text } else { nil } }
    package var array: [LenientJSON]? { if case .array(let elements) = self { elements } else { nil } }
    package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    package var isObject: Bool { if case .object = self { true } else { false } }

    package var integer: Int64? {
        switch self {
        case .integer(let value): value
        case .number(let value): Int64(exactly: value)
        default: nil
        }
    }

    /// A text, or a number as text: for ids and words that some servers send as numbers.
    package var word: String? {
        switch self {
        case .string(let text): text
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        default: nil
        }
    }

    /// A whole number, however it is written: `7`, `7.0`, `"7"`. Fractions are cut off.
    package var count: Int? {
        switch self {
        case .integer(let value): Int(exactly: value)
        case .number(let value): Int(exactly: value.rounded(.towardZero))
        case .string(let text): Int(text) ?? Double(text).flatMap { Int(exactly: $0.rounded(.towardZero)) }
        default: nil
        }
    }

    /// Bytes that it takes in memory, about.
    package var size: Int {
        switch self {
        case .object(let members): members.reduce(64) { $0 + 64 + $1.key.utf8.count + $1.value.size }
        case .array(let elements): elements.reduce(64) { $0 + $1.size }
        case .string(let text): 32 + text.utf8.count
        case .integer, .number, .bool, .null: 32
        }
    }

    /// JSON in one line.
    package var json: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        // No number is infinite, and nothing else fails.
        return (try? encoder.encode(self)).map(Array.init) ?? Array("null".utf8)
    }
}

extension LenientJSON {
    /// The objects in a line that has other text around them: an agent may print a title, a byte-order mark or a
    /// warning in front of its message, or two messages with nothing between them.
    ///
    /// What is inside an object counts as a part of it, also where the object is broken: parts of a message are never
    /// taken for messages.
    ///
    /// - Parameter mark: A member that the wanted objects have. An object that is broken behind this member ends the
    ///   search.
    package static func objects(in line: [UInt8], with mark: String) -> [LenientJSON] {
        line.withUnsafeBytes { bytes in
            var found: [LenientJSON] = []
            var position = 0
            // Text with many braces is looked at again from each of them; this keeps the time in proportion to the line.
            var effort = 2 * bytes.count + (64 << 10)
            while effort >= 0, let start = LenientJSONParser.find(UInt8(ascii: "{"), in: bytes, from: position) {
                var parser = LenientJSONParser(bytes, from: start)
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
        while let start = LenientJSONParser.find(UInt8(ascii: "\""), in: self, from: position) {
            if self[start...].starts(with: wanted) { return true }
            position = start + 1
        }
        return false
    }
}

extension LenientJSON: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .object(let members): try container.encode(members)
        case .array(let elements): try container.encode(elements)
        case .string(let text): try container.encode(text)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .bool(let value): try container.encode(value)
        case .null: try container.encodeNil()
        }
    }
}

extension LenientJSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(arrayLiteral elements: LenientJSON...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, LenientJSON)...) { self = .object(Dictionary(elements) { $1 }) }
}
