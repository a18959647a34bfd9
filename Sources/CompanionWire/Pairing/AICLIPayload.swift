import FoundationEssentials

/// The content of an AICLI server's QR code: the server's URL with its token (`http://192.168.1.5:3001?token=…`).
package struct AICLIPayload: Sendable, Hashable {
    /// The port where the URL names none.
    package static let defaultPort = 3001
    /// The most bytes of a token.
    package static let longestToken = 1024

    /// The server's address and port. The address in a code that is read is local.
    package var endpoint: CompanionEndpoint
    /// Gives full access to the server.
    package var token: String

    /// Whether TLS is spoken there.
    package var isSecure: Bool

    init(endpoint: CompanionEndpoint, token: String, isSecure: Bool = false) {
        self.endpoint = endpoint
        self.token = token
        self.isSecure = isSecure
    }

    /// Reads a text that is such a URL: of HTTP or WebSocket, with a local address and a token.
    ///
    /// A URL that leads elsewhere is none: any web page may have a token in its address.
    package init?(_ text: String) {
        guard
            let scheme = Self.schemes.first(where: { text.dropping(prefix: $0, ignoringCase: true) != nil }),
            let whole = text.dropping(prefix: scheme, ignoringCase: true)
        else { return nil }
        let rest = whole.cut(at: "#")?.before ?? whole
        guard let (place, query) = rest.cut(at: "?") else { return nil }
        let authority = place.cut(at: "/")?.before ?? place
        guard
            ["", "/", "/ws", "/ws/"].contains(where: { place.dropping(prefix: authority)?.isSame(as: $0) == true }),
            !authority.has("@"),
            let endpoint = CompanionEndpoint(String(authority), defaultPort: Self.defaultPort),
            endpoint.address.isLocal,
            let token = Self.token(in: query)
        else { return nil }
        self.init(endpoint: endpoint, token: token, isSecure: ["https://", "wss://"].contains(scheme))
    }

    private static let schemes = ["http://", "ws://", "https://", "wss://"]

    /// Whether a text may be a token: visible ASCII, so that nothing can break out of a header.
    package static func isToken(_ text: String) -> Bool {
        (1...longestToken).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    private static func token(in query: Substring) -> String? {
        let values = query.parts("&").compactMap { $0.dropping(prefix: "token=") }
        guard
            let value = values.first, values.count == 1, let bytes = percentDecoded(value),
            let token = String(validating: bytes, as: UTF8.self), isToken(token)
        else { return nil }
        return token
    }
}
