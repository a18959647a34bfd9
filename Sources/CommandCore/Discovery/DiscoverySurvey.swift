package import Discovery
import NIOConcurrencyHelpers

/// What a look around the network has found so far.
package struct DiscoverySurvey: Sendable {
    package var engine: DiscoveryEngineKind
    /// By name, once it is over.
    package var hosts: [DiscoveredHost] = []
    /// Why there may be more.
    package var incomplete: [Incompleteness] = []
    private var places: [DiscoveredHost.Key: Int] = [:]
    /// Whether all known answers are in and resolved.
    package var isSettled = false
    /// What last kept the engine from its work.
    package var problem: String?

    /// A survey that is over.
    init(engine: DiscoveryEngineKind = .embedded, hosts: [DiscoveredHost] = []) {
        self.engine = engine
        self.hosts = hosts
        isSettled = !hosts.isEmpty
    }

    /// Looks around until a condition holds or the time is over.
    ///
    /// - Parameters:
    ///   - isEnough: Asked after every event; may narrow down what was found.
    ///   - errand: What there is to do while the engine waits for answers.
    ///   - conclude: Gets what was found, settled or not, and what came of the errand, before the engine is shut down,
    ///     which takes its time.
    /// - Returns: What `conclude` returns.
    package static func run<Errand: Sendable, Result: Sendable>(
        client: CompanionDiscoveryClient,
        types: [ServiceType],
        limit: Duration,
        until isEnough: @escaping @Sendable (inout DiscoverySurvey) -> Bool,
        meanwhile errand: @escaping @Sendable () async throws -> Errand,
        then conclude: (DiscoverySurvey, Errand) async throws -> Result
    ) async throws -> Result {
        let end = ContinuousClock.now + limit
        return try await client.withBrowse(types: types) { engine, events in
            async let errand = errand()
            let survey = NIOLockedValueBox(DiscoverySurvey(engine: engine))
            _ = try await withTimeLimit(end - .now) {
                for await event in events {
                    let enough = survey.withLockedValue { survey in
                        survey.take(event)
                        return isEnough(&survey)
                    }
                    if enough { break }
                }
            }
            try Task.checkCancellation()
            return try await conclude(survey.withLockedValue { $0.sorted() }, errand)
        }
    }

    /// Looks around until a condition holds or the time is over.
    ///
    /// - Parameter isEnough: Asked after every event; may narrow down what was found.
    /// - Returns: What was found, settled or not.
    package static func run(
        client: CompanionDiscoveryClient,
        types: [ServiceType],
        limit: Duration,
        until isEnough: @escaping @Sendable (inout DiscoverySurvey) -> Bool
    ) async throws -> DiscoverySurvey {
        try await run(
            client: client,
            types: types,
            limit: limit,
            until: isEnough,
            meanwhile: {},
            then: { found, _ in found }
        )
    }

    private func sorted() -> DiscoverySurvey {
        var survey = self
        survey.hosts.sort { ($0.name, $0.id) < ($1.name, $1.id) }
        survey.places = Dictionary(uniqueKeysWithValues: survey.hosts.enumerated().map { ($1.key, $0) })
        return survey
    }

    /// Adds what another look has found, whose word counts where both know a host.
    package mutating func merge(_ other: DiscoverySurvey) {
        engine = other.engine
        isSettled = other.isSettled
        incomplete = other.incomplete
        problem = other.problem
        other.hosts.forEach { take(.added($0)) }
        self = sorted()
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
