import CompanionWire
package import FoundationEssentials

/// JSON as AICLI servers write it: numbers with fractions, and values of unexpected types.
package enum AICLIValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([AICLIValue])
    case object([String: AICLIValue])

    package subscript(_ name: String) -> AICLIValue? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    package var string: String? { if case .string(let text) = self { text } else { nil } }

    package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

    package var number: Double? { if case .number(let value) = self { value } else { nil } }

    package var array: [AICLIValue]? { if case .array(let elements) = self { elements } else { nil } }

    /// A whole number; nil if it has a fraction or is out of range.
    package var integer: Int? { number.flatMap(Int.init(exactly:)) }

    /// A text that is not only white space.
    package var text: String? {
        guard let string, string.contains(where: { !$0.isWhitespace }) else { return nil }
        return string
    }

    /// The first of these members that is a text.
    package func text(_ names: String...) -> String? {
        for name in names { if let text = self[name]?.text { return text } }
        return nil
    }

    /// A time: ISO 8601 text, or milliseconds since 1970 as a number or text. One answer may mix these forms.
    package var date: Date? {
        switch self {
        case .string(let text):
            CompanionTimestamp.date(from: text) ?? Double(text).flatMap(Self.date(milliseconds:))
        case .number(let milliseconds): Self.date(milliseconds: milliseconds)
        default: nil
        }
    }

    private static func date(milliseconds: Double) -> Date? {
        // The upper bound is in the year 5138.
        guard (0...1e14).contains(milliseconds) else { return nil }
        return Date(timeIntervalSince1970: milliseconds / 1000)
    }
}

extension AICLIValue: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }

    /// - Returns: nil for bytes that are not JSON.
    package init?(json: some Sequence<UInt8>) {
        guard let value = LenientJSON(parsing: Array(json)) else { return nil }
        self.init(value)
    }

    private init(_ json: LenientJSON) {
        self =
            switch json {
            case .null: .null
            case .bool(let value): .bool(value)
            case .integer(let value): .number(Double(value))
            case .number(let value): .number(value)
            case .string(let text): .string(text)
            case .array(let elements): .array(elements.map(AICLIValue.init))
            case .object(let members): .object(members.mapValues(AICLIValue.init))
            }
    }

    /// The value as JSON, with sorted keys.
    package var json: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map(Array.init) ?? []
    }
}

extension AICLIValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByDictionaryLiteral {
    package init(stringLiteral value: String) { self = .string(value) }

    package init(booleanLiteral value: Bool) { self = .bool(value) }

    package init(dictionaryLiteral elements: (String, AICLIValue)...) {
        self = .object(Dictionary(elements) { $1 })
    }
}
