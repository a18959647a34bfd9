import CompanionApp
import CompanionClient
import CompanionWire
import Identity

/// A paired Jarvis daemon, a client that speaks to it, and where the command writes.
struct JarvisSession: Sendable {
    let host: PairedHost
    let client: JarvisClient
    let output: Output
}

extension HostOptions {
    /// Runs a body with the selected Jarvis daemon.
    ///
    /// - Parameter place: The base URL to use.
    func withJarvis<R>(
        _ options: OutputOptions,
        at place: ApprovalPlaceOption,
        _ body: (JarvisSession) async throws -> R
    ) async throws -> R {
        let output = options.output
        let selected = try daemon(output.context)
        return try await selected.naming {
            try await JarvisSessions.withClient(selected, output: output, configuration: place.configuration) {
                client in
                try await body(JarvisSession(host: selected, client: client, output: output))
            }
        }
    }

    private func daemon(_ context: CommandContext) throws -> PairedHost {
        do {
            return try paired(.jarvis, for: "approvals", context)
        } catch let error as AppError
            where ["host.cannot", "host.none_paired"].contains(error.code) && isUnnamed(context)
        {
            // Explain how to pair by name, because daemons do not advertise themselves.
            throw AppError(
                .notPaired,
                "host.none_paired",
                "no Jarvis daemon is recorded yet",
                next: JarvisFamily().pairCommand
            )
        }
    }

    private func isUnnamed(_ context: CommandContext) -> Bool {
        host == nil && context.hostVariable == nil
    }
}
