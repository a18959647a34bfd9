package import CompanionClient
import CompanionWire
import Identity

extension HostSelector {
    /// Runs a body with the selected AICLI server.
    ///
    /// - Parameter matter: The subject of the command, such as `sessions`.
    package func withAICLI<R>(
        _ environment: AppEnvironment,
        for matter: String,
        _ body: (AICLIHost) async throws -> R
    ) async throws -> R {
        let host = try paired(.aicli, for: matter, in: environment)
        let result = try await HistoryRecorder.with(host, in: environment) { recorder in
            try await host.naming {
                try await AICLISessions.with(host, environment: environment) {
                    try await body($0.recorded(by: recorder))
                }
            }
        }
        try noteContact(with: host, in: environment)
        return result
    }
}
