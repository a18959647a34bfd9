/// Reads the JSON of ``JSONValue``, and nothing more lenient: what two readers could understand differently is refused.
struct JSONValueParser {
    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// One value with nothing but white space around it.
    mutating func document() throws(JSONValueError) -> JSONValue {
        let value = try value()
        skipBlanks()
        guard position == bytes.count else { throw error(.syntax, "something follows the JSON value") }
        return value
    }

    private func error(_ code: JSONValueError.Code, _ message: String) -> JSONValueError {
        JSONValueError(code, message, offset: position)
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
    }

    /// Steps over a byte if it comes next.
    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    private mutating func value() throws(JSONValueError) -> JSONValue {
        skipBlanks()
        guard let byte = next else { throw error(.syntax, "the JSON ends too early") }
        switch byte {
        case UInt8(ascii: "{"): return try nested { parser throws(JSONValueError) in try parser.object() }
        case UInt8(ascii: "["): return try nested { parser throws(JSONValueError) in try parser.array() }
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .integer(try integer())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: throw error(.syntax, "no JSON value starts like this")
        }
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONValueError) -> JSONValue {
        let end = position + word.utf8CodeUnitCount
        guard end <= bytes.count, bytes[position..<end].elementsEqual(word.description.utf8) else {
            throw error(.syntax, "no JSON value starts like this")
        }
        position = end
        return value
    }

    private mutating func nested(
        _ body: (inout JSONValueParser) throws(JSONValueError) -> JSONValue
    ) throws(JSONValueError) -> JSONValue {
        guard depth < JSONValue.maximumDepth else { throw error(.depth, "the JSON is nested too deeply") }
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
            guard take(UInt8(ascii: ",")) else { throw error(.syntax, "a comma or the end of the array is missing") }
        }
    }

    private mutating func object() throws(JSONValueError) -> JSONValue {
        var members: [String: JSONValue] = [:]
        skipBlanks()
        if take(UInt8(ascii: "}")) { return .object(members) }
        while true {
            skipBlanks()
            let start = position
            guard next == UInt8(ascii: "\"") else { throw error(.syntax, "the name of a member is missing") }
            let name = try string()
            skipBlanks()
            guard take(UInt8(ascii: ":")) else { throw error(.syntax, "a colon is missing") }
            let value = try value()
            guard members.updateValue(value, forKey: name) == nil else {
                throw JSONValueError(.duplicateName, "an object names a member twice", offset: start)
            }
            skipBlanks()
            if take(UInt8(ascii: "}")) { return .object(members) }
            guard take(UInt8(ascii: ",")) else { throw error(.syntax, "a comma or the end of the object is missing") }
        }
    }

    private mutating func integer() throws(JSONValueError) -> Int64 {
        let start = position
        _ = take(UInt8(ascii: "-"))
        let digits = position
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        guard position > digits, position == digits + 1 || bytes[digits] != UInt8(ascii: "0") else {
            throw error(.syntax, "a number is malformed")
        }
        if let byte = next, [UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E")].contains(byte) {
            throw error(.number, "a number has a fraction or an exponent")
        }
        guard
            let value = Int64(String(decoding: bytes[start..<position], as: UTF8.self)),
            JSONValue.integerRange.contains(value)
        else { throw JSONValueError(.number, "an integer is beyond 2^53 - 1", offset: start) }
        return value
    }
}

extension JSONValueParser {
    /// A string whose opening quotation mark comes next.
    private mutating func string() throws(JSONValueError) -> String {
        let start = position
        position += 1
        var text: [UInt8] = []
        while true {
            guard let byte = next else { throw error(.syntax, "a string does not end") }
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: text, as: UTF8.self) else {
                    throw JSONValueError(.text, "a string is not UTF-8", offset: start)
                }
                return string
            case UInt8(ascii: "\\"): try escape(into: &text)
            case ..<0x20: throw error(.syntax, "a string holds a control character")
            default: text.append(byte)
            }
        }
    }

    private mutating func escape(into text: inout [UInt8]) throws(JSONValueError) {
        guard let byte = next else { throw error(.syntax, "a string does not end") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text.append(contentsOf: String(try escapedScalar()).utf8)
        default: throw error(.syntax, "an escape is unknown")
        }
    }

    /// What the four digits of a `\u` stand for, or those of two where the first is a high surrogate.
    private mutating func escapedScalar() throws(JSONValueError) -> Unicode.Scalar {
        let unit = try hexUnit()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard unit < 0xDC00, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
            throw error(.text, "half of a surrogate pair stands alone")
        }
        let low = try hexUnit()
        guard
            (0xDC00...0xDFFF).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(low) - 0xDC00))
        else { throw error(.text, "half of a surrogate pair stands alone") }
        return scalar
    }

    private mutating func hexUnit() throws(JSONValueError) -> UInt16 {
        guard position + 4 <= bytes.count else { throw error(.syntax, "a string does not end") }
        var unit: UInt16 = 0
        for byte in bytes[position..<(position + 4)] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw error(.syntax, "an escape is malformed")
            }
            unit = unit << 4 | UInt16(digit)
        }
        position += 4
        return unit
    }
}
