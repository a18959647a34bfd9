import CompanionWire
import Discovery
import Identity
import PairingAgent
import Testing

@testable import CompanionApp
@testable import pairtool

/// What auto-pairing makes of adverts.
@Suite struct AdvertTableTests {
    private static let id = "aaaa000011112222"

    private func host(
        _ places: [(address: String, port: Int, machine: String)],
        advertisedID: String? = Self.id,
        name: String = "Shed"
    ) throws -> DiscoveredHost {
        DiscoveredHost(
            id: advertisedID ?? Self.id,
            advertisedID: advertisedID,
            name: name,
            instanceName: name,
            family: .copilotforge,
            types: [.companion],
            endpoints: try places.map { place in
                DiscoveredEndpoint(
                    endpoint: CompanionEndpoint(address: try #require(IPAddress(place.address)), port: place.port),
                    interface: "eth0",
                    type: .companion,
                    hostName: place.machine
                )
            }
        )
    }

    /// The only host that appeared.
    private func appeared(_ events: [AutoPairing.Event]) throws -> AutoPairing.Host {
        guard events.count == 1, case .appeared(let host) = events[0] else { throw CancellationError() }
        return host
    }

    @Test("One machine with several addresses is one host; several machines, or ports, are not told apart")
    func ambiguity() throws {
        var table = AdvertTable()
        let one = try host([("192.168.1.5", 7878, "shed.local"), ("fd00::5", 7878, "shed.local")])
        let single = try appeared(table.take(.added(one)))
        #expect(!single.isAmbiguous)
        let machines = try host([("192.168.1.5", 7878, "shed.local"), ("192.168.1.6", 7878, "other.local")])
        let claimed = try appeared(table.take(.changed(machines)))
        #expect(claimed.isAmbiguous)
        let ports = try host([("192.168.1.5", 7878, "shed.local"), ("192.168.1.6", 7900, "shed.local")])
        let doubled = try appeared(table.take(.changed(ports)))
        #expect(doubled.isAmbiguous)
    }

    @Test("A host without an address on this network is not there, and one that loses it has left")
    func addresses() throws {
        var table = AdvertTable()
        let away = try host([("203.0.113.5", 7878, "shed.local")])
        let unseen = table.take(.added(away))
        #expect(unseen.isEmpty)
        _ = table.take(.changed(try host([("192.168.1.5", 7878, "shed.local")])))
        guard case .vanished(id: Self.id)? = table.take(.changed(away)).first else { throw CancellationError() }
        let again = table.take(.removed(away))
        #expect(again.isEmpty)
    }

    @Test("A host that advertises another's made-up id does not take its place")
    func madeUpID() throws {
        var table = AdvertTable()
        let plain = try appeared(table.take(.added(host([("192.168.1.5", 7878, "a.local")], advertisedID: nil))))
        let thief = try appeared(table.take(.added(host([("192.168.1.6", 7878, "b.local")]))))
        #expect(plain.id != thief.id)
        #expect(plain.advertisedID == nil && thief.advertisedID == Self.id)
    }

    @Test("A code that names a key is tried at every address, its own included; a named host is the only one")
    func targets() throws {
        var table = AdvertTable()
        let pin = Base64URL.encode([UInt8](repeating: 7, count: 32))
        let keyed = PairingPayload(
            code: "111111",
            token: nil,
            expiresAt: nil,
            version: 2,
            host: Self.id,
            spki: pin,
            port: 7879,
            addr: "192.168.1.9"
        )
        let plain = PairingPayload(code: "111111", token: nil, expiresAt: nil)
        let machines = try host([("192.168.1.5", 7878, "shed.local"), ("192.168.1.6", 7878, "other.local")])
        _ = table.take(.added(machines))
        let target = try #require(table.target(.host(Self.id), for: keyed))
        #expect(target.allEndpoints.map { "\($0)" } == ["192.168.1.5:7878", "192.168.1.6:7878", "192.168.1.9:7879"])
        #expect(table.target(.host("gone"), for: keyed)?.id == nil)
        #expect(table.target(.named, for: plain)?.id == nil)
        let url = try HostURL(commandLine: "http://192.168.1.20")
        let named = AdvertTable(named: PairingTarget(url: url, family: .copilotforge))
        #expect(named.target(.named, for: keyed)?.name == "192.168.1.20:7878")
        #expect(named.start.count == 2)
    }
}
