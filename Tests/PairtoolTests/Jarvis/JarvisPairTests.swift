import CompanionTestSupport
import CompanionWire
import Testing

@testable import pairtool

@Suite struct JarvisPairTests {
    @Test("A daemon is recorded as a legacy host, once it was agreed to, and forgotten as any host")
    func record() async throws {
        try await withFakeJarvis { jarvis in
            try await Sandbox.with { user in
                let pair = ["pair", "--family", "jarvis", "--url", "http://\(jarvis.endpointText)"]
                let refused = await user.run(pair)
                #expect(refused.status == 13 && refused.err.contains("accept it with --allow-legacy"), "\(refused)")
                let unproven = await user.run(pair + ["--require", "verified"])
                #expect(unproven.status == 13, "\(unproven)")
                #expect(unproven.err.contains("Jarvis hosts cannot prove who they are"), "\(unproven)")
                #expect(await user.run(pair, terminal: true).status == 13)
                #expect(await user.run(pair + ["--allow-legacy", "--require", "verified"]).status == 2)
                #expect(jarvis.requests.isEmpty)
                let paired = await user.run(pair, stdin: "y\n", terminal: true)
                #expect(paired.status == 0 && paired.err.contains("proves nothing"), "\(paired)")
                #expect(paired.err.contains("Next: pairtool approvals"))
                // It was agreed to: it is not asked about again.
                #expect(await user.run(pair + ["--allow-legacy"]).status == 0)
                let row = try #require(try await user.run("hosts", "--json").json.first)
                #expect(row["family"] == .text("jarvis") && row["trust"] == .text("legacy"))
                #expect(row["port"] == .number(Double(jarvis.port)) && row["fallbackUrl"] == nil)
                #expect(await user.run("hosts", "forget", "127", "--yes").status == 0)
                #expect(await user.run("approvals").status == 5)
            }
        }
    }

    @Test("What is no daemon is not recorded")
    func stranger() async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                let result = await user.run(
                    "pair",
                    "--family",
                    "jarvis",
                    "--url",
                    "http://\(mac.endpointText)",
                    "--allow-legacy"
                )
                #expect(result.status == 10 && result.err.contains("not a Jarvis daemon"), "\(result)")
                #expect(
                    result.err.contains("the daemon's address and port") && !result.err.contains("--probe"),
                    "\(result)"
                )
                #expect(await user.run("hosts").isEmptyList)
            }
        }
    }

    @Test("A daemon that does not answer is not looked for by mDNS, which none has")
    func silence() async throws {
        try await Sandbox.with { user in
            // The port is nobody else's between the daemon and its silence.
            try await withClosedPort(isShared: true) { endpoint in
                try await withFakeJarvis(port: endpoint.port) { await user.pair($0) }
                let pair = ["pair", "--family", "jarvis", "--url", "http://\(endpoint)", "--allow-legacy"]
                for command in [["approvals"], ["jarvis", "health"], pair] {
                    let result = await user.run(command)
                    #expect(result.status == 10 && result.err.contains("check that the daemon is running"), "\(result)")
                    #expect(!result.err.contains("discover"), "\(result)")
                }
            }
        }
    }

    @Test("Whoever asks a host for approvals that has none is told so")
    func other() async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                let asked = await user.run("approvals", "--host", mac.endpointText)
                #expect(asked.status == 1, "\(asked)")
                #expect(asked.err.contains("do not offer approvals"), "\(asked)")
            }
        }
    }

    @Test("A second base URL is kept, used where nothing answers at the first, shown, and removed by an empty one")
    func fallback() async throws {
        let closed = try await withFakeJarvis { $0.port }
        try await withFakeJarvis { second in
            try await Sandbox.with { user in
                let url = "http://\(second.endpointText)"
                let pair = ["pair", "--family", "jarvis", "--url", "http://127.0.0.1:\(closed)", "--allow-legacy"]
                #expect(await user.run(pair).status == 10)
                let paired = await user.run(pair + ["--fallback-url", url])
                #expect(paired.status == 0 && paired.err.contains("answers at \(second.endpointText)"), "\(paired)")
                #expect(try await user.run("hosts", "--json").json.first?["fallbackUrl"] == .text(url))
                let listed = await user.run("approvals", "--json")
                #expect(listed.err.contains("using \(second.endpointText), the second base URL"))
                #expect(try listed.json.allSatisfy { $0["daemon"] == .text(second.endpointText) })
                let health = try #require(try await user.run("jarvis", "health", "--json").json.first)
                #expect(health["usesFallback"] == .bool(true))
                #expect(await user.run(pair + ["--fallback-url", ""]).status == 10)
            }
        }
    }

    @Test(
        "Second base URLs that are none, and HTTPS at the first, are mistakes in the command line",
        arguments: [
            ["--family", "jarvis", "--fallback-url", "http://example.org"],
            ["--family", "jarvis", "--fallback-url", "example.org"],
            ["--family", "copilotforge", "--fallback-url", "https://example.org"],
            ["--fallback-url", "https://example.org"],
        ]
    )
    func usage(arguments: [String]) async throws {
        try await Sandbox.with { user in
            let result = await user.run(["pair", "--url", "http://127.0.0.1:1", "--allow-legacy"] + arguments)
            #expect(result.status == 2, "\(result)")
        }
    }

    @Test("The first base URL is plain HTTP; nothing is sent by TLS")
    func secure() async throws {
        try await Sandbox.with { user in
            let result = await user.run(
                "pair",
                "--family",
                "jarvis",
                "--url",
                "https://127.0.0.1:9",
                "--allow-legacy",
                "--json"
            )
            #expect(result.status == 2)
            #expect(result.failed(with: "pairing.no_tls"))
        }
    }
}
