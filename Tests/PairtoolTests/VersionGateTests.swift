import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Identity
import Testing

/// Hosts that do not speak the version that a record is of: what people are told to do.
@Suite(.serialized, .timeLimit(.minutes(15))) struct VersionGateTests {
    /// A record of a host that was paired by v1.
    static func record(port: Int, of user: Sandbox) throws {
        let endpoint = try #require(CompanionEndpoint("127.0.0.1:\(port)"))
        try PairedHostStore(directory: user.directory + "/data/pairtool").update { hosts in
            hosts.record(
                PairedHost(
                    id: "0123456789abcdef",
                    name: "Shed",
                    family: .copilotforge,
                    trust: .legacy,
                    endpoint: endpoint,
                    deviceID: "fedcba9876543210",
                    pairedAt: Date()
                )
            )
        }
    }

    private static let commands: [[String]] = [
        ["projects", "--json"], ["chats", "garden", "--json"], ["messages", "c", "--json"],
        ["send", "c", "hello", "--json"], ["models", "--json"], ["watch", "--json"],
    ]

    @Test("A host that speaks version 2 alone tells who was paired by v1 to pair again", arguments: commands)
    func newerHost(words: [String]) async throws {
        try await withProject { host, user in
            try await withRunningHost(host, ["--project", host.directory + "/garden"]) { events in
                let port = try await events.ports.plain
                try Self.record(port: port, of: user)
                let result = await user.run(words)
                #expect(result.status == 12, "\(words) \(result)")
                let code = try result.errorCode
                #expect(code == "host.unsupported_version")
                #expect(result.err.contains("pair again as a verified host: pairtool pair"), "\(result.err)")
                #expect(result.out.isEmpty)
            }
        }
    }

    @Test(
        "A host that needs a version of the future tells to update pairtool, one of the past to update it",
        arguments: [(3...4, "update pairtool"), (1...1, "update the host's program")]
    )
    func otherHosts(versions: ClosedRange<Int>, advice: String) async throws {
        let refusal =
            #"{"ok":false,"error":"no","code":"version.unsupported","minimumVersion":\#(versions.lowerBound),"#
            + #""maximumVersion":\#(versions.upperBound)}"#
        var script = FakeMacScript()
        script.faults = [FakeMacFault(.json(status: 426, refusal), on: "/companion/")]
        try await withFakeMac(script) { mac in
            try await Sandbox.with { user in
                try Self.record(port: mac.port, of: user)
                for words in Self.commands where words[0] != "models" {
                    let result = await user.run(words)
                    #expect(result.status == 12, "\(words) \(result)")
                    let code = try result.errorCode
                    #expect(code == "host.unsupported_version")
                    #expect(result.err.contains(advice), "\(result.err)")
                }
            }
        }
    }

    @Test(
        "A Mac's build without projects is called that, and not another service",
        arguments: [
            (["projects"], "projects"), (["chats"], "projects"),
            (["models"], "models"), (["devices"], "devices"), (["watch"], "projects"),
        ]
    )
    func olderBuild(words: [String], what: String) async throws {
        var script = FakeMacScript()
        script.faults = ["/companion/projects", "/companion/chats", "/companion/devices", "/models"].map {
            FakeMacFault(.page(status: 404), on: $0)
        }
        try await withFakeMac(script) { mac in
            try await Sandbox.with { user in
                try Self.record(port: mac.port, of: user)
                let result = await user.run(words + ["--json"])
                #expect(result.status == 12 && result.failed(with: "host.unsupported_version"), "\(words) \(result)")
                #expect(result.err.contains("is an older build, which has no \(what) yet"), "\(result)")
                #expect(result.err.contains("update the app on the host"), "\(result)")
                mac.change { $0.faults = [FakeMacFault(.page(status: 404))] }
                let other = await user.run("devices", "--json")
                #expect(other.status == 10 && other.err.contains("is not a companion host"), "\(other)")
            }
        }
    }

    @Test("To pair with a host of the future, pairtool has to be updated: nothing is sent to it")
    func pairing() async throws {
        var script = FakeMacScript()
        script.faults = [
            FakeMacFault(.json(status: 200, #"{"ok":true,"service":"x","protocolVersions":[3,4],"tlsPort":1}"#))
        ]
        try await withFakeMac(script) { mac in
            try await Sandbox.with { user in
                let url = "http://\(mac.endpointText)"
                let pair = ["pair", "--url", url, "--code-stdin", "--allow-legacy", "--json"]
                let result = await user.run(pair, stdin: "482913\n")
                #expect(result.status == 12, "\(result)")
                let code = try result.errorCode
                #expect(code == "pairing.version")
                #expect(result.err.contains("update"), "\(result.err)")
                #expect(mac.requests.allSatisfy { $0.path == "/health" })
                #expect(await user.run("hosts").isEmptyList)
            }
        }
    }
}
