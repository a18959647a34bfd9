import Glibc

/// Reads the JSON of ``LenientJSON`` from the front of bytes, which have to outlive it.
struct LenientJSONParser {
    private let bytes: UnsafeRawBufferPointer
    private(set) var position: Int
    private var depth = 0
    /// Why nothing was read: more than ``LenientJSON/maximumDepth`` values in each other.
    private(set) var isTooDeep = false

    init(_ bytes: UnsafeRawBufferPointer, from position: Int = 0) {
        self.bytes = bytes
        self.position = position
        if position == 0, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { self.position = 3 }
    }

    /// Whether nothing but white space follows.
    var isAtEnd: Bool {
        var rest = self
        rest.skipBlanks()
        return rest.position == bytes.count
    }

    /// The next value; nil where there is none.
    mutating func value() -> LenientJSON? {
        skipBlanks()
        guard let byte = next else { return nil }
        switch byte {
        case UInt8(ascii: "{"): return nested { $0.object() }
        case UInt8(ascii: "["): return nested { $0.array() }
        case UInt8(ascii: "\""): return string().map(LenientJSON.string)
        case UInt8(ascii: "t"): return word("true") ? .bool(true) : nil
        case UInt8(ascii: "f"): return word("false") ? .bool(false) : nil
        case UInt8(ascii: "n"): return word("null") ? .null : nil
        case UInt8(ascii: "N"): return word("NaN") ? .null : nil
        case UInt8(ascii: "I"): return word("Infinity") ? .null : nil
        case UInt8(ascii: "-"): return word("-Infinity") ? .null : number()
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return number()
        default: return nil
        }
    }

    /// The place of a byte at or behind another place.
    static func find(_ byte: UInt8, in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard start < bytes.count, let base = bytes.baseAddress,
            let found = memchr(base + start, Int32(byte), bytes.count - start)
        else { return nil }
        return UnsafeRawPointer(found) - base
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

    private mutating func word(_ word: StaticString) -> Bool {
        let end = position + word.utf8CodeUnitCount
        guard end <= bytes.count, bytes[position..<end].elementsEqual(word.description.utf8) else { return false }
        position = end
        return true
    }

    private mutating func nested(_ body: (inout LenientJSONParser) -> LenientJSON?) -> LenientJSON? {
        guard depth < LenientJSON.maximumDepth else {
            isTooDeep = true
            return nil
        }
        depth += 1
        position += 1
        defer { depth -= 1 }
        return body(&self)
    }

    private mutating func array() -> LenientJSON? {
        var elements: [LenientJSON] = []
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

    private mutating func object() -> LenientJSON? {
        var members: [String: LenientJSON] = [:]
        skipBlanks()
        if take(UInt8(ascii: "}")) { return .object(members) }
        while true {
            skipBlanks()
            guard next == UInt8(ascii: "\""), let name = string() else { return nil }
            skipBlanks()
            guard take(UInt8(ascii: ":")), let value = value() else { return nil }
            members[name] = value
            skipBlanks()
            if take(UInt8(ascii: "}")) { return .object(members) }
            guard take(UInt8(ascii: ",")) else { return nil }
        }
    }

    private mutating func number() -> LenientJSON? {
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

extension LenientJSONParser {
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
        switch byte {
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            guard let scalar = escapedScalar() else { return false }
            text += String(scalar).utf8
        // Besides `"`, `\` and `/`: escapes that JSON does not have stand for the character itself.
        default: text.append(byte)
        }
        return true
    }

    /// The scalar for the digits of a `\u`, or of two; U+FFFD for half a character.
    private mutating func escapedScalar() -> Unicode.Scalar? {
        guard let unit = hexUnit() else { return nil }
        if let scalar = Unicode.Scalar(unit) { return scalar }
        let afterFirst = position
        guard unit < 0xDC00, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")), let low = hexUnit(),
            (0xDC00...0xDFFF).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(low) - 0xDC00))
        else {
            position = afterFirst
            return "\u{FFFD}"
        }
        return scalar
    }

    private mutating func hexUnit() -> UInt16? {
        guard position + 4 <= bytes.count else { return nil }
        var unit: UInt16 = 0
        for byte in bytes[position..<(position + 4)] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            unit = unit << 4 | UInt16(digit)
        }
        position += 4
        return unit
    }
}
