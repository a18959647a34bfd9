package import CompanionClient
import CompanionWire
import FoundationEssentials
package import Identity
import LocalState
import PairingAgent

/// Which paired host a task uses.
package struct HostSelector: Sendable {
    /// A host's name, the beginning of its id, or `ADDRESS[:PORT]`; nil for the one in `PAIRTOOL_HOST`, then the default
    /// host.
    package var name: String?
    /// The trust that the host must have; nil for any.
    package var required: RequiredTrust?
    /// Whether to accept a legacy host at a new address without asking the user.
    package var allowsLegacy = false
    /// How a host that has moved is looked for.
    package var discovery = DiscoveryChoice()

    package init(
        name: String? = nil,
        required: RequiredTrust? = nil,
        allowsLegacy: Bool = false,
        discovery: DiscoveryChoice = DiscoveryChoice()
    ) {
        self.name = name
        self.required = required
        self.allowsLegacy = allowsLegacy
        self.discovery = discovery
    }

    /// Runs a body with the host that the options, the environment or the default selects.
    ///
    /// - Parameter saysWaiting: Whether the user is told afterwards that prompts wait for the host.
    package func withSession<R>(
        _ environment: AppEnvironment,
        saysWaiting: Bool = true,
        configuration: CompanionClientConfiguration = .default,
        _ body: (HostSession) async throws -> R
    ) async throws -> R {
        let selected = try await selected(environment)
        return try await HostSession.with(selected, environment: environment, configuration: configuration) { session in
            let result = try await body(session)
            if !session.offer.isLocal { try noteContact(with: selected, in: environment) }
            if saysWaiting { session.sayWaiting() }
            return result
        }
    }

    /// Runs a body with the host repeatedly until the task is cancelled. The body returns when it has lost the host,
    /// which is then searched for again.
    package func withSessions(
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
    package func repeating(_ environment: AppEnvironment, _ body: () async throws -> Void) async throws {
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
                    environment.interaction.say("Waiting for the host. Ctrl-C ends it.")
                }
                isWaiting = true
                try await ContinuousClock().sleep(for: Reconnection.pause)
            }
        }
    }

    /// The selected host with its current address.
    package func selected(_ environment: AppEnvironment) async throws -> PairedHost {
        let hosts = try PairedHostStore(directory: environment.paths.data).load()
        var selected: PairedHost
        var places: [HostPlace]?
        if let word = name ?? environment.hostVariable, let place = HostAddress(word),
            !hosts.hosts.contains(where: { $0.name == word })
        {
            let usual = try? PairedHostSelection.select(name == nil ? nil : environment.hostVariable, in: hosts)
            let found = try await HostPlaceResolver(place: place, hosts: hosts, usual: usual).resolve()
            (selected, places) = (found.host, found.endpoints.map(HostPlace.address))
            guard selected.family.behavior.facts.isFollowed || found.endpoints.contains(selected.endpoint) else {
                throw PairedHostSelection.unknown(place)
            }
        } else if let route = route(name ?? environment.hostVariable, among: hosts) {
            selected = try await HostPlaceResolver.host(at: route, among: hosts, in: environment)
            places = [.route(route)]
        } else {
            selected = try PairedHostSelection.select(name ?? environment.hostVariable, in: hosts)
        }
        try required?.check(selected)
        guard selected.family.behavior.facts.isFollowed else { return selected }
        var environment = environment
        environment.discovery = discovery
        // A host that was last reached on this machine advertises on `lo`.
        let usualInterface = selected.isFar != true && selected.endpoint.address.scope == .loopback ? "lo" : nil
        return try await HostFinder(
            host: selected,
            environment: environment,
            discovery: try environment.discoveryClient(usualInterface: usualInterface),
            allowsLegacy: allowsLegacy
        ).find(at: places)
    }

    /// The route that the user's word is; nil for one that means a paired host by its name or id.
    private func route(_ word: String?, among hosts: PairedHosts) -> HostRoute? {
        guard let word, word.has("://") || word.has("."), hosts.matching(word).isEmpty else { return nil }
        return HostRoute(word)
    }

    /// Stores when the host was last reached, at most once a minute to save disk writes.
    package func noteContact(with host: PairedHost, in environment: AppEnvironment) throws {
        let now = environment.now()
        guard host.revokedAt != nil || now.timeIntervalSince(host.lastSeenAt ?? .distantPast) > 60 else { return }
        try PairedHostStore(directory: environment.paths.data).update { hosts in
            guard let index = hosts.hosts.firstIndex(where: { $0.id == host.id }) else { return }
            (hosts.hosts[index].lastSeenAt, hosts.hosts[index].revokedAt) = (now, nil)
        }
    }
}
