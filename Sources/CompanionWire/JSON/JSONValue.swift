package import FoundationEssentials

/// A value of JSON.
///
/// It is read leniently (``init(lenient:)``) from software that does not keep to the rules. JSON that the protocol
/// signs is read strictly, as ``CanonicalJSON``.
///
/// `==` compares strings as Swift does, by canonical equivalence. To compare bytes, use ``json``. An ``integer(_:)``
/// and a ``number(_:)`` are never equal.
package enum JSONValue: Sendable, Hashable {
    case object([String: JSONValue])
    case array([JSONValue])
    case string(String)
    case integer(Int64)
    /// A number with a fraction or an exponent, or one that is beyond `Int64`.
    case number(Double)
    case bool(Bool)
    case null

    /// A member of an object; nil if there is none, and for anything but objects.
    package subscript(name: String) -> JSONValue? {
        if case .object(let members) = self { members[name] } else { nil }
    }
}

/// Accessors. They are nil for values of another type, unless they say otherwise.
extension JSONValue {
    /// The members of an object.
    package var object: [String: JSONValue]? { if case .object(let members) = self { members } else { nil } }

    /// True for objects, empty ones too.
    package var isObject: Bool { object != nil }

    /// The elements of an array.
    package var array: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }

    /// The text; nil for every other kind of value.
    package var string: String? { if case .string(let text) = self { text } else { nil } }

    /// The truth value; nil for every other kind of value, numbers too.
    package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// A whole number; nil if it has a fraction or is out of range.
    package var integer: Int64? {
        switch self {
        case .integer(let value): value
        case .number(let value): Int64(exactly: value)
        default: nil
        }
    }

    /// Any number.
    package var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
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

    /// A text that is not only white space.
    package var text: String? {
        guard let string, string.contains(where: { !$0.isWhitespace }) else { return nil }
        return string
    }

    /// The first of these members that is a text, not only white space.
    package func text(_ names: String...) -> String? {
        for name in names { if let text = self[name]?.text { return text } }
        return nil
    }

    /// A time: ISO 8601 text, or milliseconds since 1970 as a number or text. One answer may mix these forms.
    package var date: Date? {
        if case .string(let text) = self {
            return CompanionTimestamp.date(from: text) ?? Double(text).flatMap(Self.date(milliseconds:))
        }
        return number.flatMap(Self.date(milliseconds:))
    }

    private static func date(milliseconds: Double) -> Date? {
        // The upper bound is in the year 5138.
        guard (0...1e14).contains(milliseconds) else { return nil }
        return Date(timeIntervalSince1970: milliseconds / 1000)
    }

    /// The bytes that it takes in memory, about.
    package var size: Int {
        switch self {
        case .object(let members): members.reduce(64) { $0 + 64 + $1.key.utf8.count + $1.value.size }
        case .array(let elements): elements.reduce(64) { $0 + $1.size }
        case .string(let text): 32 + text.utf8.count
        case .integer, .number, .bool, .null: 32
        }
    }
}

extension JSONValue {
    /// JSON without white space, with names sorted by their UTF-16 code units, and the shortest escapes. Only numbers
    /// with a fraction or an exponent may be written in another way than by RFC 8785 (JCS).
    package var json: [UInt8] {
        var output: [UInt8] = []
        write(to: &output)
        return output
    }

    private func write(to output: inout [UInt8]) {
        switch self {
        case .null: output += "null".utf8
        case .bool(let value): output += (value ? "true" : "false").utf8
        case .integer(let value): output += String(value).utf8
        case .number(let value): output += Self.text(of: value).utf8
        case .string(let text): Self.write(text, to: &output)
        case .array(let elements):
            output.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                element.write(to: &output)
            }
            output.append(UInt8(ascii: "]"))
        case .object(let members):
            output.append(UInt8(ascii: "{"))
            // RFC 8785, 3.2.3: not by Unicode scalars, which differ where surrogates meet U+E000…U+FFFF.
            let names = members.keys.sorted { $0.utf16.lexicographicallyPrecedes($1.utf16) }
            for (index, name) in names.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                Self.write(name, to: &output)
                output.append(UInt8(ascii: ":"))
                members[name]?.write(to: &output)
            }
            output.append(UInt8(ascii: "}"))
        }
    }

    /// A number as `JSONEncoder` writes it: `5` for 5.0. JSON has neither NaN nor infinities.
    private static func text(of value: Double) -> String {
        guard value.isFinite else { return "null" }
        let text = value.description
        return text.ends(with: ".0") ? String(text.dropLast(2)) : text
    }

    /// RFC 8785, 3.2.2.2.
    private static func write(_ text: String, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case 0x08: output += #"\b"#.utf8
            case 0x09: output += #"\t"#.utf8
            case 0x0A: output += #"\n"#.utf8
            case 0x0C: output += #"\f"#.utf8
            case 0x0D: output += #"\r"#.utf8
            case UInt8(ascii: "\""): output += #"\""#.utf8
            case UInt8(ascii: "\\"): output += #"\\"#.utf8
            case ..<0x10: output += (#"\u000"# + String(byte, radix: 16)).utf8
            case ..<0x20: output += (#"\u00"# + String(byte, radix: 16)).utf8
            default: output.append(byte)
            }
        }
        output.append(UInt8(ascii: "\""))
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }

    package init(integerLiteral value: Int64) { self = .integer(value) }

    package init(booleanLiteral value: Bool) { self = .bool(value) }

    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { $1 })
    }
}

extension JSONValue: Codable {
    /// Reads any value. Whole numbers beyond `Int64` become ``number(_:)``.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let text = try? container.decode(String.self) {
            self = .string(text)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let elements = try? container.decode([JSONValue].self) {
            self = .array(elements)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

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
