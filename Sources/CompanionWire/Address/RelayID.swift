/// The id of a relay, or of somebody who uses one: SHA-256 over its certificate in DER.
///
/// Its text is Syncthing's: 56 letters and digits in groups of seven, in which every fourteenth is a check character.
package struct RelayID: Sendable, Hashable {
    /// Bytes of an id.
    package static let byteCount = 32
    /// Characters of the text, without its dashes.
    private static let textLength = 56
    /// Characters that share a check character, which stands behind them.
    private static let checkedLength = 13
    /// Characters between two dashes.
    private static let groupLength = 7

    /// 32 bytes.
    package let bytes: [UInt8]

    /// Makes an id from its bytes.
    ///
    /// - Returns: nil unless there are 32 bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = Array(bytes)
    }

    /// Reads the text of an id: groups of seven characters with dashes between them, or all 56 characters without
    /// dashes. Lower case is read too.
    ///
    /// - Returns: nil for anything else, and where a check character is wrong.
    package init?(_ text: some StringProtocol) {
        // What is longer is not even copied.
        guard text.utf8.count <= Self.textLength + Self.textLength / Self.groupLength,
            let characters = Self.joined(Array(text.utf8))
        else { return nil }
        var digits: [UInt8] = []
        for start in stride(from: 0, to: characters.count, by: Self.checkedLength + 1) {
            let values = characters[start...].prefix(Self.checkedLength + 1).compactMap(Base32.value)
            guard values.count == Self.checkedLength + 1, Base32.check(values.dropLast()) == values.last else {
                return nil
            }
            digits += values.dropLast()
        }
        guard let bytes = Base32.bytes(digits) else { return nil }
        self.init(bytes: bytes)
    }

    /// The characters of a text without its dashes; nil where their number is wrong, or a dash is out of its place.
    private static func joined(_ text: [UInt8]) -> [UInt8]? {
        guard text.contains(UInt8(ascii: "-")) else { return text.count == textLength ? text : nil }
        let groups = text.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard groups.count == textLength / groupLength, groups.allSatisfy({ $0.count == groupLength }) else {
            return nil
        }
        return Array(groups.joined())
    }
}

extension RelayID: CustomStringConvertible {
    /// The canonical text, such as `PN3LRSE-DF4P7VF-…`: eight groups of seven characters, in upper case.
    package var description: String {
        let digits = Base32.digits(bytes)
        var characters: [UInt8] = []
        for start in stride(from: 0, to: digits.count, by: Self.checkedLength) {
            let part = digits[start...].prefix(Self.checkedLength)
            characters += (part + [Base32.check(part)]).map(Base32.character)
        }
        let groups = stride(from: 0, to: characters.count, by: Self.groupLength).map {
            characters[$0...].prefix(Self.groupLength)
        }
        return String(decoding: Array(groups.joined(separator: [UInt8(ascii: "-")])), as: UTF8.self)
    }
}

extension RelayID: Codable {
    /// Reads the text of ``init(_:)``.
    ///
    /// - Throws: `DecodingError` for text that is no id.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let id = RelayID(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not the id of a relay")
        }
        self = id
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// Base32 without padding (RFC 4648, section 6), as its digits of five bits: each from 0 to 31.
private enum Base32 {
    /// The value of a character in either case; nil for one outside the alphabet.
    static func value(of character: UInt8) -> UInt8? {
        if character.isASCIILetter { return (character | 0x20) - UInt8(ascii: "a") }
        return (UInt8(ascii: "2")...UInt8(ascii: "7")).contains(character) ? character - UInt8(ascii: "2") + 26 : nil
    }

    static func character(of digit: UInt8) -> UInt8 {
        digit < 26 ? UInt8(ascii: "A") + digit : UInt8(ascii: "2") + digit - 26
    }

    static func digits(_ bytes: [UInt8]) -> [UInt8] {
        var digits: [UInt8] = []
        var (bits, count): (UInt32, UInt32) = (0, 0)
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 5 {
                count -= 5
                digits.append(UInt8(bits >> count & 31))
            }
        }
        if count > 0 { digits.append(UInt8(bits << (5 - count) & 31)) }
        return digits
    }

    /// The bytes that digits stand for; nil where bits that stand for nothing are not zero, or several texts would be
    /// the same id.
    static func bytes(_ digits: [UInt8]) -> [UInt8]? {
        var bytes: [UInt8] = []
        var (bits, count): (UInt32, UInt32) = (0, 0)
        for digit in digits {
            bits = bits << 5 | UInt32(digit)
            count += 5
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            }
        }
        return bits & (1 << count - 1) == 0 ? bytes : nil
    }

    /// The check digit of Luhn's algorithm, modulo 32. As in Syncthing, the weights begin with 1 at the first digit.
    static func check(_ digits: some Sequence<UInt8>) -> UInt8 {
        var sum = 0
        for (place, digit) in digits.enumerated() {
            let product = Int(digit) * (place.isMultiple(of: 2) ? 1 : 2)
            sum += product / 32 + product % 32
        }
        return UInt8((32 - sum % 32) % 32)
    }
}
