import Glibc

/// Reads JSON leniently from the front of bytes, which have to outlive it.
struct LenientParser: JSONCursor {
    let bytes: UnsafeRawBufferPointer
    var position: Int
    private var depth = 0
    /// Whether nothing was read because more than ``JSONValue/maximumLenientDepth`` values are in each other.
    private(set) var isTooDeep = false
    /// Members of this name that are objects are read as arrays of their names and values, in their order.
    private let ordered: String?

    init(_ bytes: UnsafeRawBufferPointer, from position: Int = 0, ordering ordered: String? = nil) {
        self.bytes = bytes
        self.position = position
        self.ordered = ordered
        if position == 0, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { self.position = 3 }
    }

    /// Whether nothing but white space follows.
    var isAtEnd: Bool {
        var rest = self
        rest.skipBlanks()
        return rest.position == bytes.count
    }

    /// The next value; nil where there is none.
    mutating func value() -> JSONValue? {
        skipBlanks()
        guard let byte = next else { return nil }
        switch byte {
        case UInt8(ascii: "{"): return nested { $0.object() }
        case UInt8(ascii: "["): return nested { $0.array() }
        case UInt8(ascii: "\""): return string().map(JSONValue.string)
        case UInt8(ascii: "t"): return take(word: "true") ? .bool(true) : nil
        case UInt8(ascii: "f"): return take(word: "false") ? .bool(false) : nil
        case UInt8(ascii: "n"): return take(word: "null") ? .null : nil
        case UInt8(ascii: "N"): return take(word: "NaN") ? .null : nil
        case UInt8(ascii: "I"): return take(word: "Infinity") ? .null : nil
        case UInt8(ascii: "-"): return take(word: "-Infinity") ? .null : number()
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return number()
        default: return nil
        }
    }

    /// The index of the first such byte from an index on; nil if there is none.
    static func find(_ byte: UInt8, in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard start < bytes.count, let base = bytes.baseAddress,
            let found = memchr(base + start, Int32(byte), bytes.count - start)
        else { return nil }
        return UnsafeRawPointer(found) - base
    }

    private mutating func nested(_ body: (inout LenientParser) -> JSONValue?) -> JSONValue? {
        guard depth < JSONValue.maximumLenientDepth else {
            isTooDeep = true
            return nil
        }
        depth += 1
        position += 1
        defer { depth -= 1 }
        return body(&self)
    }

    private mutating func array() -> JSONValue? {
        var elements: [JSONValue] = []
        skipBlanks()
        if take(UInt8(ascii: "]")) { return .array(elements) }
        while let value = value() {
            elements.append(value)
            skipBlanks()
            if take(UInt8(ascii: "]")) { return .array(elements) }
            guard take(UInt8(ascii: ",")) else { return nil }
        }
        return nil
    }

    private mutating func object() -> JSONValue? {
        var members: [String: JSONValue] = [:]
        let isWhole = readMembers { members[$0] = $1 }
        return isWhole ? .object(members) : nil
    }

    /// An object as an array of its names and values.
    private mutating func pairs() -> JSONValue? {
        var pairs: [JSONValue] = []
        let isWhole = readMembers { pairs.append([.string($0), $1]) }
        return isWhole ? .array(pairs) : nil
    }

    /// - Returns: Whether the object came to its end.
    private mutating func readMembers(_ body: (String, JSONValue) -> Void) -> Bool {
        skipBlanks()
        if take(UInt8(ascii: "}")) { return true }
        while true {
            skipBlanks()
            guard next == UInt8(ascii: "\""), let name = string() else { return false }
            skipBlanks()
            guard take(UInt8(ascii: ":")), let value = value(of: name) else { return false }
            body(name, value)
            skipBlanks()
            if take(UInt8(ascii: "}")) { return true }
            guard take(UInt8(ascii: ",")) else { return false }
        }
    }

    /// The value of a member.
    private mutating func value(of name: String) -> JSONValue? {
        guard let ordered, name.isSame(as: ordered) else { return value() }
        skipBlanks()
        return next == UInt8(ascii: "{") ? nested { $0.pairs() } : value()
    }

    private mutating func number() -> JSONValue? {
        let start = position
        var isWhole = true
        scan: while let byte = next {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): break
            case UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): isWhole = false
            default: break scan
            }
            position += 1
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isWhole, let value = Int64(text) { return .integer(value) }
        guard let value = Double(text) else { return nil }
        return value.isFinite ? .number(value) : .null
    }
}

extension LenientParser {
    /// A string whose opening quotation mark comes next.
    private mutating func string() -> String? {
        position += 1
        guard var end = Self.find(UInt8(ascii: "\""), in: bytes, from: position) else {
            position = bytes.count
            return nil
        }
        var text: [UInt8] = []
        var isPlain = true
        while true {
            let part = UnsafeRawBufferPointer(rebasing: bytes[..<end])
            guard let escape = Self.find(UInt8(ascii: "\\"), in: part, from: position) else { break }
            isPlain = false
            text += bytes[position..<escape]
            position = escape + 1
            guard readEscape(into: &text) else { return nil }
            guard position > end else { continue }
            guard let next = Self.find(UInt8(ascii: "\""), in: bytes, from: position) else {
                position = bytes.count
                return nil
            }
            end = next
        }
        defer { position = end + 1 }
        // Bytes that are not UTF-8 become U+FFFD in this.
        if isPlain { return String(decoding: bytes[position..<end], as: UTF8.self) }
        text += bytes[position..<end]
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func readEscape(into text: inout [UInt8]) -> Bool {
        guard let byte = next else { return false }
        position += 1
        if byte == UInt8(ascii: "u") {
            guard let scalar = escapedScalar() else { return false }
            text += String(scalar).utf8
        } else {
            // Escapes that JSON does not have stand for the character itself.
            text.append(Self.byte(ofEscape: byte) ?? byte)
        }
        return true
    }

    /// The scalar for the digits of a `\u`, or of two; U+FFFD for half a character.
    private mutating func escapedScalar() -> Unicode.Scalar? {
        guard let unit = takeHexUnit() else { return nil }
        if let scalar = Unicode.Scalar(unit) { return scalar }
        let afterFirst = position
        guard unit < 0xDC00, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")), let low = takeHexUnit(),
            let scalar = Self.scalar(high: unit, low: low)
        else {
            position = afterFirst
            return "\u{FFFD}"
        }
        return scalar
    }
}
