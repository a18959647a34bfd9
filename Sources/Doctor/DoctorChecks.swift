package import CompanionApp
import CompanionClient
import CompanionHost
import CompanionWire
import DBus
import Discovery
import Identity
import LocalState
import PairingAgent

/// The checks of `pairtool doctor`, for this machine and its paired hosts.
package struct DoctorChecks: Sendable {
    private let environment: AppEnvironment

    package init(environment: AppEnvironment) {
        self.environment = environment
    }

    /// All checks.
    ///
    /// - Parameter host: The only host to check, by name or id prefix; nil for all.
    /// - Throws: `AppError` for a host that is not paired or an engine that does not exist; `DiscoveryError` for an
    ///   interface that does not exist.
    package func of(_ host: String?) throws -> [any DoctorCheck] {
        let client = try environment.discoveryClient()
        // A mistyped interface name is a usage error, not a network problem.
        try client.checkInterface()
        let only = environment.discoveryInterface
        let hosts = try hosts(host, with: client)
        return [
            EngineCheck(
                choice: try environment.discoveryEngine,
                client: client,
                bus: .system(environment: environment.variables)
            ),
            PortCheck(), InterfaceCheck(only: only), FirewallCheck(), MulticastCheck(only: only),
            AdvertCheck(hasPairedHosts: !hosts.isEmpty) {
                try await DiscoverySnapshot.run(
                    client: client,
                    types: ServiceType.all,
                    limit: .seconds(5),
                    until: \.isSettled
                ).hosts
            },
        ] + (hosts.isEmpty ? [NoHostCheck()] : hosts) + [
            FileCheck(
                directory: environment.paths.data,
                families: HostFamily.allCases.compactMap { $0.behavior.facts.files }
            ),
            CameraCheck(), PictureCheck(),
            DiskCheck(directories: [environment.paths.data, environment.paths.state, environment.paths.runtime]),
            ProcessCheck(), SandboxCheck { await SandboxProbe.complaint() },
        ]
    }

    /// One check for each paired host that was selected.
    private func hosts(_ host: String?, with client: CompanionDiscoveryClient) throws -> [any DoctorCheck] {
        let store = PairedHostStore(directory: environment.paths.data)
        if let host {
            return checks(of: try PairedHostSelection.select(host, in: try store.load()), with: client)
        }
        // ``FileCheck`` reports records that cannot be read.
        guard let hosts = (try? store.load())?.hosts else { return [NoHostCheck(areUnreadable: true)] }
        return hosts.flatMap { checks(of: $0, with: client) }
    }

    private func checks(of host: PairedHost, with client: CompanionDiscoveryClient) -> [any DoctorCheck] {
        let family = host.family.behavior.facts
        let check = HostCheck(
            host: host,
            isAdvertised: family.isAdvertised,
            usesToken: family.codes.contains(.token),
            ask: { try await health(of: host) },
            lookElsewhere: { try await advertisedPlace(of: host, with: client) }
        )
        guard host.routes?.isEmpty == false else { return [check] }
        return [check, RouteCheck(host: host) { try await host.prove(at: $0, in: environment) }]
    }

    private func health(of host: PairedHost) async throws -> HostHealth {
        let timeouts = CompanionClientConfiguration.Timeouts(connect: .seconds(2), request: .seconds(4))
        do {
            return try await host.family.behavior.health(
                of: host,
                environment: environment,
                timeouts: timeouts
            )
        } catch let error as AppError {
            throw HostCheck.UnusableRecord(error.message)
        }
    }

    /// The host's new address according to advertisements; nil if they contain none. The address is not contacted.
    private func advertisedPlace(
        of host: PairedHost,
        with client: CompanionDiscoveryClient
    ) async throws -> CompanionEndpoint? {
        let types = host.family.behavior.facts.followedTypes
        guard !types.isEmpty else { return nil }
        let snapshot = try await DiscoverySnapshot.run(client: client, types: types, limit: .seconds(3)) { snapshot in
            snapshot.isSettled || snapshot.hosts.contains { $0.advertisedID == host.id && !$0.endpoints.isEmpty }
        }
        return snapshot.hosts.filter { $0.advertisedID == host.id }.flatMap(\.endpoints).map(\.endpoint)
            .first { !host.covers($0) }
    }
}
