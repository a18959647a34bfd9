import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Testing

@testable import pairtool

/// `PAIRTOOL_LOG=trace` says what happens, and never what is in it.
@Suite(.timeLimit(.minutes(15))) struct TraceTests {
    private static let tracing = ["PAIRTOOL_LOG": "trace"]
    private static let prompt = "Zwieback prompt"
    private static let answer = "Marzipan answer"

    /// What may not be said, as it is, in hex or in base64.
    private static func search(_ more: [(String, String)] = []) -> SecretSearch {
        var search = SecretSearch()
        for (name, text) in [("prompt", prompt), ("answer", answer)] + more {
            search.add(name, bytes: Array(text.utf8))
        }
        return search
    }

    private static func expectSilence(
        _ said: String,
        _ search: SecretSearch,
        _ place: SourceLocation = #_sourceLocation
    ) {
        #expect(said.contains(" debug ") || said.contains(" trace "), "it did log", sourceLocation: place)
        #expect(search.leaks(in: Data(said.utf8), of: "the log") == [], "\(said)", sourceLocation: place)
    }

    @Test("A prompt to a legacy host, its answer and the chat that it is in are not in the log")
    func legacy() async throws {
        var script = FakeMacScript()
        script.turns = [.answering(Self.answer, unitsPerFrame: 30)]
        script.fill("c-login", count: 1)
        script.messages["c-login"]?[0].text = "Nougat"
        try await withFakeMac(script) { mac in
            try await Sandbox.with { user in
                let words = ["pair", "--url", "http://\(mac.endpointText)", "--code-stdin", "--allow-legacy"]
                let paired = try await user.spawn(words, stdin: "482913\n", environment: Self.tracing)
                #expect(paired.status == 0, "\(paired)")
                let sent = try await user.spawn(["send", "c-login", Self.prompt], environment: Self.tracing)
                #expect(sent.status == 0 && sent.out == Self.answer + "\n", "\(sent)")
                let listed = try await user.spawn(["messages", "c-login"], environment: Self.tracing)
                #expect(listed.out.contains("Nougat"), "\(listed)")
                var search = Self.search([("message", "Nougat"), ("token", script.token)])
                search.add(code: script.code)
                Self.expectSilence(paired.err + sent.err + listed.err, search)
            }
        }
    }

    @Test("What a verified host and its device say to each other is in the log of neither")
    func verified() async throws {
        try await withProject { host, user in
            let words = [
                "host", "--json", "--show-secrets", "--port", "0", "--engine", "embedded", "--name", "Shed",
                "--project",
                host.directory + "/garden", "--agent-command", "/bin/echo '\(Self.answer)'",
            ]
            let hosting = try await host.follow(words, environment: Self.tracing) { server in
                let payload = try await server.events.payload
                let text = try #require(try await server.events.first("challenge")["qrPayload"]?.string)
                try await user.pair(text)
                let sent = try await user.spawn(
                    ["send", "--new", "--project", "garden", Self.prompt],
                    environment: Self.tracing
                )
                #expect(sent.status == 0 && sent.out.contains(Self.answer), "\(sent)")
                let listed = try await user.spawn(["messages", "Zwieback", "--json"], environment: Self.tracing)
                #expect(listed.out.contains(Self.answer), "\(listed)")
                try server.interrupt()
                return (payload, sent.err + listed.err)
            }
            var search = try Self.search([("token", #require(hosting.value.0.token))])
            search.add(code: hosting.value.0.code)
            Self.expectSilence(hosting.value.1, search)
            Self.expectSilence(hosting.result.err, search)
        }
    }

    @Test("Nor is what is said to an AICLI server, nor its token")
    func aicli() async throws {
        var script = FakeAICLIScript()
        script.turns = [.answering(Self.answer, pieces: [Self.answer])]
        try await withFakeAICLI(script) { server in
            try await Sandbox.with { user in
                try await user.pair(server)
                let sent = try await user.spawn(["send", "web", Self.prompt], environment: Self.tracing)
                #expect(sent.status == 0 && sent.out.contains(Self.answer), "\(sent)")
                let projects = try await user.spawn(["projects"], environment: Self.tracing)
                Self.expectSilence(sent.err + projects.err, Self.search([("token", server.token ?? "?")]))
            }
        }
    }

    @Test("Nor what a Jarvis daemon wants to be approved")
    func jarvis() async throws {
        var script = FakeJarvisScript()
        script.approvals[0].action = Self.prompt
        script.approvals[0].reason = Self.answer
        try await withFakeJarvis(script) { jarvis in
            try await Sandbox.with { user in
                await user.pair(jarvis)
                let listed = try await user.spawn(["approvals", "--json"], environment: Self.tracing)
                #expect(listed.out.contains(Self.prompt), "\(listed)")
                Self.expectSilence(listed.err, Self.search())
            }
        }
    }
}
