import CompanionWire
import Discovery
import Identity
import Testing

@testable import CompanionApp
@testable import pairtool

@Suite("What a watch with --probe shows and asks")
struct WatchedHostTableTests {
    private func host(_ number: Int = 0, port: Int = 7878) throws -> DiscoveredHost {
        let endpoint = try #require(CompanionEndpoint("192.168.1.5:\(port)"))
        return DiscoveredHost(
            id: "00000000000000\(number < 10 ? "0" : "")\(number)",
            name: "Host \(number)",
            instanceName: "Host \(number)",
            family: .copilotforge,
            types: [.companion],
            endpoints: [.init(endpoint: endpoint, interface: "eth0", type: .companion, hostName: "h.local")]
        )
    }

    private func shown(_ actions: [WatchedHostTable.Action]) -> [String] {
        actions.compactMap { if case .show(let change, _) = $0 { change.rawValue } else { nil } }
    }

    private func asked(_ actions: [WatchedHostTable.Action]) -> [SightedHost] {
        actions.compactMap { if case .probe(let row) = $0 { row } else { nil } }
    }

    @Test("A host is shown at once, and asked; its answer is shown where it is news")
    func news() throws {
        var table = WatchedHostTable(paired: PairedHosts(), probes: true)
        let first = table.take(.added(try host()))
        #expect(shown(first) == ["added"])
        let row = try #require(asked(first).first)
        #expect(shown(table.probed(row, with: ProbeResult(state: .up, service: "x"))) == ["probed"])
        for (result, expected) in [
            (ProbeResult(state: .up, service: "x", reason: "other words"), []),
            (ProbeResult(state: .down), ["probed"]), (ProbeResult(state: .down, reason: "refused"), []),
        ] {
            let due = try #require(asked(table.roundIsDue()).first)
            #expect(shown(table.probed(due, with: result)) == expected)
        }
    }

    @Test("Without --probe, nobody is asked")
    func silent() throws {
        var table = WatchedHostTable(paired: PairedHosts(), probes: false)
        #expect(asked(table.take(.added(try host()))).isEmpty)
        #expect(asked(table.roundIsDue()).isEmpty)
    }

    @Test("An answer of a host that has left is not shown; of one that has moved, it is asked for again")
    func late() throws {
        var table = WatchedHostTable(paired: PairedHosts(), probes: true)
        let row = try #require(asked(table.take(.added(try host()))).first)
        let moved = table.take(.changed(try host(port: 9000)))
        #expect(asked(moved).isEmpty)
        let next = table.probed(row, with: ProbeResult(state: .up))
        #expect(shown(next).isEmpty)
        let again = try #require(asked(next).first)
        #expect(again.endpoints.map(\.port) == [9000])
        #expect(shown(table.take(.removed(try host(port: 9000)))) == ["removed"])
        #expect(table.probed(again, with: ProbeResult(state: .up)).isEmpty)
        #expect(table.roundIsDue().isEmpty)
    }

    @Test("Sixteen hosts are asked at a time, and all get their turn")
    func limit() throws {
        var table = WatchedHostTable(paired: PairedHosts(), probes: true)
        var open: [SightedHost] = []
        for number in 0..<40 { open += asked(table.take(.added(try host(number)))) }
        #expect(open.count == WatchedHostTable.probeLimit)
        // A round that is due meanwhile asks nobody twice at a time.
        open += asked(table.roundIsDue())
        #expect(open.count == WatchedHostTable.probeLimit)
        var answered: Set<String> = []
        while let row = open.popLast() {
            answered.insert(row.id)
            open += asked(table.probed(row, with: ProbeResult(state: .up)))
            #expect(open.count <= WatchedHostTable.probeLimit)
        }
        #expect(answered.count == 40)
    }
}
