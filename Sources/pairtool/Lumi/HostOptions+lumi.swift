import CompanionClient
import CompanionWire
import Identity
import LocalState

/// A Lumi host that accepts commands.
struct RemoteMac: Sendable {
    let client: LumiClient
    let host: PairedHost
    let output: Output
}

extension HostOptions {
    /// Runs a body with a connection that a Lumi host has accepted. Reads neither the data that was pulled from the
    /// host nor a provider's key.
    ///
    /// - Parameters:
    ///   - matter: The subject of the command, such as `remote commands`.
    ///   - before: Runs before anyone at the Mac is asked to accept the connection.
    func withMac<R>(
        _ options: OutputOptions,
        for matter: String,
        before: (PairedHost) async throws -> Void = { _ in },
        _ body: (RemoteMac) async throws -> R
    ) async throws -> R {
        let output = options.output
        let host = try paired(.lumi, for: matter, output.context)
        try await before(host)
        let result = try await host.naming {
            try await LumiSessions.withConnection(host, output: output) { client in
                try await body(RemoteMac(client: client, host: host, output: output))
            }
        }
        try noteContact(with: host, output.context)
        return result
    }

    /// The selected Lumi host and the data that was pulled from it.
    func pulledHost(_ output: Output) throws -> PulledHost {
        let host = try paired(.lumi, for: "agents", output.context)
        return PulledHost(
            host: host,
            store: LumiStore(data: output.context.paths.data, hostID: host.id),
            output: output
        )
    }
}
