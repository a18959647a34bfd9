import CompanionClient
import CompanionTestSupport
import CompanionWire
import NIOConcurrencyHelpers
import Testing

/// What keeps a connection, and what ends it, below the messages.
@Suite struct AICLIPulseTests {
    @Test("A message that grows beyond 8 MiB by small frames is refused")
    func grownMessage() async throws {
        try await withAICLI(.fault(.oversizeMessage)) { peers in
            let shown = try await peers.send("go")
            #expect(shown.error?.code == .tooLarge, "\(String(describing: shown.error))")
            #expect(peers.server.prompts.isEmpty)
        }
    }

    /// The part of an answer without an end that is limited.
    enum Flood: String, CaseIterable, Sendable { case frames, bytes, connections }

    @Test(
        "A turn whose messages do not end is given up, over however many connections they come",
        arguments: Flood.allCases
    )
    func flood(_ flood: Flood) async throws {
        var limits = CompanionClientConfiguration.Limits()
        let pieces = Array(repeating: FakeAICLITurn.Step.text("piece"), count: 300)
        var turn = FakeAICLITurn(pieces)
        switch flood {
        case .frames: limits.frames = 200
        case .bytes: limits.answer = 20_000
        case .connections:
            limits.frames = 400
            // The first ones have all been read when the ping is answered.
            turn.steps = pieces + [.ping, .resetAll, .untilAlone, .untilJoined] + pieces
        }
        turn.steps += [.result, .reply("piece")]
        try await withAICLI(.with { ($0.turns, $0.pongLimit) = ([turn], .seconds(60)) }, limits: limits) { peers in
            let shown = try await peers.send("go")
            #expect(shown.error?.code == .tooLarge, "\(String(describing: shown.error))")
            #expect(shown.text.utf8.count <= 300 * "piece\n\n".utf8.count * (flood == .connections ? 2 : 1))
            #expect(peers.server.prompts == ["go"])
            #expect(peers.server.requests.count { $0.path == "/ws" } == (flood == .connections ? 2 : 1))
        }
    }

    @Test("Pings of the server are answered with what they carry, so that it keeps the connection")
    func pulse() async throws {
        let turn = FakeAICLITurn([.ping, .text("One."), .ping, .text("Two."), .result, .reply("One.\n\nTwo.")])
        try await withAICLI(.with { ($0.turns, $0.pongLimit) = ([turn], .seconds(30)) }) { peers in
            let shown = try await peers.send("go")
            #expect(shown.error == nil && shown.text == "One.\n\nTwo.")
            #expect(peers.server.pongs == 2)
            #expect(peers.server.requests.count { $0.path == "/ws" } == 1)
        }
    }

    @Test(
        "A server that falls silent is left, and its session gone on with over a new connection",
        .timeLimit(.minutes(15))
    )
    func fallsSilent() async throws {
        let turn = FakeAICLITurn([
            .text("The first half,"), .untilAlone, .untilJoined, .text("and the second."), .result, .reply("lost"),
        ])
        try await withAICLI(.turns(turn)) { peers in
            var peers = peers
            peers.host.runner.configuration.deadAfter = .seconds(2)
            // Long enough for that, and too short for what is waited for otherwise.
            peers.host.runner.configuration.silence = .seconds(30)
            let shown = try await peers.send("go")
            #expect(shown.error == nil, "\(String(describing: shown.error))")
            #expect(shown.summary?.answer == "The first half,\n\nand the second.")
            #expect(shown.notices.contains { $0.contains("broke; connecting again") })
            #expect(peers.server.requests.count { $0.path == "/ws" } >= 2)
            #expect(peers.server.prompts == ["go"] && peers.waits.withLockedValue(\.self).first == .seconds(1))
        }
    }
}
