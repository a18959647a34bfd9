/// Reads the JSON of ``CanonicalJSON``, and nothing more lenient: it refuses whatever two readers could understand
/// differently.
struct CanonicalParser: JSONCursor {
    let bytes: [UInt8]
    var position = 0
    private var depth = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// One value with nothing but white space around it.
    mutating func document() throws(JSONValueError) -> JSONValue {
        let value = try value()
        skipBlanks()
        guard position == bytes.count else { throw error(.syntax, message: "something follows the JSON value") }
        return value
    }

    private func error(_ code: JSONValueError.Code, message: String) -> JSONValueError {
        JSONValueError(code, message: message, offset: position)
    }

    private mutating func value() throws(JSONValueError) -> JSONValue {
        skipBlanks()
        guard let byte = next else { throw error(.syntax, message: "the JSON ends too early") }
        switch byte {
        case UInt8(ascii: "{"): return try nested { parser throws(JSONValueError) in try parser.object() }
        case UInt8(ascii: "["): return try nested { parser throws(JSONValueError) in try parser.array() }
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .integer(try integer())
        case UInt8(ascii: "t"): return try word("true", as: .bool(true))
        case UInt8(ascii: "f"): return try word("false", as: .bool(false))
        case UInt8(ascii: "n"): return try word("null", as: .null)
        default: throw error(.syntax, message: "no JSON value starts like this")
        }
    }

    private mutating func word(_ word: StaticString, as value: JSONValue) throws(JSONValueError) -> JSONValue {
        guard take(word: word) else { throw error(.syntax, message: "no JSON value starts like this") }
        return value
    }

    private mutating func nested(
        _ body: (inout CanonicalParser) throws(JSONValueError) -> JSONValue
    ) throws(JSONValueError) -> JSONValue {
        guard depth < CanonicalJSON.maximumDepth else { throw error(.depth, message: "the JSON is nested too deeply") }
        depth += 1
        position += 1
        let value = try body(&self)
        depth -= 1
        return value
    }

    private mutating func array() throws(JSONValueError) -> JSONValue {
        var elements: [JSONValue] = []
        skipBlanks()
        if take(UInt8(ascii: "]")) { return .array(elements) }
        while true {
            elements.append(try value())
            skipBlanks()
            if take(UInt8(ascii: "]")) { return .array(elements) }
            guard take(UInt8(ascii: ",")) else {
                throw error(.syntax, message: "a comma or the end of the array is missing")
            }
        }
    }

    private mutating func object() throws(JSONValueError) -> JSONValue {
        var members: [String: JSONValue] = [:]
        skipBlanks()
        if take(UInt8(ascii: "}")) { return .object(members) }
        while true {
            skipBlanks()
            let start = position
            guard next == UInt8(ascii: "\"") else { throw error(.syntax, message: "the name of a member is missing") }
            let name = try string()
            skipBlanks()
            guard take(UInt8(ascii: ":")) else { throw error(.syntax, message: "a colon is missing") }
            let value = try value()
            guard members.updateValue(value, forKey: name) == nil else {
                throw JSONValueError(.duplicateName, message: "an object names a member twice", offset: start)
            }
            skipBlanks()
            if take(UInt8(ascii: "}")) { return .object(members) }
            guard take(UInt8(ascii: ",")) else {
                throw error(.syntax, message: "a comma or the end of the object is missing")
            }
        }
    }

    private mutating func integer() throws(JSONValueError) -> Int64 {
        let start = position
        _ = take(UInt8(ascii: "-"))
        let digits = position
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        guard position > digits, position == digits + 1 || bytes[digits] != UInt8(ascii: "0") else {
            throw error(.syntax, message: "a number is malformed")
        }
        if let byte = next, [UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E")].contains(byte) {
            throw error(.number, message: "a number has a fraction or an exponent")
        }
        guard
            let value = Int64(String(decoding: bytes[start..<position], as: UTF8.self)),
            CanonicalJSON.integerRange.contains(value)
        else { throw JSONValueError(.number, message: "an integer is beyond 2^53 - 1", offset: start) }
        return value
    }
}

extension CanonicalParser {
    /// A string whose opening quotation mark comes next.
    private mutating func string() throws(JSONValueError) -> String {
        let start = position
        position += 1
        var text: [UInt8] = []
        while true {
            guard let byte = next else { throw error(.syntax, message: "a string does not end") }
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: text, as: UTF8.self) else {
                    throw JSONValueError(.text, message: "a string is not UTF-8", offset: start)
                }
                return string
            case UInt8(ascii: "\\"): try escape(into: &text)
            case ..<0x20: throw error(.syntax, message: "a string holds a control character")
            default: text.append(byte)
            }
        }
    }

    private mutating func escape(into text: inout [UInt8]) throws(JSONValueError) {
        guard let byte = next else { throw error(.syntax, message: "a string does not end") }
        position += 1
        if byte == UInt8(ascii: "u") {
            text.append(contentsOf: String(try escapedScalar()).utf8)
        } else if let escaped = Self.byte(ofEscape: byte) {
            text.append(escaped)
        } else {
            throw error(.syntax, message: "an escape is unknown")
        }
    }

    /// The scalar for the four digits of a `\u`, or for those of two where the first is a high surrogate.
    private mutating func escapedScalar() throws(JSONValueError) -> Unicode.Scalar {
        let unit = try hexUnit()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard unit < 0xDC00, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
            throw error(.text, message: "half of a surrogate pair stands alone")
        }
        let low = try hexUnit()
        guard let scalar = Self.scalar(high: unit, low: low) else {
            throw error(.text, message: "half of a surrogate pair stands alone")
        }
        return scalar
    }

    private mutating func hexUnit() throws(JSONValueError) -> UInt16 {
        guard position + 4 <= bytes.count else { throw error(.syntax, message: "a string does not end") }
        guard let unit = takeHexUnit() else { throw error(.syntax, message: "an escape is malformed") }
        return unit
    }
}
