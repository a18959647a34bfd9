import CompanionWire

/// The address of a provider's interface: HTTPS, or plain HTTP on this machine and private networks.
///
/// A key and a conversation in clear text are for addresses alone that say where they lead: `localhost`, 127.0.0.0/8,
/// ::1, 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, fc00::/7, 169.254.0.0/16 and fe80::/10. Other names may lead
/// anywhere.
package struct ProviderURL: Sendable, Hashable, CustomStringConvertible {
    /// True for `https`, false for `http`.
    package let isSecure: Bool
    private let server: URLAuthority
    /// The part before the paths of the interface, such as `/v1`; without a slash at its end.
    package let path: String

    /// - Throws: ``ProviderError/Code/refusedURL``.
    package init(_ text: String, provider: Provider) throws(ProviderError) {
        func refuse(_ why: String) -> ProviderError {
            ProviderError(.refusedURL, provider: provider, message: "The address for \(provider.displayName) \(why).")
        }
        guard text.has("://") else { throw refuse("is not a URL: start it with https:// or http://") }
        let secure = text.dropping(prefix: "https://", ignoringCase: true)
        guard let rest = secure ?? text.dropping(prefix: "http://", ignoringCase: true) else {
            throw refuse("is neither https:// nor http://")
        }
        isSecure = secure != nil
        // Of ASCII alone from here on.
        guard text.utf8.count <= 1024, rest.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw refuse("has characters that are not allowed in URLs")
        }
        guard !rest.contains(where: { "@?#\\\"<>^`{|}%".contains($0) }) else {
            throw refuse("has more than a host, a port and a path: leave out user names and queries")
        }
        let slash = rest.utf8.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        var path = rest[slash...]
        while let shorter = path.dropping(suffix: "/") { path = shorter }
        // Some give the address that prompts go to.
        if let shorter = path.dropping(suffix: "/chat/completions") { path = shorter }
        guard !path.parts("/").contains(where: { $0 == "." || $0 == ".." }) else {
            throw refuse("contains `.` or `..` in its path")
        }
        self.path = String(path)
        guard let server = URLAuthority(rest[..<slash]) else { throw refuse("has no usable host and port") }
        self.server = server
        guard isSecure || server.isLocal else {
            throw refuse("needs https:// (plain HTTP is for localhost, private and link-local addresses)")
        }
    }

    package var description: String {
        "\(isSecure ? "https" : "http")://\(authority)\(path)"
    }

    /// A name or an address, in brackets where it is IPv6.
    package var host: String { server.host }

    /// The host, with the port where the URL has one.
    package var authority: String { "\(server)" }

    /// Whether it leads to this machine itself.
    package var isLoopback: Bool { server.isLoopback }
}
