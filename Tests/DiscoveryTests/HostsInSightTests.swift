import CompanionWire
import Discovery
import Testing

@Suite("The set of hosts in sight")
struct HostsInSightTests {
    private func host(
        _ id: String,
        _ name: String,
        family: HostFamily = .copilotforge,
        advertised: Bool = false,
        unresolved: Bool = false
    ) -> DiscoveredHost {
        DiscoveredHost(
            id: id,
            advertisedID: advertised ? id : nil,
            name: name,
            instanceName: name,
            family: family,
            types: [.companion],
            endpoints: [],
            unresolved: unresolved
        )
    }

    @Test("It follows what comes, changes and leaves, and says what a host was before")
    func events() {
        var seen = HostsInSight()
        let (attic, barn, cellar) = (host("a1", "Attic"), host("b2", "Barn"), host("c3", "Cellar"))
        for new in [cellar, attic, barn] { #expect(seen.take(.added(new)) == nil) }
        var renamed = attic
        renamed.name = "Workshop"
        #expect(seen.take(.changed(renamed)) == attic)
        #expect(seen[attic.key] == renamed)
        #expect(seen.take(.removed(cellar)) == cellar && seen.take(.removed(cellar)) == nil)
        #expect(seen[cellar.key] == nil && seen[barn.key] == barn && seen[attic.key] == renamed)
        for event in [DiscoveryEvent.settled, .resumed(.embedded), .incomplete(.unwatched(1))] {
            #expect(seen.take(event) == nil)
        }
        seen.sort()
        #expect(seen.hosts == [barn, renamed])
        #expect(seen.take(.removed(barn)) == barn && seen.take(.removed(attic)) == renamed)
        #expect(seen.hosts.isEmpty)
    }

    @Test("A host does not take the place of another with its id, by a made-up id or in another family")
    func keys() {
        var seen = HostsInSight([host("a1", "Attic")])
        seen.take(.added(host("a1", "Thief", advertised: true)))
        seen.take(.added(host("a1", "Lumi", family: .lumi)))
        #expect(seen.hosts.map(\.name) == ["Attic", "Thief", "Lumi"])
        seen.take(.removed(host("a1", "Thief", advertised: true)))
        #expect(Set(seen.hosts.map(\.name)) == ["Attic", "Lumi"])
    }

    @Test("A host that one search cannot resolve is the one that another has resolved", arguments: [false, true])
    func merged(resolvesFirst: Bool) {
        let resolved = host("0011223344556677", "Studio", advertised: true)
        let unresolved = host("a1", "Studio", unresolved: true)
        var moved = host("c3", "Cellar")
        moved.txt = ["os": "mac"]
        var first = HostsInSight([
            host("b2", "Attic", unresolved: true), host("c3", "Cellar"), resolvesFirst ? resolved : unresolved,
        ])
        first.merge(HostsInSight([resolvesFirst ? unresolved : resolved, moved]))
        first.sort()
        #expect(first.hosts.map(\.id) == ["b2", "c3", "0011223344556677"])
        #expect(first[moved.key] == moved)
    }
}
