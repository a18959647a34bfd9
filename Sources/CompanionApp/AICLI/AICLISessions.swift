package import CompanionClient
import CompanionWire
import FoundationEssentials
package import Identity
import LocalState
import PairingAgent

/// Opens paired AICLI servers.
package enum AICLISessions {
    /// Runs a body with a client of the server and its local store.
    package static func with<R>(
        _ host: PairedHost,
        environment: AppEnvironment,
        configuration: CompanionClientConfiguration = .default,
        _ body: (AICLIHost) async throws -> R
    ) async throws -> R {
        return try await withClient(of: host, environment: environment, configuration: configuration) { client in
            var aicli = AICLIHost(
                client: client,
                store: store(of: host.id, environment: environment),
                permissions: AICLIPermissionQuestion.answering(environment, hostName: host.name)
            )
            aicli.runner.now = environment.now
            aicli.notice = { environment.interaction.say($0) }
            return try await body(aicli)
        }
    }

    static func withClient<R>(
        of host: PairedHost,
        environment: AppEnvironment,
        configuration: CompanionClientConfiguration,
        _ body: (AICLIClient) async throws -> R
    ) async throws -> R {
        try await AICLIClient.withClient(
            endpoint: host.endpoint,
            security: try await security(of: host, configuration: configuration),
            token: try HostSecretStore(directory: environment.paths.data).load(hostID: host.id),
            deviceID: host.deviceID,
            configuration: configuration,
            logger: environment.logger("aicli"),
            body
        )
    }

    /// Plain HTTP, or TLS with the key from the pairing and no other.
    ///
    /// - Throws: ``CompanionClientError/Code/pinMismatch``, which names both keys.
    static func security(
        of host: PairedHost,
        configuration: CompanionClientConfiguration = .default
    ) async throws -> HostSecurity {
        guard let pin = host.spki else { return .plain }
        do {
            return .pinned(
                try await PinnedTLS.certificate(of: host.endpoint, expecting: pin, configuration: configuration)
            )
        } catch let error as CompanionClientError where error.code != .pinMismatch {
            // The host may be unreachable. The next request will notice that and may be able to wait.
            let der = host.certificate.flatMap(Base64.decode)
            guard let kept = try der.map(PinnedCertificate.init), kept.spki == pin else { throw error }
            return .pinned(kept)
        }
    }

    static func store(of hostID: String, environment: AppEnvironment) -> AICLIStore {
        AICLIStore(data: environment.paths.data, hostID: hostID)
    }
}

/// Asks the user the questions of an agent.
enum AICLIPermissionQuestion {
    /// - Returns: A function that asks the user or, if there is no terminal to ask on, denies every permission.
    static func answering(_ environment: AppEnvironment, hostName: String) -> AICLIPermissionAnswering {
        guard environment.interaction.canAsk else {
            return { _ in
                environment.interaction.say(
                    "The agent asked for permission, and there is no terminal to ask on, so it is denied. "
                        + "To allow it next time: pairtool send --allow-tool NAME"
                )
                return .reject(always: false, reason: nil)
            }
        }
        return { approval in
            await TurnNotifier(environment: environment, hostName: hostName).show(.question, chat: "")
            let answer = try await environment.interaction.answer(approval, mayDecide: true, mayAlways: false)
            return answer ?? .reject(always: false, reason: nil)
        }
    }
}
