import CommandCore
import CompanionClient
import CompanionWire
import FoundationEssentials
import PairingAgent

/// Connections to paired Lumi hosts, and the end of what was pulled from them.
enum LumiSessions {
    /// Removes what was pulled from a host, keys and all, and what was said here with its agents.
    static func forget(_ host: PairedHost, context: CommandContext) throws {
        let directory = LumiStore(data: context.paths.data, hostID: host.id).directory
        guard FileStatus(directory) != nil else { return }
        do {
            try FileManager.default.removeItem(atPath: directory)
        } catch {
            throw CommandError(
                .failed,
                "file",
                "what was pulled from \(host.name) could not be removed",
                next: "rm -r '\(directory)'"
            )
        }
    }

    /// Runs a body with a connection that the host has accepted. Somebody at the Mac may have to do so each time.
    ///
    /// - Throws: ``CommandError``; what the body throws.
    static func withConnection<R>(
        _ host: PairedHost,
        output: Output,
        _ body: (LumiClient) async throws -> R
    ) async throws -> R {
        try await LumiClient.withClient(
            endpoint: host.endpoint,
            clock: output.context.clock,
            logger: LoggingSetup.logger("lumi", context: output.context)
        ) { client in
            let name = host.deviceName ?? MachineName.current
            _ = try await LumiReception(hostName: host.name, deviceName: name, output: output).accept(client)
            return try await body(client)
        }
    }
}
