import CompanionWire
import FoundationEssentials
import Identity
import PairingAgent
import Testing

@testable import CompanionApp

/// The routes of a record.
@Suite struct HostRoutesTests {
    private func host(_ trust: HostTrust = .verified) throws -> PairedHost {
        PairedHost(
            id: "0123456789abcdef",
            name: "Studio",
            family: .copilotforge,
            trust: trust,
            endpoint: try #require(CompanionEndpoint("10.0.0.1:7879")),
            deviceID: "fedcba9876543210",
            pairedAt: Date(timeIntervalSince1970: 0)
        )
    }

    private func route(_ text: String) throws -> HostRoute { try #require(HostRoute(text)) }

    private func code(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            return (error as? AppError)?.code
        }
    }

    @Test("Routes are kept by rung, and in the order of their adding within one")
    func order() throws {
        var host = try host()
        for text in ["ssh://box", "https://box.example", "ssh://other", "100.64.0.7"] { try host.add(route(text)) }
        #expect(
            host.routes?.map(\.description) == [
                "https://box.example", "https://100.64.0.7", "ssh://box", "ssh://other",
            ]
        )
        try host.orderRoutes(["ssh://other"])
        #expect(host.routes?.first == (try route("ssh://other")))
    }

    @Test("A host that proves nothing gets none; names of this network and addresses of no machine are none")
    func refused() throws {
        var legacy = try host(.legacy)
        #expect(code { try legacy.add(route("ssh://box")) } == "host.legacy_route")
        var host = try host()
        #expect(code { try host.add(route("mac.local")) } == "host.route_local")
        #expect(code { try host.add(route("224.0.0.1")) } == "host.route_address")
        try host.add(route("ssh://box"))
        #expect(code { try host.add(route("ssh://box")) } == "host.route_known")
        #expect(code { try host.removeRoute("ssh://nobody") } == "host.route_unknown")
        for number in 0..<7 { try host.add(route("ssh://box\(number)")) }
        #expect(code { try host.add(route("ssh://last")) } == "host.routes_full")
    }

    @Test("What the host tells is taken in, what it tells no more is removed, and what the user removed stays so")
    func told() throws {
        var host = try host()
        try host.add(route("ssh://box"))
        let (one, two) = (try route("https://one.example"), try route("https://two.example"))
        host.take(told: [one, two])
        #expect(Set(host.routes ?? []) == [one, two, try route("ssh://box")])
        try host.removeRoute("\(one)")
        host.take(told: [one, two])
        #expect(host.routes?.contains(one) == false)
        host.take(told: [])
        #expect(host.routes == [try route("ssh://box")])
    }

    @Test("A route that is removed while it is in use is not used any more")
    func inUse() throws {
        var host = try host()
        try host.add(route("ssh://box"))
        host.via = try route("ssh://box")
        try host.removeRoute("ssh://box")
        #expect(host.via == nil && host.routes == nil)
    }
}
