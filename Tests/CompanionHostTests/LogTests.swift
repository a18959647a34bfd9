import CompanionHost
import CompanionWire
import FoundationEssentials
import Identity
import Testing

@Suite("The log", .timeLimit(.minutes(15)))
struct LogTests {
    private static let prompt = "the prompt that nobody is to read"
    private static let answer = "the answer that nobody is to read"

    @Test("Pairing, sessions, commands, turns and the host itself: each event with what the protocol says of it")
    func wholeJob() async throws {
        let log = CollectedLog()
        let agent = "cat; echo '\(Self.answer)'; test ! -e fail"
        var secrets = [Self.prompt, Self.answer]
        let id = try await withHostAndDevice(
            logger: log.logger,
            configure: { $0.agent = .command(["sh", "-c", agent]) }
        ) { host, device in
            let challenge = try await host.challenge()
            let code = challenge.code == "000000" ? "000001" : "000000"
            _ = try await device.guessWrong(.code(code))
            let hello = PairingHelloRequest(clientNonce: "short")
            #expect(try await device.post("/companion/pairing/hello", hello).status == 400)
            let paired = try await device.pair(.code(challenge.code))
            secrets += [code, challenge.code, paired.session.token]

            let grant = try await device.openSession().decoded(SessionGrant.self)
            #expect(try await device.openSession(now: Date(timeIntervalSinceNow: -1000)).status == 401)
            secrets.append(grant.token)
            device.token = "unknown"
            #expect(try await device.get("/companion/projects").code == .sessionExpired)
            device.token = grant.token

            let chat = try await device.newChat()
            #expect(try await device.command(.chatCreate(projectID: "none", title: nil)).status == 404)
            _ = try await device.ask(Self.prompt, chat: chat.id)
            try write("", to: host.project + "/fail")
            _ = try await device.ask(Self.prompt, chat: chat.id)
            _ = try await host.server.administration.revoke(device.id)
            return device.id
        }

        func events(_ category: String, _ outcome: String) throws -> [CollectedLog.Line] {
            let lines = log.lines(category, outcome)
            try #require(!lines.isEmpty, "\(category) \(outcome)")
            for line in lines { #expect((line.milliseconds ?? -1) >= 0, "\(line) without its latency") }
            return lines
        }
        #expect(try events("pairing", "failed").map(\.code) == ["pairing.wrong_code"])
        #expect(try events("pairing", "refused").map(\.code) == ["request.invalid"])
        #expect(try events("pairing", "paired").map(\.device) == [id])
        #expect(try events("auth", "opened").map(\.device) == [id])
        let refused = try events("auth", "refused")
        #expect(refused.map(\.code) == ["session.expired", "session.expired"])
        #expect(refused.map(\.device) == [id, nil], "a token that nobody has is nobody's")
        #expect(try events("auth", "revoked").map(\.device) == [id])
        #expect(try events("command", "executed").map(\.device) == [id, id, id])
        #expect(try events("command", "refused").map(\.code) == ["request.not_found"])
        #expect(try events("command", "started").map(\.device) == [id, id])
        #expect(try events("command", "finished").map(\.device) == [id])
        let failed = try events("command", "failed")
        #expect(failed.map(\.device) == [id] && failed.map(\.code) == ["turn.failed"])
        #expect(try events("host", "listening").count == 1)
        #expect(try events("host", "ended").count == 1)

        for line in log.lines {
            for secret in secrets { #expect(!line.description.contains(secret), "\(line)") }
        }
    }

    @Test("What a host of v1 does, and an agent that cannot be run, are told in the same way")
    func legacy() async throws {
        let log = CollectedLog()
        try await withTemporaryDirectory { directory in
            let agent = directory + "/agent"
            try write("#!/bin/sh\necho complaint >&2\n", to: agent)
            try makeExecutable(agent)
            try await withHost(
                in: directory,
                logger: log.logger,
                configure: { $0.agent = .command([agent]) }
            ) { host in
                let code = try await host.challenge().code
                _ = try await host.complete(code: code == "000000" ? "000001" : "000000")
                try await host.pair()
                _ = try await host.ask("hello", model: "command")
                try write("#!/no/such/interpreter\n", to: agent)
                try makeExecutable(agent)
                _ = try await host.ask("hello", model: "command")
                _ = try await host.post("/companion/disconnect", "{}")
            }
        }
        let wrong = try #require(log.lines("pairing", "failed").first)
        #expect(wrong.code == "pairing.wrong_code" && wrong.milliseconds != nil)
        let paired = try #require(log.lines("pairing", "paired").first)
        #expect(paired.device != nil && paired.milliseconds != nil)
        #expect(log.lines("auth", "disconnected").map(\.device) == [paired.device])
        #expect(log.lines("host", "failed").map(\.code) == ["host.agent_unavailable"])
        #expect(log.lines("host", "agent").map(\.message) == ["agent: complaint"])
        let own = log.lines.filter { $0.message.hasPrefix("turn") || $0.message.hasPrefix("agent") }
        #expect(own.allSatisfy { $0.category != nil }, "\(own)")
    }
}
