import CompanionClient
package import CompanionWire
import Discovery
import LocalState
import PairingAgent

/// The value of `--url`: an address or an mDNS name, and whether TLS is required; or another route.
package struct HostURL: Sendable, Hashable {
    /// The port of HTTPS if the user names none (companion-v2, Ports and advertisements).
    static let securePort = PairingPayload.defaultPort

    private var endpoint: CompanionEndpoint
    private var namesPort: Bool
    /// An mDNS name such as `mac.local` that is not resolved yet; see ``resolved(context:interface:)``.
    private var localName: String?
    /// Whether the URL begins with `https://`, so that only TLS is used.
    var isSecure: Bool
    /// The route, where it is neither an address nor an mDNS name: the host has to prove its key there.
    package private(set) var route: HostRoute?

    /// - Returns: nil for what is neither an address nor a route. A name of DNS needs `https://`, because only a key
    ///   proves whose it is.
    package init?(_ text: String) {
        // AICLI hosts use WebSocket URLs.
        var text = text
        for (webSocket, http) in [("ws://", "http://"), ("wss://", "https://")] {
            if let rest = text.dropping(prefix: webSocket, ignoringCase: true) { text = http + rest }
        }
        let afterScheme = text.dropping(prefix: "https://", ignoringCase: true)
        isSecure = afterScheme != nil
        let rest = afterScheme.map(String.init) ?? text
        let usual = isSecure ? Self.securePort : CompanionEndpoint.defaultPort
        let isOneScheme = !isSecure || rest.dropping(prefix: "http", ignoringCase: true) == nil
        if isOneScheme, let endpoint = CompanionEndpoint(rest, defaultPort: usual) {
            self.endpoint = endpoint
            namesPort = CompanionEndpoint(rest, defaultPort: 1)?.port == endpoint.port
        } else if isOneScheme, let (name, port) = Self.localName(in: rest) {
            localName = name
            // A placeholder until the name is resolved; nothing is sent to it.
            endpoint = CompanionEndpoint(address: Self.nowhere, port: port ?? usual)
            namesPort = port != nil
        } else if text.has("://"), let route = HostRoute(text) {
            self.route = route
            (endpoint, namesPort) = (CompanionEndpoint(address: Self.nowhere, port: usual), false)
            isSecure = true
        } else {
            return nil
        }
    }

    private static let nowhere = IPAddress(bytes: [0, 0, 0, 0])!

    /// Splits a name that ends in `.local` from its port.
    private static func localName(in text: String) -> (name: String, port: Int?)? {
        var rest = Substring(text)
        rest = rest.dropping(prefix: "http://", ignoringCase: true) ?? rest
        rest = rest.dropping(suffix: "/") ?? rest
        var port: Int?
        if let (name, digits) = rest.cut(atLast: ":") {
            guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits),
                (1...65535).contains(number)
            else { return nil }
            (rest, port) = (name, number)
        }
        rest = rest.dropping(suffix: ".") ?? rest
        let labels = rest.parts(".", omittingEmpty: false)
        guard labels.count > 1, labels.last?.lowercased() == "local",
            labels.allSatisfy({ (1...63).contains($0.utf8.count) }),
            !rest.unicodeScalars.contains(where: { $0.properties.isWhitespace || "/@%[]".unicodeScalars.contains($0) }),
            !rest.unicodeScalars.contains(where: TerminalText.isUnsafe)
        else { return nil }
        return (String(rest), port)
    }

    /// The URL with its mDNS name resolved to an address.
    ///
    /// - Parameter interface: The network interface to ask on; nil for all.
    /// - Throws: ``AppError`` with exit code 3 if no machine answers to the name.
    package func resolved(interface: String?) async throws -> HostURL {
        guard let localName else { return self }
        let addresses = try await BlockingCall.run { HostNameQuery.addresses(of: localName, interface: interface) }
        guard let address = addresses.first(where: \.isLocal) else {
            throw AppError(
                .nothingFound,
                "host.name_unknown",
                addresses.isEmpty
                    ? "no machine on your network answers to the name \(localName)"
                    : "\(localName) gives an address that is not on your network (\(addresses[0])); nothing was sent",
                next: "see what there is: pairtool discover, or give the address: --url http://ADDRESS:\(endpoint.port)"
            )
        }
        var url = self
        url.localName = nil
        url.endpoint.address = address
        return url
    }

    /// The endpoint for a family: with the family's usual port if the user names none.
    package func endpoint(of family: HostFamily) -> CompanionEndpoint {
        // The default port of HTTPS belongs to the usual family.
        guard !namesPort, !family.isUsual else { return endpoint }
        return CompanionEndpoint(address: endpoint.address, port: family.behavior.facts.usualPort)
    }
}
