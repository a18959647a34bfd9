/// The addresses of links that a terminal is told of (OSC 8, https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda).
enum LinkAddress {
    /// The longest address that terminals take.
    private static let mostBytes = 2083
    private static let schemes = ["http://", "https://", "mailto:"].map { Array($0.utf8) }
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// An address that may be written to a terminal, or nil: of the web or of a mailbox, without control characters, and
    /// with everything that is not ASCII percent-encoded.
    static func safe(_ address: [UInt8]) -> [UInt8]? {
        guard
            schemes.contains(where: { scheme in
                address.count > scheme.count && address.starts(with: scheme) { $0 | 0x20 == $1 | 0x20 }
            }),
            !address.contains(where: { $0 < 0x20 || $0 == 0x7F })
        else { return nil }
        var result: [UInt8] = []
        result.reserveCapacity(address.count)
        for byte in address {
            if byte > 0x20, byte < 0x7F {
                result.append(byte)
            } else {
                result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return result.count <= mostBytes ? result : nil
    }

    static func begin(_ address: [UInt8], _ out: inout [UInt8]) {
        out += "\u{1B}]8;;".utf8
        out += address
        out += "\u{1B}\\".utf8
    }

    static func end(_ out: inout [UInt8]) {
        out += "\u{1B}]8;;\u{1B}\\".utf8
    }
}
