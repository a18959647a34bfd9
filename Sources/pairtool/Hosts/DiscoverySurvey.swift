import Discovery
import NIOConcurrencyHelpers

/// What a look around the network has found so far.
struct DiscoverySurvey: Sendable {
    var engine: DiscoveryEngineKind
    /// By name.
    var hosts: [DiscoveredHost] = []
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
            return survey
        }
    }

    private mutating func take(_ event: DiscoveryEvent) {
        switch event {
        case .added(let host), .changed(let host):
            if let index = hosts.firstIndex(where: { $0.id == host.id && $0.family == host.family }) {
                hosts[index] = host
            } else {
                hosts.append(host)
            }
        case .removed(let host): hosts.removeAll { $0.id == host.id && $0.family == host.family }
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
