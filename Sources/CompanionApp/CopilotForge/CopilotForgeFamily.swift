import CompanionClient
import CompanionWire
import Discovery
import Identity
import LocalState
import PairingAgent
import Relay

/// Hosts of CopilotForge: protocol v1 (legacy) and v2 (verified).
struct CopilotForgeFamily: Family {
    package let facts = FamilyFacts(
        name: .copilotforge,
        usualPort: CompanionEndpoint.defaultPort,
        pairCommand: "pairtool pair",
        firstCommand: "pairtool projects",
        codes: [.digits, .picture],
        canBeVerified: true,
        queuing: .untilReceived,
        isFollowed: true
    )

    func capabilities(of host: PairedHost, health: HostHealth?) -> FamilyCapabilities {
        let both = Capability.browsing.union([.outbox, .models, .devices, .disconnect, .events])
        guard host.trust != .verified else {
            return FamilyCapabilities(offered: both.union([.create, .changes, .worktrees, .cancel, .approvals]))
        }
        let old = "needs protocol 2: update the host, then pair again"
        return FamilyCapabilities(
            offered: both,
            notes: [.events: "polled every few seconds (protocol 1)"],
            reasons: [.create: old, .cancel: old, .changes: old, .worktrees: old, .approvals: old]
        )
    }

    func pair(_ pairing: FamilyPairing) async throws -> PairingOutcome {
        try await CopilotForgePairing(pairing).run()
    }

    func forget(_ host: PairedHost, environment: AppEnvironment) throws {
        try SessionTokenStore(directory: environment.paths.data).forget(hostID: host.id)
        let others = try PairedHostStore(directory: environment.paths.data).load().hosts.filter { $0.id != host.id }
        if let id = host.relayID, !others.contains(where: { $0.relayID == id }) {
            try environment.tunnels.identityFile(forHost: id).remove()
        }
    }

    func open<R>(
        _ host: PairedHost,
        environment: AppEnvironment,
        configuration: CompanionClientConfiguration,
        _ body: (HostClient) async throws -> R
    ) async throws -> R {
        let now = environment.now
        return try await withClient(of: host, environment: environment, configuration: configuration) { client in
            var offer = HostClient(devices: client, models: client, projects: client, chats: client)
            if host.trust == .verified {
                offer.turns = CommandedTurns(client: client, now: now)
                let commands = SignedCommands(client: client)
                (offer.creation, offer.cancellation, offer.agents) = (commands, commands, commands)
                offer.events = LiveEvents(client: client)
                offer.changes = HostChanges(client: client)
                offer.approvals = CommandedApprovals(client: client)
            } else {
                offer.turns = StreamedTurns(client: client, deviceID: host.deviceID, now: now)
                offer.events = PolledEvents(client: client, now: now)
            }
            // Runs before the error is reported, because the error may be about the missing items.
            let result: Result<R, any Error>
            do {
                result = .success(try await body(offer))
            } catch {
                result = .failure(error)
            }
            client.leftOut.report(to: environment.interaction)
            if case .success = result { await host.learnRoutes(over: client, atMostEvery: 3600, in: environment) }
            return try result.get()
        }
    }

    private func withClient<R>(
        of host: PairedHost,
        environment: AppEnvironment,
        configuration: CompanionClientConfiguration,
        _ body: (CompanionAPIClient) async throws -> R
    ) async throws -> R {
        let security = try host.security()
        return try await host.withLine(in: environment) { line in
            try await CompanionAPIClient.withClient(
                line: line,
                security: security,
                credentials: host.trust == .verified ? PairedCredentials(host: host, environment: environment) : nil,
                configuration: configuration,
                logger: environment.logger("client"),
                clock: environment.clock,
                body
            )
        }
    }
}

// MARK: Health

extension CopilotForgeFamily {
    func health(
        at endpoint: CompanionEndpoint,
        speaksTLS: Bool,
        timeouts: CompanionClientConfiguration.Timeouts
    ) async throws -> HostHealth {
        let configuration = CompanionClientConfiguration(timeouts: timeouts)
        return try await CompanionAPIClient.withClient(
            endpoint: endpoint,
            security: try await .unproven(at: endpoint, speaksTLS: speaksTLS, configuration: configuration),
            configuration: configuration
        ) { HostHealth(try await $0.health(), at: endpoint) }
    }

    func health(
        of host: PairedHost,
        environment: AppEnvironment,
        timeouts: CompanionClientConfiguration.Timeouts
    ) async throws -> HostHealth {
        let configuration = CompanionClientConfiguration(timeouts: timeouts)
        return try await withClient(of: host, environment: environment, configuration: configuration) { client in
            let health = try await health(of: host, with: client)
            await host.learnRoutes(over: client, atMostEvery: 60, in: environment)
            return health
        }
    }

    private func health(of host: PairedHost, with client: CompanionAPIClient) async throws -> HostHealth {
        var health = HostHealth(try await client.health(), at: client.target)
        do {
            health.standing = HostHealth.Standing(try await client.status(), of: host)
        } catch let error as CompanionClientError {
            health.standing = HostHealth.Standing(isConnected: false, failure: error)
        }
        health.assistant = .account(isSignedIn: try? await client.authStatus().authenticated)
        health.clockOffset = client.clockOffset
        return health
    }

    /// A verified host reports changes; a legacy one is asked every `interval`.
    func watchHealth(
        of host: PairedHost,
        every interval: Duration,
        environment: AppEnvironment,
        _ take: (Result<HostHealth, CompanionClientError>) async throws -> Void
    ) async throws {
        try await withClient(of: host, environment: environment, configuration: .default) { client in
            guard host.trust == .verified else {
                return try await poll(every: interval, take) { try await health(of: host, with: client) }
            }
            try await take(.success(try await health(of: host, with: client)))
            try await LiveEventStream(client: client, patience: Reconnection.patience).run { event in
                switch event {
                case .event, .resumed: try await take(.success(try await health(of: host, with: client)))
                case .interrupted(let reason):
                    try await take(.failure(CompanionClientError(.unreachable, message: reason, delivery: .unknown)))
                }
            }
        }
    }
}

extension HostHealth {
    fileprivate init(_ health: CompanionHealthResponse, at place: some CustomStringConvertible) {
        self.init(
            service: health.service,
            version: health.version,
            place: "\(place)",
            isForeign: !health.isCompanion,
            protocolVersions: health.protocolVersions ?? [1]
        )
    }
}

extension HostHealth.Standing {
    /// - Parameter status: The host's report of its devices.
    fileprivate init(_ status: CompanionStatusResponse, of host: PairedHost) {
        // With protocol v2 several devices are connected at a time, so it counts whether the host knows this one.
        let known = host.trust == .verified ? status.device?.id : status.connectedDevice?.id
        self.init(
            isConnected: known == host.deviceID,
            connectedDevice: status.connectedDevice,
            deviceName: status.device?.name,
            permissions: status.permissions,
            expiresAt: status.expiresAt
        )
    }
}

extension LeftOutItems {
    /// Reports the items in a host's lists that could not be read.
    func report(to interaction: any Interaction) {
        let counts = counts
        for kind in Kind.allCases {
            guard let count = counts[kind] else { continue }
            let items = count == 1 ? String(kind.rawValue.dropLast()) : kind.rawValue
            interaction.warn(
                AppError(
                    .failed,
                    "host.left_out",
                    "\(count) \(items) could not be read and \(count == 1 ? "is" : "are") left out"
                )
            )
        }
    }
}

// MARK: Advertisements

extension CopilotForgeFamily {
    func transports(
        of host: DiscoveredHost,
        among endpoints: [DiscoveredEndpoint]
    ) -> (plain: [CompanionEndpoint], secure: [CompanionEndpoint]) {
        // On hosts that also speak plain HTTP on another port, `_cf-companion._tcp` points to the TLS port. A host
        // whose TXT record does not mention version 2 speaks plain HTTP at the advertised port.
        let speaksTLS = host.txt["tls"] != nil || host.speaksV2
        let plain = endpoints.filter { $0.type != .companionShort || !speaksTLS }
        var secure = endpoints.filter { $0.type == .companionShort && speaksTLS }.map(\.endpoint)
        if let port = host.txt["tls"].flatMap(Int.init), (1...65535).contains(port) {
            secure += plain.map { CompanionEndpoint(address: $0.endpoint.address, port: port) }
        }
        return (plain.map(\.endpoint).unique, secure.unique)
    }
}

extension DiscoveredHost {
    /// Whether the advertisement names protocol 2.
    var speaksV2: Bool { txt["v"] == "2" }
}

// MARK: Hosts that moved

extension CopilotForgeFamily {
    /// For a verified host these are all addresses where it may speak TLS, whatever the TXT records say: a forged
    /// record must not hide the host's own.
    func places(of host: PairedHost, in claims: [DiscoveredHost]) -> [CompanionEndpoint] {
        claims.flatMap { claim in
            guard host.trust == .verified else { return transports(of: claim, among: claim.endpoints).plain }
            let short = claim.endpoints.filter { $0.type == .companionShort }.map(\.endpoint)
            let plain = claim.endpoints.filter { $0.type != .companionShort }.map(\.endpoint)
            let ports = claim.txt["tls"].flatMap(Int.init).map { [$0] } ?? []
            let beside = plain.flatMap { place in
                (ports + [place.port + 1]).filter { (1...65535).contains($0) }
                    .map { CompanionEndpoint(address: place.address, port: $0) }
            }
            return short + beside
        }.unique
    }

    /// A verified host has to show its TLS key. A legacy one only has to accept a connection at its stored address; at
    /// a new one it must at least answer like a companion host.
    func prover(of host: PairedHost) throws -> @Sendable (CompanionEndpoint) async throws -> Void {
        let configuration = CompanionClientConfiguration(timeouts: .lookup)
        if let pin = try host.security().certificate?.spki {
            return { _ = try await PinnedTLS.certificate(of: $0, expecting: pin, configuration: configuration) }
        }
        return { endpoint in
            guard endpoint != host.endpoint else {
                return try await TCPProbe.connect(to: endpoint, timeouts: .lookup)
            }
            try await CompanionAPIClient.withClient(endpoint: endpoint, configuration: configuration) {
                _ = try await $0.requireCompanion()
            }
        }
    }
}
