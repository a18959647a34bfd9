import CompanionClient
import CompanionWire
import FoundationEssentials
import Identity
import LocalState

/// Opens paired AICLI servers.
enum AICLISessions {
    /// Runs a body with a client of the server and its local store.
    static func with<R>(
        _ host: PairedHost,
        output: Output,
        configuration: CompanionClientConfiguration = .default,
        _ body: (AICLIHost) async throws -> R
    ) async throws -> R {
        let context = output.context
        return try await withClient(of: host, context: context, configuration: configuration) { client in
            var aicli = AICLIHost(
                client: client,
                store: store(of: host.id, context: context),
                permissions: AICLIPermissionQuestion.answering(output, hostName: host.name)
            )
            aicli.runner.now = context.now
            aicli.notice = { output.say($0) }
            return try await body(aicli)
        }
    }

    static func withClient<R>(
        of host: PairedHost,
        context: CommandContext,
        configuration: CompanionClientConfiguration,
        _ body: (AICLIClient) async throws -> R
    ) async throws -> R {
        try await AICLIClient.withClient(
            endpoint: host.endpoint,
            security: try await security(of: host, configuration: configuration),
            token: try HostSecretStore(directory: context.paths.data).load(hostID: host.id),
            deviceID: host.deviceID,
            configuration: configuration,
            logger: LoggingSetup.logger("aicli", context: context),
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

    static func store(of hostID: String, context: CommandContext) -> AICLIStore {
        AICLIStore(data: context.paths.data, hostID: hostID)
    }
}

extension HostOptions {
    /// Runs a body with the selected AICLI server.
    ///
    /// - Parameter matter: The subject of the command, such as `sessions`.
    func withAICLI<R>(
        _ options: OutputOptions,
        for matter: String,
        _ body: (AICLIHost) async throws -> R
    ) async throws -> R {
        let output = options.output
        let host = try paired(.aicli, for: matter, output.context)
        let result = try await HistoryRecorder.with(host, output) { recorder in
            try await host.naming {
                try await AICLISessions.with(host, output: output) { try await body($0.recorded(by: recorder)) }
            }
        }
        try noteContact(with: host, output.context)
        return result
    }
}

/// Asks the user the questions of an agent.
enum AICLIPermissionQuestion {
    /// - Returns: A function that asks the user or, if there is no terminal to ask on, denies every permission.
    static func answering(_ output: Output, hostName: String) -> AICLIPermissionAnswering {
        let context = output.context
        guard context.canAsk else {
            return { _ in
                output.say(
                    "The agent asked for permission, and there is no terminal to ask on, so it is denied. "
                        + "To allow it next time: pairtool send --allow-tool NAME"
                )
                return .reject(always: false, reason: nil)
            }
        }
        return { approval in
            let text = TerminalText.block("\nThe agent asks: \(approval.title)")
            let options = approval.options ?? []
            let question = Question(context: context)
            await TurnNotifier(context: context, hostName: hostName).show(.question, chat: "")
            // If the turn ends while the question is open, stop reading from the terminal.
            return try await withTaskCancellationHandler { () async throws -> ApprovalAnswer in
                // All words mean yes or no.
                if options.allSatisfy({ $0.kind != .other }) {
                    return try await question.confirm(text)
                        ? .allow(always: false) : .reject(always: false, reason: nil)
                }
                guard let index = try await question.choose(text, from: options.map(\.name)) else {
                    return .reject(always: false, reason: nil)
                }
                return .option(options[index].id)
            } onCancel: {
                Interrupts.shared.wakeReader()
            }
        }
    }
}
