/// The server that a URL names: a name or an address, and perhaps a port.
package struct URLAuthority: Sendable, Hashable, CustomStringConvertible {
    /// In lower case; an address of IPv6 is in brackets.
    package let host: String
    /// 1…65535; nil: that of the scheme.
    package let port: Int?

    /// - Parameter text: What is between `://` and the path.
    package init?(_ text: Substring) {
        var (host, port) = (text, Substring())
        if text.begins(with: "[") {
            guard let end = text.utf8.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            host = text[...end]
            port = text[text.utf8.index(after: end)...]
            guard IPAddress(String(host))?.isIPv6 == true else { return nil }
        } else {
            let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
            (host, port) = (text[..<colon], text[colon...])
            guard !host.isEmpty, host.utf8.allSatisfy(Self.isOfName) else { return nil }
        }
        self.host = host.lowercased()
        guard !port.isEmpty else {
            self.port = nil
            return
        }
        guard let digits = port.dropping(prefix: ":"), digits.utf8.allSatisfy(\.isASCIIDigit), let number = Int(digits),
            (1...65535).contains(number)
        else { return nil }
        self.port = number
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        byte.isASCIILetter || byte.isASCIIDigit || "-._".utf8.contains(byte)
    }

    /// The host, with the port where the URL has one.
    package var description: String { host + (port.map { ":\($0)" } ?? "") }

    /// Whether it leads to this machine itself.
    package var isLoopback: Bool { host == "localhost" || IPAddress(host)?.scope == .loopback }

    /// Whether it says itself that it leads no farther than private networks and links. A name may lead anywhere.
    package var isLocal: Bool {
        if host == "localhost" { return true }
        return switch IPAddress(host)?.scope {
        case .loopback, .privateNetwork, .linkLocal: true
        default: false
        }
    }
}
