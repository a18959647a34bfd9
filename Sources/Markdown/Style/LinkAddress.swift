/// The addresses of links that a terminal is told of (OSC 8, https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda).
enum LinkAddress {
    /// The longest address that terminals take.
    private static let mostBytes = 2083
    private static let schemes = ["http://", "https://", "mailto:"].map { Array($0.utf8) }
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// An address that may be written to a terminal, or nil: of the web or of a mailbox, without control characters,
    /// and with everything that is not ASCII percent-encoded.
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

    /// Whether a text names the host of an address of the web, and no other.
    static func isHost(of address: [UInt8], namedBy text: some Sequence<UInt8>) -> Bool {
        guard let host = host(of: address) else { return false }
        return host == self.host(of: Array(text))
    }

    /// The host and the port, in small letters; nil where there is none, or a user's name before it that may pass for
    /// one. A backslash counts as a slash, as it does in browsers.
    private static func host(of address: [UInt8]) -> [UInt8]? {
        let small = address.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        let scheme = schemes.prefix(2).first { small.starts(with: $0) }
        let host = small.dropFirst(scheme?.count ?? 0).prefix { !#"/\?#"#.utf8.contains($0) }
        return host.isEmpty || host.contains(UInt8(ascii: "@")) ? nil : Array(host)
    }

    static func begin(_ address: [UInt8], into out: inout [UInt8]) {
        out += "\u{1B}]8;;".utf8
        out += address
        out += "\u{1B}\\".utf8
    }

    static func end(_ out: inout [UInt8]) {
        out += "\u{1B}]8;;\u{1B}\\".utf8
    }
}
