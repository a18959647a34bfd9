import CompanionWire
import PairingAgent

/// An address that stands where a host could be named: `--host ADDRESS[:PORT]`.
struct HostPlace: Sendable, Hashable {
    let address: IPAddress
    /// Nil if none was given.
    let port: Int?

    /// - Returns: nil for a text that is no address.
    init?(_ text: String) {
        let rest = text.dropping(prefix: "https://", ignoringCase: true).map(String.init) ?? text
        guard let endpoint = CompanionEndpoint(rest, defaultPort: 0) else { return nil }
        address = endpoint.address
        port = endpoint.port == 0 ? nil : endpoint.port
    }

    func endpoint(_ usual: Int) -> CompanionEndpoint {
        CompanionEndpoint(address: address, port: port ?? usual)
    }

    /// Where a verified host may speak TLS there. A port may be that of its plain HTTP: TLS is one above then.
    func secureEndpoints(_ hosts: [PairedHost]) -> [CompanionEndpoint] {
        let ports =
            port.map { [$0, $0 + 1] }
            ?? [HostURL.securePort] + hosts.filter { $0.trust == .verified }.map(\.endpoint.port)
        return ports.filter { (1...65535).contains($0) }.unique.map { CompanionEndpoint(address: address, port: $0) }
    }
}
