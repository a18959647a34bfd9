import CompanionClient
package import CompanionWire
package import Identity
import PairingAgent

/// Finds out which paired host is at an address.
package struct HostPlaceResolver: Sendable {
    let place: HostAddress
    let hosts: PairedHosts
    /// The host to use if the address does not identify one: the default host, or the one from the environment.
    let usual: PairedHost?

    package init(place: HostAddress, hosts: PairedHosts, usual: PairedHost?) {
        self.place = place
        self.hosts = hosts
        self.usual = usual
    }

    /// The host and the addresses to try.
    ///
    /// A key identifies the host. Without a key, it is the host that was paired at this address, else the usual host if
    /// that is a legacy one.
    package func resolve() async throws -> (host: PairedHost, endpoints: [CompanionEndpoint]) {
        // Throws the error for "no host is paired".
        if hosts.hosts.isEmpty { _ = try PairedHostSelection.select(nil, in: hosts) }
        try place.requireLocal()
        let verified = hosts.hosts.filter { $0.trust == .verified }
        var failures: [CompanionClientError] = []
        var strangers: [(endpoint: CompanionEndpoint, pin: String)] = []
        if !verified.isEmpty {
            for endpoint in place.secureEndpoints(verified) {
                do {
                    let pin = try await PinnedTLS.certificate(
                        of: endpoint,
                        expecting: nil,
                        configuration: CompanionClientConfiguration(timeouts: .lookup)
                    ).spki
                    if let host = verified.first(where: { $0.spki == pin }) { return (host, [endpoint]) }
                    strangers.append((endpoint, pin))
                } catch let error as CompanionClientError {
                    failures.append(error)
                }
            }
        }
        let legacy = hosts.hosts.filter { $0.trust == .legacy }
        if let host = legacy.first(where: { $0.endpoint == place.endpoint($0.endpoint.port) }) {
            return (host, [host.endpoint])
        }
        if let host = usual ?? legacy.first, host.trust == .legacy, usual != nil || legacy.count == 1 {
            return (host, [place.endpoint(host.endpoint.port)])
        }
        throw refusal(failures, strangers: strangers, verified: verified)
    }

    private func refusal(
        _ failures: [CompanionClientError],
        strangers: [(endpoint: CompanionEndpoint, pin: String)],
        verified: [PairedHost]
    ) -> AppError {
        if let stranger = strangers.first {
            let expected = (usual.map { [$0] } ?? verified).compactMap(\.spki).joined(separator: " or ")
            return AppError(
                .failed,
                "host.pin_mismatch",
                "\(stranger.endpoint) shows a TLS key that no paired host has. Expected: \(expected). Shown: \(stranger.pin). "
                    + "Nothing was sent.",
                next: "check the address; if the host was set up again, pair with it again: pairtool pair"
            )
        }
        var error = AppError(
            .unreachable,
            "host.unreachable",
            "no paired host answers at \(place.address)\(place.port.map { " port \($0)" } ?? "")",
            next: "see what answers there: pairtool discover --host \(place.address)"
        )
        error.details = failures.map(\.message)
        return error
    }
}
