/// Text without control characters.
enum PlainText {
    /// Decodes bytes: line ends become line feeds, tabs stay, other control characters go, and invalid UTF-8 becomes
    /// U+FFFD.
    static func of(_ bytes: some Collection<UInt8>) -> String {
        var clean: [UInt8] = []
        clean.reserveCapacity(bytes.count)
        var last: UInt8 = 0
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\n"): if last != UInt8(ascii: "\r") { clean.append(byte) }
            case UInt8(ascii: "\r"): clean.append(UInt8(ascii: "\n"))
            case 0x80...0x9F where clean.last == 0xC2:
                // A control character of two bytes.
                clean.removeLast()
            case UInt8(ascii: "\t"), 0x20...0x7E, 0x80...: clean.append(byte)
            default: break
            }
            last = byte
        }
        return String(decoding: clean, as: UTF8.self)
    }

    static func of(_ text: String) -> String { of(text.utf8) }
}
