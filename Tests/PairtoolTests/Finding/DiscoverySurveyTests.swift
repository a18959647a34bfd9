import CompanionWire
import Discovery
import Testing

@testable import pairtool

@Suite struct DiscoverySurveyTests {
    @Test("What kept one engine from all hosts is not said of the one that takes its place")
    func otherEngine() {
        var survey = DiscoverySurvey(engine: .daemon)
        survey.take(.incomplete(.engineFull(limit: 4, used: 3)))
        survey.take(.resumed(.daemon))
        #expect(survey.incomplete.count == 1)
        survey.take(.resumed(.embedded))
        #expect(survey.incomplete.isEmpty && survey.engine == .embedded)
    }

    @Test("A host that one look cannot resolve is the one that another has resolved", arguments: [false, true])
    func mergedLooks(resolvesFirst: Bool) {
        var resolved = host("0011223344556677", instanceName: "Studio")
        resolved.advertisedID = resolved.id
        let unresolved = host("a1", instanceName: "Studio", unresolved: true)
        let others = [host("b2", instanceName: "Attic", unresolved: true), host("c3", instanceName: "Cellar")]
        var first = DiscoverySurvey(engine: .daemon, hosts: others + [resolvesFirst ? resolved : unresolved])
        first.merge(DiscoverySurvey(engine: .embedded, hosts: [resolvesFirst ? unresolved : resolved]))
        #expect(first.hosts.map(\.id) == ["b2", "c3", "0011223344556677"])
    }

    private func host(_ id: String, instanceName: String, unresolved: Bool = false) -> DiscoveredHost {
        DiscoveredHost(
            id: id,
            name: instanceName,
            instanceName: instanceName,
            family: .copilotforge,
            types: [.companion],
            endpoints: [],
            unresolved: unresolved
        )
    }
}
