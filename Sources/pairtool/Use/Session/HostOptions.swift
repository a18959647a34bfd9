import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import Identity
import LocalState
import PairingAgent

/// Which paired host a command uses.
struct HostOptions: ParsableArguments {
    @Option(
        name: .customLong("host"),
        help:
            "The paired host, by name, id prefix or ADDRESS[:PORT]. Default: $PAIRTOOL_HOST, then the default host.",
        completion: .custom { _, _, _ in Completions.hosts() }
    )
    var host: String?

    @Option(help: "Refuse a host that is not verified (exit code 13).")
    var require: RequiredTrust?

    @Flag(help: "Accept a legacy host at a new address without asking.")
    var allowLegacy = false

    @OptionGroup(title: "Discovery options") var discovery: DiscoveryOptions

    /// Runs a body with the host that the options, the environment or the default selects.
    ///
    /// - Parameter saysWaiting: Whether the user is told afterwards that prompts wait for the host.
    func withSession<R>(
        _ environment: AppEnvironment,
        saysWaiting: Bool = true,
        configuration: CompanionClientConfiguration = .default,
        _ body: (HostSession) async throws -> R
    ) async throws -> R {
        let selected = try await selected(environment)
        return try await HostSession.with(selected, environment: environment, configuration: configuration) { session in
            let result = try await body(session)
            if !session.offer.isLocal { try noteContact(with: selected, environment) }
            if saysWaiting { session.sayWaiting() }
            return result
        }
    }

    /// Runs a body with the host repeatedly until the task is cancelled. The body returns when it has lost the host,
    /// which is then searched for again.
    func withSessions(
        _ environment: AppEnvironment,
        saysWaiting: Bool = true,
        configuration: CompanionClientConfiguration = .default,
        _ body: (HostSession) async throws -> Void
    ) async throws {
        try await repeating(environment) {
            try await withSession(environment, saysWaiting: saysWaiting, configuration: configuration, body)
        }
    }

    /// Runs a body repeatedly until the task is cancelled. A host that cannot be reached is waited for; if that is so
    /// from the start, the user is told.
    func repeating(_ environment: AppEnvironment, _ body: () async throws -> Void) async throws {
        var isWaiting = false
        while true {
            do {
                try await body()
                isWaiting = true
            } catch {
                // The host may be changing its address, or be switched off.
                let failure = AppError(describing: error)
                guard [.unreachable, .timedOut].contains(failure.kind), !Task.isCancelled else { throw error }
                if !isWaiting {
                    environment.interaction.warn(failure)
                    environment.interaction.say("Waiting for it. Ctrl-C ends it.")
                }
                isWaiting = true
                try await ContinuousClock().sleep(for: Reconnection.pause)
            }
        }
    }

    /// The selected host with its current address.
    func selected(_ environment: AppEnvironment) async throws -> PairedHost {
        let hosts = try PairedHostStore(directory: environment.paths.data).load()
        var selected: PairedHost
        var places: [CompanionEndpoint]?
        if let word = host ?? environment.hostVariable, let place = HostAddress(word),
            !hosts.hosts.contains(where: { $0.name == word })
        {
            let usual = try? PairedHostSelection.select(host == nil ? nil : environment.hostVariable, in: hosts)
            let found = try await HostPlaceResolver(place: place, hosts: hosts, usual: usual).resolve()
            (selected, places) = found
            guard selected.family.behavior.isFollowed || found.endpoints.contains(selected.endpoint) else {
                throw PairedHostSelection.unknown(place)
            }
        } else {
            selected = try PairedHostSelection.select(host ?? environment.hostVariable, in: hosts)
        }
        try require?.check(selected)
        guard selected.family.behavior.isFollowed else { return selected }
        var environment = environment
        environment.discovery = discovery.choice
        // A host that was last reached on this machine advertises on `lo`.
        let usualInterface = selected.endpoint.address.scope == .loopback ? "lo" : nil
        return try await HostFinder(
            host: selected,
            environment: environment,
            discovery: try environment.discoveryClient(usualInterface: usualInterface),
            allowsLegacy: allowLegacy
        ).find(at: places)
    }

    /// Stores when the host was last reached, at most once a minute to save disk writes.
    func noteContact(with host: PairedHost, _ environment: AppEnvironment) throws {
        let now = environment.now()
        guard now.timeIntervalSince(host.lastSeenAt ?? .distantPast) > 60 else { return }
        try PairedHostStore(directory: environment.paths.data).update { hosts in
            guard let index = hosts.hosts.firstIndex(where: { $0.id == host.id }) else { return }
            hosts.hosts[index].lastSeenAt = now
        }
    }
}
