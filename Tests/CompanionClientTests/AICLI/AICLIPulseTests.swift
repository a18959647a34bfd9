import CompanionClient
import CompanionTestSupport
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
        .timeLimit(.minutes(5))
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
