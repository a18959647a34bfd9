package import CompanionClient
import CompanionWire
package import Identity
import LocalState
import Logging
import PairingAgent

/// Opens clients of paired Jarvis daemons.
package enum JarvisSessions {
    /// The daemon's token; nil if it needs none.
    static func token(of hostID: String, in environment: AppEnvironment) throws -> String? {
        try HostSecretStore(directory: environment.paths.data).load(hostID: hostID)
    }

    /// Runs a body with a client that uses the base URL that answered.
    package static func withClient<R>(
        _ host: PairedHost,
        environment: AppEnvironment,
        configuration: CompanionClientConfiguration = .default,
        _ body: (JarvisClient) async throws -> R
    ) async throws -> R {
        var fallback: JarvisBase?
        if let url = host.fallbackURL {
            guard let base = JarvisBase(fallback: url) else {
                throw AppError(
                    .failed,
                    "host.fallback_url",
                    "the stored second base URL of \(host.name) is not valid: \(url)",
                    next: "pairtool pair --family jarvis --url http://\(host.endpoint) --fallback-url URL"
                )
            }
            fallback = base
        }
        if configuration.via == .cloud, fallback == nil {
            throw AppError(
                .usage,
                "host.no_fallback_url",
                "\(host.name) has no second base URL",
                next: "pairtool pair --family jarvis --url http://\(host.endpoint) --fallback-url URL"
            )
        }
        return try await JarvisClient.withClient(
            endpoint: host.endpoint,
            fallback: fallback,
            token: try token(of: host.id, in: environment),
            configuration: configuration,
            logger: environment.logger("client")
        ) { client in
            if client.usesFallback, configuration.via == nil {
                environment.interaction.say(
                    "Nothing answers at \(host.endpoint): using \(client.base), the second base URL."
                )
            }
            return try await body(client)
        }
    }
}

/// A paired Jarvis daemon, a client that speaks to it, and the surroundings of the task.
package struct JarvisSession: Sendable {
    let host: PairedHost
    package let client: JarvisClient
    let environment: AppEnvironment

    package init(host: PairedHost, client: JarvisClient, environment: AppEnvironment) {
        self.host = host
        self.client = client
        self.environment = environment
    }
}

extension JarvisSession {
    /// Approves or rejects a request. Holds a lock, so that no other process of this user decides between the check of
    /// the request and the decision.
    ///
    /// - Throws: The errors of `JarvisClient.decide`; `PrivateFile.Failure` if the lock is not available.
    func decide(_ id: JarvisApprovalID, with answer: ApprovalAnswer) async throws -> JarvisReceipt {
        // The lock is per request, not per host, because one daemon may be stored under two addresses.
        let name = "approval-\(DeviceIdentity.shortHash(id.uppercased.description).prefix(2)).lock"
        let path = "\(environment.paths.runtime)/\(name)"
        let notice = "Another pairtool is deciding; waiting for it."
        return try await FileLock.with(path, onWait: { environment.interaction.say(notice) }) { _ in
            try await client.decide(id, with: answer)
        }
    }
}
