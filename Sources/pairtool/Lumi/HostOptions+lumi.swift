import CompanionClient
import CompanionWire
import PairingAgent

/// A Lumi host that takes commands.
struct RemoteMac: Sendable {
    let client: LumiClient
    let host: PairedHost
    let output: Output
}

extension HostOptions {
    /// Runs a body with a connection that a Lumi host has accepted. Neither what was pulled from it nor a provider's
    /// key is looked at.
    ///
    /// - Parameters:
    ///   - matter: What the command is about, such as `remote commands`.
    ///   - before: What comes before anybody at the Mac is asked for anything.
    func withMac<R>(
        _ options: OutputOptions,
        for matter: String,
        before: (PairedHost) async throws -> Void = { _ in },
        _ body: (RemoteMac) async throws -> R
    ) async throws -> R {
        let output = options.output
        let host = try paired(.lumi, for: matter, output.context)
        try await before(host)
        let result = try await LumiSessions.withConnection(host, output: output) { client in
            try await body(RemoteMac(client: client, host: host, output: output))
        }
        try noteContact(with: host, output.context)
        return result
    }

    /// The selected Lumi host, and what was pulled from it.
    func pulledHost(_ output: Output) throws -> PulledHost {
        let host = try paired(.lumi, for: "agents", output.context)
        return PulledHost(
            host: host,
            store: LumiStore(data: output.context.paths.data, hostID: host.id),
            output: output
        )
    }
}
