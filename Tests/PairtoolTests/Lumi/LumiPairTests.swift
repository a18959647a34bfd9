import CompanionTestSupport
import FoundationEssentials
import Testing

@Suite struct LumiPairTests {
    private static func pair(_ host: FakeLumi, _ more: String...) -> [String] {
        ["pair", "--family", "lumi", "--url", host.endpointText, "--name", "desk"] + more
    }

    @Test("A Lumi host is recorded as a legacy one, once its user has accepted")
    func recorded() async throws {
        try await withFakeLumi { host in
            try await Sandbox.with { user async throws in
                let result = await user.run(Self.pair(host, "--allow-legacy", "--json"))
                #expect(result.status == 0, "\(result.err)")
                let row = try #require(try result.json.first)
                #expect(row["family"]?.string == "lumi")
                #expect(row["trust"]?.string == "legacy")
                #expect(row["isDefault"] == .bool(true))
                #expect(host.commands.map(\.name) == ["ping", "ping"])
                #expect(host.commands.allSatisfy { $0.parameters["device_name"] == "desk" })
                #expect(result.err.contains("Waiting for “desk” to be accepted"))
                let hosts = await user.run("hosts")
                #expect(hosts.out.contains("Lumi"))
            }
        }
    }

    @Test("A host that proves nothing has to be agreed to, once: without a word nothing is sent")
    func consent() async throws {
        try await withFakeLumi { host in
            try await Sandbox.with { user async throws in
                let refused = await user.run(Self.pair(host, "--code-stdin"), stdin: "314159\n")
                #expect(refused.status == 13, "\(refused)")
                // There is no code that could be missing.
                let codeless = await user.run(Self.pair(host))
                #expect(codeless.status == 13 && codeless.err.contains("--allow-legacy"), "\(codeless)")
                let no = await user.run(Self.pair(host), stdin: "n\n", terminal: true)
                #expect(no.status == 13)
                #expect(host.connections == 0)
                let yes = await user.run(Self.pair(host), stdin: "yes\n", terminal: true)
                #expect(yes.status == 0, "\(yes)")
                #expect(yes.err.contains("… 59 s"), "it counts down")
                let again = await user.run(Self.pair(host), terminal: true)
                #expect(again.status == 0, "it is asked once a host: \(again)")
            }
        }
    }

    @Test("Refused at the Mac, or left alone there: nothing is recorded, and one connection was made")
    func notAccepted() async throws {
        for (who, status) in [(FakeLumiScript.User.rejects(atPing: 2), Int32(9)), (.isAway, 4)] {
            var script = FakeLumiScript()
            script.user = who
            try await withFakeLumi(script) { host in
                try await Sandbox.with { user async throws in
                    let result = await user.run(Self.pair(host, "--allow-legacy"))
                    #expect(result.status == status, "\(result)")
                    #expect(result.err.contains("next: run the command again"))
                    #expect(host.connections == 1)
                    #expect(await user.run("hosts").isEmptyList)
                }
            }
        }
    }

    @Test("A host of the second generation gets the six digits, and they are shown nowhere")
    func digits() async throws {
        var script = FakeLumiScript()
        script.generation = .code
        try await withFakeLumi(script) { host in
            try await Sandbox.with { user async throws in
                let wrong = await user.run(Self.pair(host, "--allow-legacy", "--code-stdin"), stdin: "271828\n")
                #expect(wrong.status == 6, "\(wrong)")
                let typed = await user.run(
                    Self.pair(host, "--allow-legacy"),
                    stdin: "12\n271828\n314 159\n",
                    terminal: true
                )
                #expect(typed.status == 0, "\(typed)")
                // The port of the address may have the same digits.
                #expect(!(typed.err + typed.out).replacing(host.endpointText, with: "").contains("314"))
                #expect(typed.err.contains("A pairing code has six digits."))
                #expect(host.commands.compactMap { $0.parameters["pair_code"] } == ["271828", "271828", "314159"])
            }
        }
    }

    @Test("What is no Lumi host is said to be none")
    func stranger() async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user async throws in
                let result = await user.run(
                    "pair",
                    "--family",
                    "lumi",
                    "--url",
                    mac.endpointText,
                    "--allow-legacy"
                )
                #expect(result.status == 10, "\(result)")
            }
        }
    }

    @Test("Commands that Lumi hosts cannot do say so, and ask nobody")
    func cannot() async throws {
        try await withPairedLumi { host, user async throws in
            let before = host.connections
            for words in [["devices"], ["models"], ["disconnect"]] {
                let result = await user.run(words + ["--json"])
                #expect(result.status == 1, "\(result)")
                #expect(try result.errorCode == "host.cannot")
            }
            #expect(host.connections == before)
        }
    }
}
