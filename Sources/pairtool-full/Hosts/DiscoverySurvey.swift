import CommandCore
import Discovery
import NIOConcurrencyHelpers

/// What a look around the network has found so far.
struct DiscoverySurvey: Sendable {
    var engine: DiscoveryEngineKind
    /// By name, once it is over.
    var hosts: [DiscoveredHost] = []
    /// Why there may be more.
    var incomplete: [Incompleteness] = []
    private var places: [DiscoveredHost.Key: Int] = [:]
    /// Whether all known answers are in and resolved.
    var isSettled = false
    /// What last kept the engine from its work.
    var problem: String?

    /// Looks around until a condition holds or the time is over.
    ///
    /// - Parameter isEnough: Asked after every event; may narrow down what was found.
    /// - Returns: What was found, settled or not.
    static func run(
        client: CompanionDiscoveryClient,
        types: [ServiceType],
        limit: Duration,
        until isEnough: @escaping @Sendable (inout DiscoverySurvey) -> Bool
    ) async throws -> DiscoverySurvey {
        let survey = NIOLockedValueBox(DiscoverySurvey(engine: .embedded))
        _ = try await withTimeLimit(limit) {
            try await client.withBrowse(types: types) { engine, events in
                survey.withLockedValue { $0.engine = engine }
                for await event in events {
                    let enough = survey.withLockedValue { survey in
                        survey.take(event)
                        return isEnough(&survey)
                    }
                    if enough { break }
                }
            }
        }
        try Task.checkCancellation()
        return survey.withLockedValue { survey in
            survey.hosts.sort { ($0.name, $0.id) < ($1.name, $1.id) }
            survey.places = Dictionary(uniqueKeysWithValues: survey.hosts.enumerated().map { ($1.key, $0) })
            return survey
        }
    }

    /// Adds what another look has found, whose word counts where both know a host.
    mutating func merge(_ other: DiscoverySurvey) {
        engine = other.engine
        isSettled = other.isSettled
        incomplete = other.incomplete
        problem = other.problem
        other.hosts.forEach { take(.added($0)) }
        hosts.sort { ($0.name, $0.id) < ($1.name, $1.id) }
        places = Dictionary(uniqueKeysWithValues: hosts.enumerated().map { ($1.key, $0) })
    }

    private mutating func take(_ event: DiscoveryEvent) {
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
            self.engine = engine
        }
    }
}
