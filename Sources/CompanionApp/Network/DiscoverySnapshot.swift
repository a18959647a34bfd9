import CompanionClient
package import CompanionWire
package import Discovery
import NIOConcurrencyHelpers
package import PairingAgent

/// The hosts that one search of the network has found so far, and whether the search is complete.
package struct DiscoverySnapshot: Sendable {
    package var engine: DiscoveryEngineKind
    /// Sorted by name after the search.
    private(set) var seen: HostsInSight
    /// Why some hosts may be missing.
    package var incomplete: [Incompleteness] = []
    /// Whether all known answers have arrived and are resolved.
    package var isSettled = false
    /// The error that last interrupted the engine.
    var problem: String?

    init(engine: DiscoveryEngineKind, hosts: [DiscoveredHost] = [], isSettled: Bool = false) {
        self.engine = engine
        self.seen = HostsInSight(hosts)
        self.isSettled = isSettled
    }

    package var hosts: [DiscoveredHost] { seen.hosts }

    /// Searches until a condition holds or the time limit is reached.
    ///
    /// - Parameters:
    ///   - isEnough: Called after every event.
    ///   - conclude: Gets the snapshot, settled or not, before the engine is shut down, which takes some time. Default:
    ///     returns the snapshot.
    /// - Returns: The result of `conclude`.
    package static func run<Result: Sendable>(
        client: CompanionDiscoveryClient,
        types: [ServiceType],
        limit: Duration,
        until isEnough: @escaping @Sendable (DiscoverySnapshot) -> Bool,
        then conclude: (DiscoverySnapshot) async throws -> Result = { (snapshot: DiscoverySnapshot) in snapshot }
    ) async throws -> Result {
        let end = ContinuousClock.now + limit
        return try await client.withBrowse(types: types, opening: limit) { engine, events in
            let snapshot = NIOLockedValueBox(DiscoverySnapshot(engine: engine))
            _ = try await withTimeLimit(end - .now) {
                for await event in events {
                    let enough = snapshot.withLockedValue { snapshot in
                        snapshot.take(event)
                        return isEnough(snapshot)
                    }
                    if enough { break }
                }
            }
            try Task.checkCancellation()
            return try await conclude(
                snapshot.withLockedValue { snapshot in
                    snapshot.seen.sort()
                    return snapshot
                }
            )
        }
    }

    /// The families of which the mDNS daemon knows a host at once; none without the daemon. Does not wait for answers
    /// from the network.
    package static func familiesKnown(to environment: AppEnvironment) async -> Set<HostFamily> {
        guard let client = try? environment.discoveryClient(engine: .daemon) else { return [] }
        let seen = try? await run(client: client, types: ServiceType.all, limit: .milliseconds(50)) { $0.isSettled }
        return Set((seen?.hosts ?? []).map(\.family))
    }

    /// Merges another search, which takes precedence where both know a host.
    package mutating func merge(_ other: DiscoverySnapshot) {
        engine = other.engine
        isSettled = other.isSettled
        incomplete = other.incomplete
        problem = other.problem
        seen.merge(other.seen)
        seen.sort()
    }

    /// Forgets all hosts but the first that is resolved, if one is.
    package mutating func keepFirstResolved() {
        if let host = hosts.first(where: { !$0.endpoints.isEmpty }) { seen = HostsInSight([host]) }
    }

    mutating func take(_ event: DiscoveryEvent) {
        seen.take(event)
        switch event {
        case .added, .changed, .removed: break
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
    package var nobody: AppError {
        guard isSettled else {
            return AppError(
                .timedOut,
                "discovery.timed_out",
                "no host was found in time" + (problem.map { ": \($0)" } ?? ""),
                details: [Self.start],
                next: "pairtool discover --timeout 30s"
            )
        }
        return AppError(
            .nothingFound,
            "discovery.none",
            "no host was found (\(engine.rawValue) mDNS engine)",
            details: [Self.start],
            next: "see what may be in the way: pairtool doctor"
        )
    }

    private static let start =
        "On a Linux machine, start a host with: pairtool host --lan. Macs do not advertise themselves: pair by address, "
        + "with pairtool pair --url http://ADDRESS:7878"
}
