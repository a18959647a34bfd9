import CompanionWire
import FoundationEssentials

/// JSON of an agent: any JSON, with fractions, and lenient. A member that is missing or of another type is nil.
enum ACPValue: Sendable, Hashable {
    case object([String: ACPValue])
    case array([ACPValue])
    case string(String)
    case integer(Int64)
    case number(Double)
    case bool(Bool)
    case null

    /// How deeply arrays and objects may be nested.
    static let maximumDepth = 100

    /// Reads one value; nil for what is no JSON. Halves of characters and bytes that are not UTF-8 become U+FFFD.
    init?(parsing line: [UInt8]) {
        let json = Data(line)
        // Few lines need it, and long ones would take their time.
        guard
            let value = (try? JSONDecoder().decode(ACPValue.self, from: json))
                ?? (try? JSONDecoder().decode(ACPValue.self, from: CompanionJSON.repaired(json)))
        else { return nil }
        self = value
    }

    subscript(name: String) -> ACPValue? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    var string: String? { if case .string(let text) = self { text } else { nil } }
    var array: [ACPValue]? { if case .array(let elements) = self { elements } else { nil } }
    var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    var isObject: Bool { if case .object = self { true } else { false } }

    var integer: Int64? {
        switch self {
        case .integer(let value): value
        case .number(let value): Int64(exactly: value)
        default: nil
        }
    }

    /// Bytes that it takes in memory, about.
    var size: Int {
        switch self {
        case .object(let members): members.reduce(64) { $0 + 64 + $1.key.utf8.count + $1.value.size }
        case .array(let elements): elements.reduce(64) { $0 + $1.size }
        case .string(let text): 32 + text.utf8.count
        case .integer, .number, .bool, .null: 32
        }
    }

    /// JSON in one line.
    var json: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        // No number of JSON is infinite, and nothing else fails.
        return (try? encoder.encode(self)).map(Array.init) ?? Array("null".utf8)
    }
}

extension ACPValue: Codable {
    init(from decoder: any Decoder) throws {
        guard decoder.codingPath.count <= Self.maximumDepth else {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "nested too deeply"))
        }
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            self = .string(text)
        } else if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if var elements = try? decoder.unkeyedContainer() {
            var array: [ACPValue] = []
            while !elements.isAtEnd { array.append(try elements.decode(ACPValue.self)) }
            self = .array(array)
        } else {
            self = .object(try container.decode([String: ACPValue].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
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

extension ACPValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    init(stringLiteral value: String) { self = .string(value) }
    init(integerLiteral value: Int64) { self = .integer(value) }
    init(arrayLiteral elements: ACPValue...) { self = .array(elements) }
    init(dictionaryLiteral elements: (String, ACPValue)...) { self = .object(Dictionary(elements) { $1 }) }
}
