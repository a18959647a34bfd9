internal import FoundationEssentials

/// JSON that the protocol signs: a value that has only integers for numbers, written in one way (RFC 8785, JCS).
///
/// Every value of this type was checked, so that ``bytes`` always are what a signature may cover.
///
/// `==` compares strings as Swift does, by canonical equivalence. To compare bytes, use ``bytes``.
package struct CanonicalJSON: Sendable, Hashable {
    /// The integers that every reader of JSON represents exactly: ±(2^53 - 1).
    package static let integerRange: ClosedRange<Int64> = -((1 << 53) - 1)...((1 << 53) - 1)
    /// How deeply arrays and objects may be nested.
    package static let maximumDepth = 32

    /// The value `null`, for members that have nothing else.
    package static let null = CanonicalJSON(checked: .null)

    /// The checked value. It contains no ``JSONValue/number(_:)``.
    package let value: JSONValue

    /// Checks a value: no ``JSONValue/number(_:)``, no integer beyond ±(2^53 - 1), no more than 32 levels.
    ///
    /// - Throws: ``JSONValueError``.
    package init(_ value: JSONValue) throws(JSONValueError) {
        try Self.check(value, levelsLeft: Self.maximumDepth)
        self.value = value
    }

    private init(checked value: JSONValue) {
        self.value = value
    }

    /// Reads exactly one value. Strict: no name twice in an object (names that Unicode holds to be equivalent count as
    /// the same), no fraction or exponent, no integer beyond ±(2^53 - 1), no half surrogate pair, no more than 32
    /// levels, nothing but white space around it.
    ///
    /// - Throws: ``JSONValueError``.
    package init(parsing bytes: [UInt8]) throws(JSONValueError) {
        var parser = CanonicalParser(bytes)
        self.init(checked: try parser.document())
    }

    /// Makes a value from anything that encodes, with the protocol's times.
    ///
    /// - Throws: ``JSONValueError``, for a number with a fraction too.
    package init(encoding model: some Encodable) throws(JSONValueError) {
        let data: Data
        do {
            data = try CompanionJSON.encoder().encode(model)
        } catch {
            throw JSONValueError(.conversion, message: "\(type(of: model)) cannot be written as JSON: \(error)")
        }
        try self.init(parsing: Array(data))
    }

    /// The value as RFC 8785 (JCS) writes it: no white space, names sorted by their UTF-16 code units, the shortest
    /// escapes.
    package var bytes: [UInt8] { value.json }

    /// A member of an object; nil if there is none, and for anything but objects.
    package subscript(name: String) -> JSONValue? { value[name] }

    /// Reads a model from the value.
    ///
    /// - Throws: ``JSONValueError``.
    package func decode<T: Decodable>(_ type: T.Type = T.self) throws(JSONValueError) -> T {
        do {
            return try CompanionJSON.decoder().decode(type, from: Data(bytes))
        } catch {
            throw JSONValueError(.conversion, message: "the value is not a \(type): \(error)")
        }
    }

    /// An object without one of its members; any other value as it is.
    func removing(_ name: String) -> CanonicalJSON {
        guard case .object(var members) = value else { return self }
        members[name] = nil
        return CanonicalJSON(checked: .object(members))
    }

    private static func check(_ value: JSONValue, levelsLeft: Int) throws(JSONValueError) {
        switch value {
        case .string, .bool, .null: break
        case .integer(let integer):
            guard integerRange.contains(integer) else {
                throw JSONValueError(.number, message: "an integer is beyond 2^53 - 1")
            }
        case .number: throw JSONValueError(.number, message: "a number has a fraction or an exponent")
        case .array(let elements):
            guard levelsLeft > 0 else { throw tooDeep }
            for element in elements { try check(element, levelsLeft: levelsLeft - 1) }
        case .object(let members):
            guard levelsLeft > 0 else { throw tooDeep }
            for member in members.values { try check(member, levelsLeft: levelsLeft - 1) }
        }
    }

    private static let tooDeep = JSONValueError(.depth, message: "the JSON is nested too deeply")
}

extension CanonicalJSON: Codable {
    /// Reads any value of JSON, and checks it as ``init(_:)`` does.
    ///
    /// - Throws: `DecodingError` for a value that the protocol cannot sign.
    package init(from decoder: any Decoder) throws {
        let value = try JSONValue(from: decoder)
        do {
            self = try CanonicalJSON(value)
        } catch {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "\(error)")
            )
        }
    }

    package func encode(to encoder: any Encoder) throws {
        try value.encode(to: encoder)
    }
}
