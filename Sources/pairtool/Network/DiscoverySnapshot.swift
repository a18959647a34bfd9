import CompanionClient
import CompanionWire
import Discovery
import NIOConcurrencyHelpers

/// What one search of the network has found so far.
struct DiscoverySnapshot: Sendable {
    var engine: DiscoveryEngineKind
    /// Sorted by name after the search.
    var hosts: [DiscoveredHost] = []
    /// Why some hosts may be missing.
    var incomplete: [Incompleteness] = []
    private var places: [DiscoveredHost.Key: Int] = [:]
    /// Whether all known answers have arrived and are resolved.
    var isSettled = false
    /// The error that last interrupted the engine.
    var problem: String?

    init(engine: DiscoveryEngineKind, hosts: [DiscoveredHost] = [], isSettled: Bool = false) {
        self.engine = engine
        self.hosts = hosts
        self.isSettled = isSettled
    }

    /// Searches until a condition holds or the time limit is reached.
    ///
    /// - Parameters:
    ///   - isEnough: Called after every event; may remove hosts from the snapshot.
    ///   - conclude: Gets the snapshot, settled or not, before the engine is shut down, which takes some time. Default:
    ///     returns the snapshot.
    /// - Returns: The result of `conclude`.
    static func run<Result: Sendable>(
        client: CompanionDiscoveryClient,
        types: [ServiceType],
        limit: Duration,
        until isEnough: @escaping @Sendable (inout DiscoverySnapshot) -> Bool,
        then conclude: (DiscoverySnapshot) async throws -> Result = { (snapshot: DiscoverySnapshot) in snapshot }
    ) async throws -> Result {
        let end = ContinuousClock.now + limit
        return try await client.withBrowse(types: types, opening: limit) { engine, events in
            let snapshot = NIOLockedValueBox(DiscoverySnapshot(engine: engine))
            _ = try await withTimeLimit(end - .now) {
                for await event in events {
                    let enough = snapshot.withLockedValue { snapshot in
                        snapshot.take(event)
                        return isEnough(&snapshot)
                    }
                    if enough { break }
                }
            }
            try Task.checkCancellation()
            return try await conclude(snapshot.withLockedValue { $0.sorted() })
        }
    }

    private func sorted() -> DiscoverySnapshot {
        var snapshot = self
        snapshot.hosts.sort { ($0.name, $0.id) < ($1.name, $1.id) }
        snapshot.places = Dictionary(uniqueKeysWithValues: snapshot.hosts.enumerated().map { ($1.key, $0) })
        return snapshot
    }

    /// Merges another search. Where both know a host, the other search takes precedence. A host that only one of them
    /// could resolve is listed once, as resolved.
    mutating func merge(_ other: DiscoverySnapshot) {
        self = sorted()
        engine = other.engine
        isSettled = other.isSettled
        incomplete = other.incomplete
        problem = other.problem
        other.hosts.forEach { take(.added($0)) }
        let resolved = Set(hosts.filter { !$0.unresolved }.map(Advert.init))
        hosts.removeAll { $0.unresolved && resolved.contains(Advert($0)) }
        self = sorted()
    }

    /// Identifies a host before it is resolved.
    private struct Advert: Hashable {
        var family: HostFamily
        var instanceName: String

        init(_ host: DiscoveredHost) {
            (family, instanceName) = (host.family, host.instanceName)
        }
    }

    mutating func take(_ event: DiscoveryEvent) {
        switch event {
        case .added(let host), .changed(let host):
            if let place = places[host.key] {
                hosts[place] = host
            } else {
                places[host.key] = hosts.count
                hosts.append(host)
            }
        case .removed(let host):
            guard let place = places.removeValue(forKey: host.key), let last = hosts.popLast() else { return }
            guard place < hosts.count else { return }
            hosts[place] = last
            places[last.key] = place
        case .incomplete(let why): if !incomplete.contains(why) { incomplete.append(why) }
        case .settled: isSettled = true
        case .interrupted(let error, _):
            isSettled = false
            problem = error.description
        case .resumed(let engine):
            problem = nil
            // What limited the first engine may not limit this one.
            if engine != self.engine { incomplete = [] }
            self.engine = engine
        }
    }
}

extension DiscoverySnapshot {
    /// The error if no host was found.
    var nobody: CommandError {
        guard isSettled else {
            return CommandError(
                .timedOut,
                "discovery.timed_out",
                "no host was found in time" + (problem.map { ": \($0)" } ?? ""),
                next: "pairtool discover --timeout 30"
            )
        }
        return CommandError(
            .nothingFound,
            "discovery.none",
            """
            no host was found (\(engine.rawValue) mDNS engine). Deployed CopilotForge Macs do not advertise \
            themselves: those are named by address
            """,
            next: "pairtool pair --url http://ADDRESS:7878, or "
                + (engine == .daemon
                    ? "look again with the other engine: add --engine embedded"
                    : "see what may be in the way: pairtool doctor")
        )
    }
}
