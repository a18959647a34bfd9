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

/// The bytes of a text in which a byte may be written as `%` and two hex digits (RFC 3986, section 2.1); nil where a
/// `%` is followed by something else.
package func percentDecoded(_ text: Substring) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
        guard byte == UInt8(ascii: "%") else {
            bytes.append(byte)
            continue
        }
        guard
            let first = rest.popFirst().flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }),
            let second = rest.popFirst().flatMap({ Character(Unicode.Scalar($0)).hexDigitValue })
        else { return nil }
        bytes.append(UInt8(first << 4 | second))
    }
    return bytes
}
