package import CompanionWire

/// The base URL of a Jarvis daemon: an address of this machine, its networks or its VPN, or the second base URL that a
/// user has configured.
package struct JarvisBase: Sendable, Hashable {
    /// The port of the daemon (jarvis).
    package static let defaultPort = 9000
    /// The beginning of every path.
    static let prefix = "/api/v1"

    /// Nil for a second base URL that is named by host name.
    package let endpoint: CompanionEndpoint?
    /// Scheme, authority and, of a second base URL, a path; no slash at the end.
    let origin: String
    /// How people name it.
    package let description: String

    /// A daemon at a local address.
    package init(_ endpoint: CompanionEndpoint) {
        self.endpoint = endpoint
        origin = "http://\(endpoint.authority)"
        description = "\(endpoint)"
    }

    /// Reads a second base URL: `https://HOST[:PORT][/PATH]`, or `http://` with a local address.
    ///
    /// Nil for anything else, such as plain HTTP to a host elsewhere, or a URL with a user, a query or a fragment.
    package init?(fallback text: String) {
        if text.dropping(prefix: "http://", ignoringCase: true) != nil {
            guard let endpoint = CompanionEndpoint(text, defaultPort: 80), endpoint.address.isLocal else { return nil }
            self.init(endpoint)
            return
        }
        guard let rest = text.dropping(prefix: "https://", ignoringCase: true), text.utf8.count <= 2048 else {
            return nil
        }
        let authority = rest.cut(at: "/")?.before ?? rest
        let segments = rest.cut(at: "/")?.after.parts("/") ?? []
        guard let host = Self.host(of: authority), segments.allSatisfy(Self.isSegment) else { return nil }
        self.init(origin: (["https://\(host)"] + segments.map(String.init)).joined(separator: "/"))
    }

    private init(origin: String) {
        endpoint = nil
        self.origin = origin
        description = origin
    }

    /// An authority of a host name or address with an optional port; nil where it is none.
    private static func host(of authority: Substring) -> String? {
        if let endpoint = CompanionEndpoint(String(authority), defaultPort: 443) {
            return endpoint.address.zone == nil ? endpoint.authority : nil
        }
        let parts = authority.parts(":", omittingEmpty: false)
        guard let name = parts.first, parts.count <= 2, name.utf8.count <= 253 else { return nil }
        let labels = name.parts(".", omittingEmpty: false)
        let isName = labels.allSatisfy { label in
            (1...63).contains(label.utf8.count) && !label.begins(with: "-") && !label.ends(with: "-")
                && label.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
        }
        // Digits alone are a broken address, never a name.
        guard isName, labels.last?.contains(where: \.isLetter) == true else { return nil }
        guard parts.count == 2 else { return name.lowercased() }
        guard parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(parts[1]),
            (1...65535).contains(port)
        else { return nil }
        return "\(name.lowercased()):\(port)"
    }

    private static func isSegment(_ segment: Substring) -> Bool {
        segment != "." && segment != ".."
            && segment.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._~".contains($0)) }
    }
}

extension JarvisBase: CustomStringConvertible {}
