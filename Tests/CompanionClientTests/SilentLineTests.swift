import CompanionClient
import CompanionTestSupport
import CompanionWire
import Testing

/// Connections that nobody closes and on which nothing comes any more.
@Suite(.timeLimit(.minutes(15))) struct SilentLineTests {
    @Test("A host that gives signs of life every 15 s counts as gone after 45 s, one of v1 after its own two minutes")
    func limits() {
        let timeouts = CompanionClientConfiguration.default.timeouts
        #expect(timeouts.silence == .seconds(45))
        #expect(timeouts.idle > .seconds(120))
    }

    @Test("A black hole in a followed turn is noticed, and the answer goes on behind its last frame")
    func followedTurn() async throws {
        try await withTLSTestHost { request, _ in
            if request.header("Last-Event-ID") == nil {
                return [.eventsHead, .frame(1, #"{"type":"text","text":"one "}"#), .hold("never")]
            }
            return [.eventsHead, .frame(2, #"{"type":"text","text":"two"}"#), .send("data: [DONE]\n\n"), .close]
        } _: { host in
            try await withCutRelay(before: host.port) { relay in
                let configuration = CompanionClientConfiguration(
                    timeouts: .init(
                        connect: .seconds(60),
                        request: .seconds(120),
                        // By the time of v1, it would not be noticed within this test.
                        idle: .seconds(3600),
                        silence: .seconds(2)
                    ),
                    retries: .init(count: 8, firstWait: .milliseconds(1), longestWait: .milliseconds(2))
                )
                let endpoint = try #require(CompanionEndpoint("127.0.0.1:\(relay.port)"))
                let text = try await CompanionAPIClient.withClient(
                    endpoint: endpoint,
                    security: .pinned(PinnedCertificate(der: host.certificate.der)),
                    credentials: StubCredentials(token: "t"),
                    configuration: configuration
                ) { client in
                    var text = ""
                    for try await output in try FollowedTurn(client: client, chatID: "c1", turnID: "t1") {
                        guard case .text(let piece) = output else { continue }
                        text += piece
                        // The second connection stays whole: its end may come after its text.
                        if text == "one " { relay.swallow() }
                    }
                    return text
                }
                #expect(text == "one two")
                // A busy machine may be silent for as long, too.
                let asked = host.requests.map { $0.header("Last-Event-ID") }
                #expect(asked.count > 1 && asked[0] == nil && asked.dropFirst().allSatisfy { $0 == "1" }, "\(asked)")
            }
        }
    }

    @Test("A Mac of v1 may think in silence for longer than that")
    func version1() async throws {
        let turn = FakeMacTurn(
            steps: [.frame(FakeMacTurn.text("a")), .hold("thinking"), .frame(FakeMacTurn.text("b")), .store, .end],
            answer: "ab"
        )
        let configuration = CompanionClientConfiguration(timeouts: .init(silence: .milliseconds(1)))
        try await withPeers(.turn(turn), configuration) { mac, client async throws in
            var outputs: [TurnEvent] = []
            for try await output in ChatTurn(client: client, chatID: "c-login", request: .prompt("Hi")).run() {
                outputs.append(output)
                guard output == .text("a") else { continue }
                // Other requests take longer than the silence that counts elsewhere.
                for _ in 0..<5 { _ = try await client.projects() }
                mac.release("thinking")
            }
            #expect(!outputs.contains { if case .recovering = $0 { true } else { false } })
            #expect(mac.prompts == 1)
        }
    }
}
