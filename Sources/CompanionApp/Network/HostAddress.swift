package import CompanionWire
import Identity
import PairingAgent

/// An address in place of a host's name: `--host ADDRESS[:PORT]`.
package struct HostAddress: Sendable, Hashable {
    package let address: IPAddress
    /// Nil if the user gave none.
    let port: Int?

    /// - Returns: nil if the text is not an address.
    package init?(_ text: String) {
        let rest = text.dropping(prefix: "https://", ignoringCase: true).map(String.init) ?? text
        guard let endpoint = CompanionEndpoint(rest, defaultPort: 0) else { return nil }
        address = endpoint.address
        port = endpoint.port == 0 ? nil : endpoint.port
    }

    /// - Throws: ``AppError`` for an address that pairtool never connects to.
    func requireLocal() throws {
        guard !address.isLocal else { return }
        throw AppError(
            .usage,
            "host.refused_address",
            "\(address) is not an address on this machine, your network or your VPN; nothing was sent"
        )
    }

    package func endpoint(_ usual: Int) -> CompanionEndpoint {
        CompanionEndpoint(address: address, port: port ?? usual)
    }

    /// The endpoints where a verified host may speak TLS at this address. The given port may be its plain HTTP port;
    /// TLS is then on the next higher one.
    func secureEndpoints(_ hosts: [PairedHost]) -> [CompanionEndpoint] {
        let ports =
            port.map { [$0, $0 + 1] }
            ?? [HostURL.securePort] + hosts.filter { $0.trust == .verified }.map(\.endpoint.port)
        return ports.filter { (1...65535).contains($0) }.unique.map { CompanionEndpoint(address: address, port: $0) }
    }
}
