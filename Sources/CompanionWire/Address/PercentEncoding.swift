/// Percent-encodes everything but letters, digits, `-`, `.`, `_` and `~` (RFC 3986, section 2.3).
///
/// Ids are the host's: one may hold `/`, `?` or spaces, or be `..`.
package func percentEncoded(_ text: String) -> String {
    let onlyDots = text.allSatisfy { $0 == "." }
    var result = ""
    for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "."):
            result += onlyDots ? "%2E" : "."
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "~"):
            result.append(Character(Unicode.Scalar(byte)))
        default:
            let hex = String(byte, radix: 16, uppercase: true)
            result += hex.count == 1 ? "%0\(hex)" : "%\(hex)"
        }
    }
    return result
}
