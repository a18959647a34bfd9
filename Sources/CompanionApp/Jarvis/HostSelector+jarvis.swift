package import CompanionClient
import CompanionWire
import Identity
import PairingAgent

extension HostSelector {
    /// Runs a body with the selected Jarvis daemon.
    ///
    package func withJarvis<R>(
        _ environment: AppEnvironment,
        configuration: CompanionClientConfiguration,
        _ body: (JarvisSession) async throws -> R
    ) async throws -> R {
        let selected = try daemon(environment)
        return try await selected.naming {
            try await JarvisSessions.withClient(selected, environment: environment, configuration: configuration) {
                client in
                try await body(JarvisSession(host: selected, client: client, environment: environment))
            }
        }
    }

    private func daemon(_ environment: AppEnvironment) throws -> PairedHost {
        do {
            return try paired(.jarvis, for: "approvals", in: environment)
        } catch let error as AppError
            where ["host.cannot", "host.none_paired"].contains(error.code) && isUnnamed(environment)
        {
            // Explain how to pair by name, because daemons do not advertise themselves.
            throw AppError(
                .notPaired,
                "host.none_paired",
                "no Jarvis daemon is recorded yet",
                next: HostFamily.jarvis.behavior.facts.pairCommand
            )
        }
    }

    private func isUnnamed(_ environment: AppEnvironment) -> Bool {
        name == nil && environment.hostVariable == nil
    }
}
