/// The address of a page that an agent asks a person to open: `https` or `http`, in ASCII, without a user name.
package struct PageLink: Sendable, Hashable {
    /// Bytes of an address.
    package static let mostBytes = 4096

    package let url: String
    /// The server that it leads to, with its port where it names one.
    package let server: String

    /// nil for anything else: a name such as `bank.example@evil.example` would mislead whoever reads it.
    package init?(_ url: String) {
        guard url.utf8.count <= Self.mostBytes, url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let rest = url.dropping(prefix: "https://", ignoringCase: true)
                ?? url.dropping(prefix: "http://", ignoringCase: true)
        else { return nil }
        let end = rest.utf8.firstIndex { "/?#\\".utf8.contains($0) } ?? rest.endIndex
        // Browsers read a backslash as a slash.
        guard end == rest.endIndex || rest[end...].utf8.first != UInt8(ascii: "\\"),
            let server = URLAuthority(rest[..<end])
        else { return nil }
        (self.url, self.server) = (url, "\(server)")
    }
}
