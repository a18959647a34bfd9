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

    /// The host at the end of a route: the one whose key it shows.
    ///
    /// - Throws: ``AppError`` if none of the verified hosts is there.
    static func host(
        at route: HostRoute,
        among hosts: PairedHosts,
        in environment: AppEnvironment
    ) async throws -> PairedHost {
        if hosts.hosts.isEmpty { _ = try PairedHostSelection.select(nil, in: hosts) }
        let configuration = CompanionClientConfiguration(timeouts: .lookup)
        let pin: String
        do {
            pin = try await HostPlace.route(route).withTarget(environment.tunnels) { target in
                try await PinnedTLS.certificate(of: target, expecting: nil, configuration: configuration).spki
            }
        } catch let error as CompanionClientError {
            throw AppError(
                .unreachable,
                "host.unreachable",
                MessageStyle.sentence(error.message),
                next: "see the routes of a host: pairtool hosts routes"
            )
        }
        if let host = hosts.hosts.first(where: { $0.trust == .verified && $0.spki == pin }) { return host }
        throw AppError(
            .failed,
            "host.pin_mismatch",
            "\(route.place) shows a TLS key that no paired host has (\(pin)); nothing was sent",
            next: "check the route; to pair with the host there: pairtool pair --url \(route)"
        )
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
