package import CompanionClient
import CompanionWire
package import Identity
import LocalState
import PairingAgent

/// A Lumi host that accepts commands.
package struct RemoteMac: Sendable {
    package let client: LumiClient
    package let host: PairedHost
}

extension HostSelector {
    /// Runs a body with a connection that a Lumi host has accepted. Reads neither the data that was pulled from the
    /// host nor a provider's key.
    ///
    /// - Parameters:
    ///   - matter: The subject of the command, such as `remote commands`.
    ///   - before: Runs before anyone at the Mac is asked to accept the connection.
    package func withMac<R>(
        _ environment: AppEnvironment,
        for matter: String,
        before: (PairedHost) async throws -> Void = { _ in },
        _ body: (RemoteMac) async throws -> R
    ) async throws -> R {
        let host = try paired(.lumi, for: matter, in: environment)
        try await before(host)
        let result = try await host.naming {
            try await LumiSessions.withConnection(host, environment: environment) { client in
                try await body(RemoteMac(client: client, host: host))
            }
        }
        try noteContact(with: host, in: environment)
        return result
    }

    /// The selected Lumi host and the data that was pulled from it.
    package func pulledHost(_ environment: AppEnvironment) throws -> PulledHost {
        let host = try paired(.lumi, for: "agents", in: environment)
        return PulledHost(
            host: host,
            store: LumiStore(data: environment.paths.data, hostID: host.id),
            interaction: environment.interaction
        )
    }
}
