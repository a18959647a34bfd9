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
                try await ContinuousClock().sleep(for: Self.pause)
            }
        }
    }

    /// The pause between two searches for a host that was not found.
    static let pause = Duration.seconds(5)
    /// Failed connections in a row after which a watched host is searched for at other addresses.
    static let patience = 2

    /// The selected host with its current address.
    func selected(_ environment: AppEnvironment) async throws -> PairedHost {
        let hosts = try PairedHostStore(directory: environment.paths.data).load()
        var selected: PairedHost
        var places: [CompanionEndpoint]?
        if let word = host ?? environment.hostVariable, let place = HostPlace(word),
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

extension AppEnvironment {
    /// The value of `PAIRTOOL_HOST`; nil if it is unset or empty.
    var hostVariable: String? { variables["PAIRTOOL_HOST"].flatMap { $0.isEmpty ? nil : $0 } }
}

/// Selects a paired host.
enum PairedHostSelection {
    /// - Parameter word: A name or id prefix; nil means the default host.
    /// - Throws: ``AppError``, also for an empty name, as in `--host "$UNSET"`.
    static func select(_ word: String?, in hosts: PairedHosts) throws -> PairedHost {
        guard !hosts.hosts.isEmpty else {
            throw AppError(.notPaired, "host.none_paired", "no host is paired yet", next: "pairtool pair")
        }
        guard let word else {
            if let host = hosts.defaultHost { return host }
            throw ambiguous(hosts.hosts, "several hosts are paired, and none is the default")
        }
        try requireName(word)
        let found = hosts.matching(word)
        if let host = found.first, found.count == 1 { return host }
        guard found.isEmpty else {
            throw AppError(
                .usage,
                "host.ambiguous",
                "“\(word)” matches several: \(names(found))",
                next: "give more of the id: pairtool hosts"
            )
        }
        let isShort = word.count < 4 && hosts.hosts.contains { $0.id.begins(with: word) }
        throw AppError(
            .notPaired,
            "host.unknown",
            "no paired host is called “\(word)”"
                + (NearestWord.of(word, in: hosts.hosts.map(\.name)).map { "; did you mean “\($0)”?" }
                    ?? "; the paired hosts are: \(names(hosts.hosts))"),
            next: isShort
                ? "give at least four characters of the id"
                : "see the paired hosts: pairtool hosts, or pair: pairtool pair"
        )
    }

    /// Selects a host without asking any.
    ///
    /// - Returns: nil if none was last reached at the address that was named.
    static func selectKnown(_ word: String?, in hosts: PairedHosts) throws -> PairedHost? {
        if let word, let place = HostPlace(word), !hosts.hosts.contains(where: { $0.name.isSame(as: word) }) {
            return hosts.hosts.first { $0.endpoint == place.endpoint($0.endpoint.port) }
        }
        return try select(word, in: hosts)
    }

    static func requireName(_ word: String) throws {
        guard word.isEmpty else { return }
        throw AppError(
            .usage,
            "usage",
            "the name of the host is empty",
            next: "see the paired hosts: pairtool hosts"
        )
    }

    static func unknown(_ place: HostPlace) -> AppError {
        AppError(
            .notPaired,
            "host.unknown",
            "no paired host is at \(place.address)\(place.port.map { ", port \($0)" } ?? "")",
            next: "see the paired hosts: pairtool hosts, or pair: pairtool pair"
        )
    }

    static func ambiguous(_ hosts: [PairedHost], _ why: String) -> AppError {
        AppError(
            .usage,
            "host.ambiguous",
            "\(why): \(names(hosts))",
            next: "name one with --host, or: pairtool hosts default NAME"
        )
    }

    private static func names(_ hosts: [PairedHost]) -> String {
        hosts.map { "\($0.name) (\($0.id.shortID))" }.joined(separator: ", ")
    }
}
