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
