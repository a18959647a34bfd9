import CompanionClient
package import CompanionWire
package import Identity
import LocalState

extension PairedHost {
    /// Lets the host prove its key at the end of a route. Nothing is sent inside the connection.
    ///
    /// - Throws: ``CompanionClientError``, among others for a host that has proven nothing: what carries the connection
    ///   is not trusted.
    package func prove(at route: HostRoute, in environment: AppEnvironment) async throws {
        guard let spki, trust == .verified else {
            throw CompanionClientError(.refusedAddress, message: "\(route.place) needs a key.", delivery: .notSent)
        }
        try await HostPlace.route(route).withTarget(environment.tunnels) { target in
            let configuration = CompanionClientConfiguration(timeouts: .lookup)
            _ = try await PinnedTLS.certificate(of: target, expecting: spki, configuration: configuration)
        }
    }

    /// Runs a body with the line to this host: its last place, and for one with other routes whichever it is found by
    /// when that fails.
    func withLine<R>(
        in environment: AppEnvironment,
        _ body: (HostLine) async throws -> R
    ) async throws -> R {
        guard routes?.isEmpty == false || via != nil else { return try await body(HostLine(.address(endpoint))) }
        return try await Tunnels.with(environment.tunnels) { tunnels in
            let discovery = try environment.discoveryClient()
            return try await HostLine.with(try await target(over: tunnels)) {
                var finder = HostFinder(
                    host: try current(in: environment),
                    environment: environment,
                    discovery: discovery,
                    allowsLegacy: false
                )
                finder.usesLinkLocal = false
                return try await finder.find().target(over: tunnels)
            } _: { line in
                try await body(line)
            }
        }
    }

    private func target(over tunnels: Tunnels) async throws -> ClientTarget {
        if let via { try await tunnels.target(of: via) } else { .address(endpoint) }
    }

    /// The record as it is now.
    private func current(in environment: AppEnvironment) throws -> PairedHost {
        let hosts = try PairedHostStore(directory: environment.paths.data).load().hosts
        return hosts.first { $0.id == id && $0.spki == spki } ?? self
    }
}
