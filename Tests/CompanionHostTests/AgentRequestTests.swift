import CompanionTestSupport
import CompanionWire
import Testing

@testable import CompanionHost

/// What an agent of a host asks over HTTP, as the owner's device could.
@Suite("Requests of an agent to its own host", .timeLimit(.minutes(15)))
struct AgentRequestTests {
    @Test("An agent that asks for exchanges again and again is told to wait, without a look for its process each time")
    func often() async throws {
        try await withTemporaryDirectory { directory in
            let launch = ACPLaunch(id: "fake", name: "Fake", command: try FakeACPAgent.command(in: directory))
            try await withHost(in: directory) {
                $0.agent = .acp(launch)
                // It says nothing before its last exchange.
                $0.turnTimeout = .seconds(600)
            } _: { (host: TestHost) async throws in
                _ = try await host.pair()
                let script = """
                    shell python3 -c '
                    import http.client, json, ssl
                    trusting = ssl._create_unverified_context()
                    for _ in range(60):
                        peer = http.client.HTTPSConnection("127.0.0.1", \(host.tlsPort), context=trusting)
                        body = json.dumps({"clientNonce": "AAAAAAAAAAAAAAAAAAAAAA"})
                        headers = {"Content-Type": "application/json", "\(ProtocolVersion.header)": "2"}
                        peer.request("POST", "/companion/pairing/hello", body, headers)
                        status = peer.getresponse().status
                        print(status)
                        peer.close()
                        if status == 429: break
                    '
                    """
                let answer = try await host.ask(script, model: "fake").answer
                #expect(answer.contains("403") && answer.contains("429"), "\(answer)")
            }
        }
    }

    @Test("An agent starts and completes no pairing, and ends no device's access; the owner does")
    func versionOne() async throws {
        try await withTemporaryDirectory { directory in
            let launch = ACPLaunch(id: "fake", name: "Fake", command: try FakeACPAgent.command(in: directory))
            try await withHost(in: directory) {
                $0.agent = .acp(launch)
            } _: { (host: TestHost) async throws in
                let id = try #require(try await host.pair().connectedDevice?.id)
                let challenge = try await host.post("/companion/pairing/start", "{}").decoded(PairingStartResponse.self)
                let code = #"{"pairingCode":"\#(challenge.code)","deviceName":"agent","devicePublicKey":"agent"}"#
                let requests = [
                    ("POST", "/companion/pairing/start", "{}", "pairing/start"),
                    ("POST", "/companion/pairing/complete", code, "pairing/complete"),
                    ("POST", "/companion/disconnect", "{}", "disconnect"),
                    ("DELETE", "/companion/devices/\(id)", "{}", "revoke"),
                ]
                for (method, path, body, _) in requests {
                    let answer = try await host.ask("http \(host.port) \(method) \(path) \(body)", model: "fake").answer
                    #expect(
                        answer.contains(
                            "An agent of this host asked for this, or a process that has ended. Only you may: use a terminal that the agent did not start."
                        ),
                        "\(method) \(path): \(answer)"
                    )
                }
                #expect(
                    try await host.ask("http \(host.port) GET /health {}", model: "fake").answer.contains(
                        "pairtool-host"
                    )
                )
                #expect(host.server.administration.devices().map(\.id) == [id])
                let rows = try await host.server.administration.audit.rows(limit: 100).filter {
                    $0.kind == "agent.refused"
                }
                #expect(rows.map { $0.detail["command"]?.string } == requests.map(\.3))
                #expect(rows.allSatisfy { $0.detail["address"]?.string == "127.0.0.1" && $0.detail["process"] != nil })
                for (method, path, body, _) in requests.dropFirst() {
                    #expect(try await host.send(method, path, body: body).status == 200, "\(method) \(path)")
                }
            }
        }
    }
}
