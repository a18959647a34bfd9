import CompanionWire
import PairingAgent

/// Codes and tokens from the system's cryptographic generator.
enum PairingSecrets {
    /// Six decimal digits, all million of them equally likely.
    static func code() -> String {
        var generator = SystemRandomNumberGenerator()
        let digits = String(Int.random(in: 0..<1_000_000, using: &generator))
        return String(repeating: "0", count: 6 - digits.count) + digits
    }

    /// 128 random bits, base64url: 22 characters.
    static func token() -> String { Base64URL.encode(SecureRandom.bytes(16)) }
}

/// Lower-case hex digits of bytes.
func hex(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for byte in bytes {
        text.append(digits[Int(byte >> 4)])
        text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
}
