internal import FoundationEssentials

/// A value of the JSON that the protocol signs: integers and strings only, written in one way (RFC 8785, JCS).
///
/// `==` compares strings as Swift does, by canonical equivalence. Where the bytes matter, compare ``canonical``.
package enum JSONValue: Sendable, Hashable {
    case object([String: JSONValue])
    case array([JSONValue])
    case string(String)
    /// Within ±(2^53 - 1).
    case integer(Int64)
    case bool(Bool)
    case null

    /// The integers that every reader of JSON represents exactly: ±(2^53 - 1).
    package static let integerRange: ClosedRange<Int64> = -((1 << 53) - 1)...((1 << 53) - 1)
    /// How deeply arrays and objects may be nested.
    package static let maximumDepth = 32

    /// Reads exactly one value. Strict: no name twice in an object (names that Unicode holds to be equivalent count as
    /// the same), no fraction or exponent, no integer beyond ±(2^53 - 1), no half surrogate pair, no more than 32
    /// levels, nothing but white space around it.
    ///
    /// - Throws: ``JSONValueError``.
    package init(parsing bytes: [UInt8]) throws(JSONValueError) {
        var parser = JSONValueParser(bytes)
        self = try parser.document()
    }

    /// Makes a value from anything that encodes, with the protocol's times.
    ///
    /// - Throws: ``JSONValueError``, for a number with a fraction too.
    package init(encoding value: some Encodable) throws(JSONValueError) {
        let data: Data
        do {
            data = try CompanionJSON.encoder().encode(value)
        } catch {
            throw JSONValueError(.conversion, "\(type(of: value)) cannot be written as JSON: \(error)")
        }
        try self.init(parsing: Array(data))
    }

    /// Reads a model from the value.
    ///
    /// - Throws: ``JSONValueError``.
    package func decode<T: Decodable>(_ type: T.Type = T.self) throws(JSONValueError) -> T {
        do {
            return try CompanionJSON.decoder().decode(type, from: Data(canonical))
        } catch {
            throw JSONValueError(.conversion, "the value is not a \(type): \(error)")
        }
    }

    /// The members of an object; nil for anything else.
    package var object: [String: JSONValue]? { if case .object(let members) = self { members } else { nil } }

    /// The elements of an array; nil for anything else.
    package var array: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }

    /// The text of a string; nil for anything else.
    package var string: String? { if case .string(let text) = self { text } else { nil } }

    /// The integer; nil for anything else.
    package var integer: Int64? { if case .integer(let value) = self { value } else { nil } }

    /// The truth value; nil for anything else.
    package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// A member of an object; nil where there is none, or no object.
    package subscript(name: String) -> JSONValue? { object?[name] }
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
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let text = try? container.decode(String.self) {
            self = .string(text)
        } else if let value = try? container.decode(Int64.self), Self.integerRange.contains(value) {
            self = .integer(value)
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
        case .bool(let value): try container.encode(value)
        case .null: try container.encodeNil()
        }
    }
}
