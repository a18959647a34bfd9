import CompanionTestSupport
import CompanionWire
import Discovery
import FoundationEssentials
import Logging
import PairingAgent
import Testing

@testable import CompanionApp
@testable import pairtool

/// Hosts of every family are found by name and by address, and what is said next is their own command.
@Suite(.serialized, .timeLimit(.minutes(15))) struct NamedFamilyTests {
    private static let embedded = ["--interface", "lo", "--engine", "embedded"]

    private func withAdvert<R>(
        _ services: [(name: String, type: ServiceType, port: Int)],
        _ body: () async throws -> R
    ) async throws -> R {
        guard let first = services.first else { return try await body() }
        let client = CompanionDiscoveryClient(engine: .embedded, interface: "lo", logger: Logger(label: "test"))
        let advert = Advertisement(name: first.name, services: [(type: first.type, port: first.port, txt: [])])
        return try await client.withAdvertisement(advert) { events in
            for await case .published in events { break }
            return try await withAdvert(Array(services.dropFirst()), body)
        }
    }

    @Test("pair takes how a name begins where that means one host, whatever its family, and lists several")
    func prefix() async throws {
        try await withFakeLumi { mac in
            let tag = "\(UUID().uuidString.prefix(6))"
            let name = "Adas\(tag)-MacBook-Pro"
            try await withAdvert([(name, .lumi, mac.port)]) {
                try await Sandbox.with { user in
                    let pair = ["--allow-legacy", "--name", "desk"] + Self.embedded
                    let paired = try await user.spawn(["pair", "adas\(tag)"] + pair)
                    #expect(paired.status == 0, "\(paired)")
                    #expect(paired.err.contains("“adas\(tag)” is \(name) (Lumi)."), "\(paired)")
                    #expect(try await user.spawn(["hosts", "--json"]).json.first?["family"] == .text("lumi"))
                }
                try await withAdvert([("Adas\(tag)-iMac", .lumi, mac.port)]) {
                    // On a busy machine an advert may come after a search has settled: wait until both are seen.
                    let client = CompanionDiscoveryClient(
                        engine: .embedded,
                        interface: "lo",
                        logger: Logger(label: "test")
                    )
                    let names = [name, "Adas\(tag)-iMac"]
                    _ = try await DiscoverySnapshot.run(client: client, types: [.lumi], limit: .seconds(30)) { seen in
                        names.allSatisfy { name in seen.hosts.contains { $0.name == name && !$0.endpoints.isEmpty } }
                    }
                    func begun() async throws -> Sandbox.Result {
                        try await Sandbox.with { user in
                            try await user.spawn(["pair", "Adas\(tag)", "--allow-legacy"] + Self.embedded)
                        }
                    }
                    var several = try await begun()
                    for _ in 1..<10 where several.status == 0 { several = try await begun() }
                    try await Sandbox.with { user in
                        #expect(several.status == 2 && several.err.contains("several hosts"), "\(several)")
                        #expect(several.err.contains(name) && several.err.contains("Adas\(tag)-iMac"), "\(several)")
                        // A whole name is that host, though others begin so.
                        let whole = try await user.spawn(["pair", name, "--allow-legacy"] + Self.embedded)
                        #expect(whole.status == 0, "\(whole)")
                    }
                }
            }
        }
    }

    @Test("discover --host names the family of what answers at an address, and its own next command")
    func address() async throws {
        try await Sandbox.with { user in
            try await withFakeAICLI { server in
                let found = try await user.spawn(["discover", "--host", server.endpointText])
                #expect(found.status == 0 && found.out.contains("aicli"), "\(found)")
                #expect(found.err.contains("Next: pairtool pair --family aicli --url http://\(server.endpointText)"))
            }
            try await withFakeJarvis { daemon in
                let found = try await user.spawn(["discover", "--host", daemon.endpointText, "--json"])
                let row = try #require(try found.json.first)
                #expect(row["family"]?.string == "jarvis" && row["probe"]?["state"]?.string == "up", "\(found)")
                await user.pair(daemon)
                let paired = try await user.spawn(["discover", "--host", daemon.endpointText])
                #expect(paired.err.contains("Next: pairtool approvals --host"), "\(paired)")
                // By its name, too, which nobody advertises.
                let renamed = try await user.spawn(["hosts", "rename", "127", "Butler"])
                #expect(renamed.status == 0, "\(renamed)")
                let byName = try await user.spawn(["discover", "--host", "butl", "--json"] + Self.embedded)
                #expect(try byName.json.map { $0["name"]?.string } == ["Butler"], "\(byName)")
                #expect(try byName.json.first?["probe"]?["state"]?.string == "up", "\(byName)")
                let again = try await user.spawn(["pair", "Butler", "--allow-legacy"] + Self.embedded)
                #expect(again.status == 0, "\(again)")
            }
            let unknown = try await user.spawn(["discover", "--host", "Nobody-\(UUID().uuidString)"] + Self.embedded)
            #expect(unknown.status == 3 && unknown.err.contains("pairtool discover --host ADDRESS"), "\(unknown)")
        }
    }

    @Test("discover --host with an address alone asks each family at its usual port")
    func usualPorts() async throws {
        try await withFakeJarvis(address: "127.0.0.77", port: HostFamily.jarvis.behavior.facts.usualPort) { _ in
            try await Sandbox.with { user in
                let found = try await user.spawn(["discover", "--host", "127.0.0.77", "--json"])
                #expect(try found.json.map { $0["family"]?.string } == ["jarvis"], "\(found)")
            }
        }
    }

    @Test("A Lumi host is found by its advertised name; what is next is its own command")
    func lumi() async throws {
        try await withFakeLumi { mac in
            let name = "Loft-\(UUID().uuidString.prefix(6))"
            try await withAdvert([(name, .lumi, mac.port)]) {
                try await Sandbox.with { user in
                    let found = try await user.spawn(["discover", "--host", name.lowercased()] + Self.embedded)
                    #expect(found.status == 0 && found.out.contains(name), "\(found)")
                    #expect(found.err.contains("Next: pairtool pair --family lumi --url http://"), "\(found)")
                    // Nothing is sent to it: a question for its user would follow.
                    #expect(mac.commands.isEmpty)
                    await user.pair(mac)
                    let paired = try await user.spawn(["discover", "--host", name] + Self.embedded)
                    #expect(paired.err.contains("Next: pairtool lumi sync --host"), "\(paired)")
                }
            }
        }
    }
}
