import CompanionClient
import CompanionWire
import PairingAgent

/// A paired host, what it offers, and where the command writes.
struct HostSession: Sendable {
    let host: PairedHost
    /// What hosts of every family offer.
    let offer: HostClient
    let output: Output
    /// The client of a CopilotForge host; nil with other families.
    private let companion: CompanionAPIClient?

    var context: CommandContext { output.context }
    /// Whether commands are signed and turns can be followed (protocol v2).
    var isVerified: Bool { host.trust == .verified }

    /// Runs a body with a session; errors of the connection call the host by its name.
    static func with<R>(
        _ host: PairedHost,
        output: Output,
        configuration: CompanionClientConfiguration = .default,
        _ body: (HostSession) async throws -> R
    ) async throws -> R {
        do {
            return try await open(host, output: output, configuration: configuration, body)
        } catch let error as CompanionClientError {
            throw error.naming(host)
        }
    }

    private static func open<R>(
        _ host: PairedHost,
        output: Output,
        configuration: CompanionClientConfiguration,
        _ body: (HostSession) async throws -> R
    ) async throws -> R {
        switch host.family {
        case .copilotforge:
            try await CompanionAPIClient.withClient(
                endpoint: host.endpoint,
                security: try host.security(),
                credentials: host.trust == .verified ? PairedCredentials(host: host, context: output.context) : nil,
                configuration: configuration,
                logger: LoggingSetup.logger("client", context: output.context),
                clock: output.context.clock
            ) { client in
                let session = HostSession(host: host, offer: HostClient(client), output: output, companion: client)
                // Before an error is reported, which may be about the missing items.
                let result: Result<R, any Error>
                do {
                    result = .success(try await body(session))
                } catch {
                    result = .failure(error)
                }
                client.leftOut.report(to: output)
                return try result.get()
            }
        case .jarvis:
            try await JarvisSessions.with(host, output: output, configuration: configuration) { offer in
                try await body(HostSession(host: host, offer: offer, output: output, companion: nil))
            }
        case .aicli:
            try await AICLISessions.with(host, output: output, configuration: configuration) { aicli in
                try await body(HostSession(host: host, offer: aicli.hostClient, output: output, companion: nil))
            }
        case .lumi:
            try await AgentSessions.with(host, output: output) { offer in
                try await body(HostSession(host: host, offer: offer, output: output, companion: nil))
            }
        }
    }
}

// MARK: What is asked of a host

extension HostSession {
    /// The client of a CopilotForge host.
    ///
    /// - Throws: ``CommandError`` with the code `host.cannot` for a host of another family.
    var copilotForge: CompanionAPIClient {
        get throws { try offered(companion, "this") }
    }

    var devices: any DeviceManaging {
        get throws { try offered(offer.devices, "a list of devices") }
    }

    var models: any ModelListing {
        get throws { try offered(offer.models, "a choice of models") }
    }

    var projects: any ProjectBrowsing {
        get throws { try offered(offer.projects, "projects") }
    }

    var chats: any ChatBrowsing {
        get throws { try offered(offer.chats, "chats") }
    }

    private func offered<Capability>(_ capability: Capability?, _ what: String) throws -> Capability {
        if let capability { return capability }
        throw CommandError(
            .failed,
            "host.cannot",
            "\(host.name) is a \(host.family.displayName) host, and such hosts do not offer \(what)",
            next: "see what it can do: pairtool capabilities --host \(host.id.prefix(8))"
        )
    }
}

extension PairedHost {
    /// The host's name, with its address in brackets.
    var title: String {
        let address = "\(endpoint)"
        return name.has(address) ? name : "\(name) (\(address))"
    }
}

extension CompanionClientError {
    /// The same error with the host's name, and its address in brackets.
    func naming(_ host: PairedHost) -> CompanionClientError {
        let address = "\(host.endpoint)"
        guard !host.name.has(address), let place = message.utf8.firstRange(of: address.utf8) else { return self }
        var error = self
        error.message.replaceSubrange(place, with: host.title)
        return error
    }
}
