import CompanionWire
import Discovery
import Testing

@Suite("Merging service instances into hosts")
struct DiscoveredHostTableTests {
    private let id = "0123456789abcdef"

    @Test("A resolved instance is added as a host with everything that is known of it")
    func added() throws {
        var table = FollowedTable()
        let events = table.resolved(.fixture(), .fixture(txt: "id=\(id)", "name=Atelier", "os=mac"))
        let host = try #require(events.first?.added)
        #expect(events.count == 1)
        #expect(host.id == id)
        #expect(host.advertisedID == id)
        #expect(host.name == "Atelier")
        #expect(host.instanceName == "Studio")
        #expect(host.family == .copilotforge)
        #expect(host.types == [.companion])
        #expect(host.endpoints.map(\.endpoint.description) == ["192.168.1.5:7878"])
        #expect(host.txt == ["id": id, "name": "Atelier", "os": "mac"])
        #expect(!host.unresolved)
    }

    @Test("The same id on other interfaces, protocols, types and under other names is one host")
    func mergedByID() throws {
        var table = FollowedTable()
        _ = table.resolved(.fixture(), .fixture(txt: "id=\(id)"))
        _ = table.resolved(
            .fixture(interface: 2, .ipv6),
            .fixture("[fe80::1%eth1]:7878", interface: "eth1", txt: "id=\(id)")
        )
        let events = table.resolved(
            .fixture("Other", type: .companionShort),
            .fixture(host: "b.local", txt: "id=\(id)")
        )
        let host = try #require(events.first?.changed)
        #expect(table.hosts == [host])
        #expect(host.types == [.companion, .companionShort])
        #expect(host.endpoints.count == 3)
        #expect(host.isClaimedBySeveralMachines)
    }

    @Test("Without an id, family, instance name and host name make the host; the host name's case does not matter")
    func mergedByName() {
        var table = FollowedTable()
        _ = table.resolved(.fixture(), .fixture(host: "studio.local"))
        _ = table.resolved(.fixture("Studio", .ipv6), .fixture("[fd00::5]:7878", host: "Studio.local"))
        #expect(table.hosts.count == 1)
        _ = table.resolved(.fixture(interface: 2), .fixture(host: "other.local"))
        #expect(table.hosts.count == 2)
        _ = table.resolved(.fixture("Studio #2"), .fixture(host: "studio.local"))
        #expect(table.hosts.count == 3)
        _ = table.resolved(.fixture(type: .lumi), .fixture(host: "studio.local"))
        #expect(table.hosts.count == 4)
        #expect(Set(table.hosts.map(\.id)).count == 4)
        #expect(table.hosts.allSatisfy { !$0.isClaimedBySeveralMachines })
    }

    @Test("An id that is not valid does not merge")
    func invalidID() {
        var table = FollowedTable()
        _ = table.resolved(.fixture("A"), .fixture(txt: "id=1"))
        _ = table.resolved(.fixture("B"), .fixture(txt: "id=1"))
        #expect(table.hosts.count == 2)
        #expect(table.hosts.allSatisfy { $0.advertisedID == nil && $0.id.count == 16 })
    }

    @Test("The id made from the names is the same in every process")
    func stableID() {
        var table = FollowedTable()
        _ = table.resolved(.fixture(), .fixture())
        #expect(table.hosts.map(\.id) == ["74cc28943218a15e"])
    }

    @Test("Addresses come IPv4 first and loopback last")
    func order() {
        var table = FollowedTable()
        let addresses = ["127.0.0.1:1", "[::1]:1", "[fd00::1]:1", "10.0.0.2:1", "10.0.0.1:1"]
        for (index, address) in addresses.enumerated() {
            _ = table.resolved(.fixture(interface: Int32(index)), .fixture(address))
        }
        #expect(
            table.hosts.first?.endpoints.map(\.endpoint.description)
                == ["10.0.0.1:1", "10.0.0.2:1", "[fd00::1]:1", "127.0.0.1:1", "[::1]:1"]
        )
    }

    @Test("A host changes while instances of it leave, and leaves with the last")
    func removal() throws {
        var table = FollowedTable()
        _ = table.resolved(.fixture(), .fixture())
        _ = table.resolved(.fixture(type: .companionShort), .fixture())
        let change = try #require(table.removed(.fixture()).first?.changed)
        #expect(change.types == [.companionShort])
        let removal = try #require(table.removed(.fixture(type: .companionShort)).first?.removed)
        #expect(removal == change)
        #expect(table.hosts.isEmpty)
        #expect(table.removed(.fixture()).isEmpty)
    }

    @Test("News that changes nothing is no event")
    func unchanged() {
        var table = FollowedTable()
        _ = table.resolved(.fixture(), .fixture())
        #expect(table.resolved(.fixture(), .fixture()).isEmpty)
    }

    @Test("An instance that does not resolve is an unresolved host without addresses")
    func unresolved() throws {
        var table = FollowedTable()
        let host = try #require(table.failed(.fixture("Dead")).first?.added)
        #expect(host.unresolved && host.endpoints.isEmpty && host.name == "Dead")
        #expect(table.failed(.fixture("Dead", .ipv6)).isEmpty)
    }

    @Test("One resolved instance hides its failed siblings; when it leaves they show again")
    func failedSiblings() throws {
        var table = FollowedTable()
        _ = table.failed(.fixture("Studio", .ipv6))
        let events = table.resolved(.fixture(), .fixture())
        #expect(events.compactMap(\.removed).map(\.unresolved) == [true])
        #expect(events.compactMap(\.added).map(\.unresolved) == [false])
        let back = table.removed(.fixture())
        #expect(back.compactMap(\.added).map(\.unresolved) == [true])
        #expect(back.compactMap(\.removed).map(\.unresolved) == [false])
    }

    @Test("A host whose TXT record gets an id moves to that id")
    func idAppears() {
        var table = FollowedTable()
        _ = table.resolved(.fixture(), .fixture())
        let events = table.resolved(.fixture(), .fixture(txt: "id=\(id)"))
        #expect(events.compactMap(\.removed).count == 1)
        #expect(events.compactMap(\.added).map(\.id) == [id])
        #expect(table.hosts.count == 1)
    }

    @Test("Names keep control characters for the caller to deal with, and are repaired where they are not UTF-8")
    func rawNames() {
        var table = FollowedTable()
        var instance = ServiceInstance.fixture()
        instance.name = [0x1b, 0x5b, 0x41, 0xff]
        _ = table.resolved(instance, .fixture())
        #expect(table.hosts.map(\.name) == ["\u{1B}[A\u{FFFD}"])
    }

    @Test("An empty TXT name gives way to the instance name")
    func emptyName() {
        var table = FollowedTable()
        _ = table.resolved(.fixture(), .fixture(txt: "name="))
        #expect(table.hosts.map(\.name) == ["Studio"])
    }
}

/// A table, and the set of hosts that its events make.
private struct FollowedTable {
    private var table = DiscoveredHostTable()
    private var seen = HostsInSight()

    var hosts: [DiscoveredHost] { seen.hosts }

    mutating func resolved(_ instance: ServiceInstance, _ resolution: ServiceResolution) -> [DiscoveryEvent] {
        follow(table.resolved(instance, as: resolution))
    }

    mutating func failed(_ instance: ServiceInstance, _ flaw: AdvertFlaw = .noAddress) -> [DiscoveryEvent] {
        follow(table.failed(instance, because: flaw))
    }

    mutating func removed(_ instance: ServiceInstance) -> [DiscoveryEvent] {
        follow(table.removed(instance))
    }

    private mutating func follow(_ events: [DiscoveryEvent]) -> [DiscoveryEvent] {
        events.forEach { seen.take($0) }
        return events
    }
}
