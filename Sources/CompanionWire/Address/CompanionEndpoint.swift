/// The address and the TCP port of a host.
package struct CompanionEndpoint: Sendable, Hashable, Codable {
    /// The port of the CopilotForge companion backend.
    package static let defaultPort = 7878

    /// The address that is connected to. Names are resolved before.
    package var address: IPAddress
    /// 1…65535.
    package var port: Int

    package init(address: IPAddress, port: Int) {
        self.address = address
        self.port = port
    }

    /// Reads `192.168.1.5`, `192.168.1.5:7878`, `[fe80::1%eth0]:7878`, `fe80::1%eth0`, each with an optional
    /// `http://` before and `/` behind. Host names are not addresses: nil.
    ///
    /// - Parameter defaultPort: The port where the text has none. Default: 7878.
    package init?(_ text: String, defaultPort: Int = CompanionEndpoint.defaultPort) {
        var rest = Substring(text)
        rest = rest.dropping(prefix: "http://", ignoringCase: true) ?? rest
        rest = rest.dropping(suffix: "/") ?? rest
        if let address = IPAddress(String(rest)) {
            self.init(address: address, port: defaultPort)
            return
        }
        guard
            let (name, digits) = rest.cut(atLast: ":"),
            let address = IPAddress(String(name)),
            !address.isIPv6 || rest.begins(with: "["),
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = Int(digits), (1...65535).contains(port)
        else { return nil }
        self.init(address: address, port: port)
    }
}

extension CompanionEndpoint: CustomStringConvertible {
    /// `192.168.1.5:7878` or `[fe80::1%eth0]:7878`.
    package var description: String {
        address.isIPv6 ? "[\(address)]:\(port)" : "\(address):\(port)"
    }
}
