import CompanionWire
import Discovery
import Testing

@testable import pairtool

@Suite struct DiscoverySnapshotTests {
    @Test("What kept one engine from all hosts is not said of the one that takes its place")
    func otherEngine() {
        var snapshot = DiscoverySnapshot(engine: .daemon)
        snapshot.take(.incomplete(.engineFull(limit: 4, used: 3)))
        snapshot.take(.resumed(.daemon))
        #expect(snapshot.incomplete.count == 1)
        snapshot.take(.resumed(.embedded))
        #expect(snapshot.incomplete.isEmpty && snapshot.engine == .embedded)
    }

    @Test("A host that one look cannot resolve is the one that another has resolved", arguments: [false, true])
    func mergedLooks(resolvesFirst: Bool) {
        var resolved = host("0011223344556677", instanceName: "Studio")
        resolved.advertisedID = resolved.id
        let unresolved = host("a1", instanceName: "Studio", unresolved: true)
        let others = [host("b2", instanceName: "Attic", unresolved: true), host("c3", instanceName: "Cellar")]
        var first = DiscoverySnapshot(engine: .daemon, hosts: others + [resolvesFirst ? resolved : unresolved])
        first.merge(DiscoverySnapshot(engine: .embedded, hosts: [resolvesFirst ? unresolved : resolved]))
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
