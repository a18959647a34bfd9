import CompanionTestSupport
import CompanionWire
import Discovery
import FoundationEssentials
import Identity
import Logging
import Testing

/// A host that was verified once is never paired with over plain HTTP again.
@Suite(.serialized, .timeLimit(.minutes(15))) struct LegacyFallbackTests {
    /// A user who has paired with a host that is gone now.
    private func withPairedUser(_ body: (Sandbox, PairedHostStore) async throws -> Void) async throws {
        try await withProject { host, user in
            try await withRunningHost(host, ["--project", host.directory + "/garden", "--name", "Shed"]) { events in
                try await user.pair(try #require(try await events.first("challenge")["qrPayload"]?.string))
            }
            try await body(user, PairedHostStore(directory: user.directory + "/data/pairtool"))
        }
    }

    private func expectRefusal(
        _ result: Sandbox.Result,
        _ mac: FakeMac,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(result.status == 13, "\(result)", sourceLocation: sourceLocation)
        let code = try result.errorCode
        #expect(code == "pairing.verified_host", sourceLocation: sourceLocation)
        #expect(result.err.contains("pairtool hosts forget"), sourceLocation: sourceLocation)
        #expect(
            mac.requests.allSatisfy { $0.path == "/health" },
            "nothing but a question",
            sourceLocation: sourceLocation
        )
    }

    @Test("By the id that somebody advertises: refused, also with --allow-legacy")
    func byID() async throws {
        try await withPairedUser { user, store in
            let id = try #require(try store.load().hosts.first?.id)
            let client = CompanionDiscoveryClient(engine: .embedded, interface: "lo", logger: Logger(label: "test"))
            try await withFakeMac { mac in
                let txt = [("id", id), ("name", "Shed")]
                let advert = Advertisement(name: "Shed", services: [(type: .companion, port: mac.port, txt: txt)])
                try await client.withAdvertisement(advert) { events in
                    for await case .published in events { break }
                    let pair = [
                        "pair", id, "--code-stdin", "--allow-legacy", "--interface", "lo", "--engine", "embedded",
                        "--json",
                    ]
                    let refused = try await user.spawn(pair, stdin: "482913\n")
                    try expectRefusal(refused, mac)
                    #expect(try store.load().hosts.map(\.trust) == [.verified])
                    // It is the record that refuses: who has none pairs.
                    try await Sandbox.with { stranger in
                        let paired = try await stranger.spawn(pair, stdin: "482913\n")
                        #expect(paired.status == 0, "\(paired)")
                    }
                }
            }
        }
    }

    /// How the address of plain HTTP follows from the record.
    enum Place: String, CaseIterable, Sendable {
        case ownPort, portBelow, plainPort
    }

    @Test("By the address that was the host's: refused, also with --allow-legacy", arguments: Place.allCases)
    func byAddress(place: Place) async throws {
        try await withPairedUser { user, store in
            try await withFakeMac { mac in
                let pair = ["pair", "--url", "http://\(mac.endpointText)", "--code-stdin", "--allow-legacy", "--json"]
                try store.update { hosts in
                    let address = hosts.hosts[0].endpoint.address
                    let port =
                        switch place {
                        case .ownPort: mac.port
                        case .portBelow: mac.port + 1
                        case .plainPort: hosts.hosts[0].endpoint.port
                        }
                    hosts.hosts[0].endpoint = CompanionEndpoint(address: address, port: port)
                    hosts.hosts[0].plainPort = place == .plainPort ? mac.port : nil
                }
                try expectRefusal(await user.run(pair, stdin: "482913\n"), mac)
                #expect(try store.load().hosts.map(\.trust) == [.verified])
                // Once the owner of the record has forgotten the host, its address is any other's.
                #expect(await user.run("hosts", "forget", "Shed", "--yes").status == 0)
                let paired = await user.run(pair, stdin: "482913\n")
                #expect(paired.status == 0, "\(paired.err)")
                let trust = try paired.json.first?["trust"]?.string
                #expect(trust == "legacy")
            }
        }
    }
}
