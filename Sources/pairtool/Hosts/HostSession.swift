import CompanionClient
import CompanionWire
import PairingAgent

/// A paired host, a client that speaks to it, and where the command writes.
struct HostSession: Sendable {
    let host: PairedHost
    let client: CompanionAPIClient
    let output: Output

    var context: CommandContext { output.context }
    /// Whether commands are signed and turns can be followed (protocol v2).
    var isVerified: Bool { host.trust == .verified }

    static func with<R>(
        _ host: PairedHost,
        output: Output,
        configuration: CompanionClientConfiguration = .default,
        _ body: (HostSession) async throws -> R
    ) async throws -> R {
        guard host.family == .copilotforge else {
            throw CommandError(
                .failed,
                "host.family",
                "\(host.name) is a \(host.family.displayName) host; this version speaks to CopilotForge hosts only"
            )
        }
        return try await CompanionAPIClient.withClient(
            endpoint: host.endpoint,
            security: try host.security(),
            credentials: host.trust == .verified ? PairedCredentials(host: host, context: output.context) : nil,
            configuration: configuration,
            logger: LoggingSetup.logger("client", context: output.context)
        ) { client in
            try await body(HostSession(host: host, client: client, output: output))
        }
    }
}
