/// Standard base64 with padding (RFC 4648, section 4), strictly: one text for each sequence of bytes.
package enum Base64 {
    /// Encodes bytes, with `=` at the end to a multiple of four characters.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var output = Base64Coder.standard.encode(bytes)
        while output.count % 4 != 0 { output.append(UInt8(ascii: "=")) }
        return String(decoding: output, as: UTF8.self)
    }

    /// Returns nil for foreign characters, wrong padding, and unused bits that are not zero.
    package static func decode(_ text: String) -> [UInt8]? {
        let characters = Array(text.utf8)
        guard characters.count % 4 == 0 else { return nil }
        let padding = characters.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        return Base64Coder.standard.decode(characters.dropLast(padding))
    }
}

/// base64url without padding (RFC 4648, section 5), strictly: one text for each sequence of bytes.
package enum Base64URL {
    /// Encodes bytes, without `=` at the end.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: Base64Coder.url.encode(bytes), as: UTF8.self)
    }

    /// Returns nil for foreign characters, padding, and unused bits that are not zero.
    package static func decode(_ text: String) -> [UInt8]? {
        Base64Coder.url.decode(text.utf8)
    }
}

/// One alphabet of base64.
private struct Base64Coder: Sendable {
    static let standard = Base64Coder("+/")
    static let url = Base64Coder("-_")

    private let alphabet: [UInt8]
    /// The value of each character, 0xFF for those outside the alphabet.
    private let values: [UInt8]

    private init(_ lastTwo: String) {
        alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789\(lastTwo)".utf8)
        var values = [UInt8](repeating: 0xFF, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        self.values = values
    }

    func encode(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var output: [UInt8] = []
        var (bits, count): (UInt32, Int) = (0, 0)
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                output.append(alphabet[Int(bits >> UInt32(count) & 63)])
            }
        }
        if count > 0 { output.append(alphabet[Int(bits << UInt32(6 - count) & 63)]) }
        return output
    }

    func decode(_ characters: some Collection<UInt8>) -> [UInt8]? {
        guard characters.count % 4 != 1 else { return nil }
        var output: [UInt8] = []
        output.reserveCapacity(characters.count * 3 / 4)
        var (bits, count): (UInt32, Int) = (0, 0)
        for character in characters {
            let value = values[Int(character)]
            guard value != 0xFF else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                output.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        // Bits that stand for nothing have to be zero, or several texts would stand for the same bytes.
        return bits & (1 << UInt32(count) - 1) == 0 ? output : nil
    }
}

extension Sequence<UInt8> {
    /// Two lowercase hex digits for each byte.
    package var hexText: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
