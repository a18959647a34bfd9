import CompanionTestSupport
import CompanionWire
import Providers
import Testing

@Suite("What a server refuses is left out", .timeLimit(.minutes(15)))
struct RefusedRequestTests {
    private static func error(_ text: String) -> String { #"{"error":{"message":\#(JSONText.quoted(text))}}"# }

    @Test(
        "An option that the server refuses is left out, and the prompt sent once more",
        arguments: [
            (400, error("Unrecognized request argument supplied: stream_options"), "stream_options"),
            (
                422,
                #"{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}"#,
                "stream_options"
            ),
            (400, error("Unsupported value: 'temperature' does not support 0.5 with this model."), "temperature"),
            (400, error("unknown parameter: max_completion_tokens"), "max_completion_tokens"),
        ]
    )
    func options(status: Int, body: String, member: String) async throws {
        try await withFakeProviders { fake in
            fake.reply(.status(status, headers: [], body: body), .answer(["Yes."]))
            var prompt = ProviderPrompt.asking("Why?", temperature: 0.5)
            prompt.maxTokens = 100
            let asked = try await ask(prompt, try fake.endpoint(.openai))
            #expect(asked.error == nil && asked.text == "Yes.", "\(String(describing: asked.error))")
            let bodies = fake.requests.map { JSONValue(lenient: $0.body) }
            #expect(bodies.map { $0?[member] == nil } == [false, true])
            #expect(bodies.last??["stream"]?.bool == true && bodies.last??["messages"]?.array?.count == 2)
            if member == "max_completion_tokens" { #expect(bodies.last??["max_tokens"]?.count == 100) }
        }
    }

    @Test(
        "A model without a system role gets the system prompt with the first message",
        arguments: [
            (400, error("System role not supported")),
            (500, error("Jinja Exception: Only user and assistant roles are supported!")),
            (400, error("Conversation roles must alternate user/assistant/user/assistant/...")),
            (400, error("Developer instruction is not enabled for models/gemma")),
        ]
    )
    func system(status: Int, body: String) async throws {
        for provider in [Provider.openai, .ollama] {
            try await withFakeProviders { fake in
                fake.reply(.status(status, headers: [], body: body), .answer(["Yes."]))
                let asked = try await ask(.asking("Why?"), try fake.endpoint(provider))
                #expect(asked.error == nil && asked.text == "Yes.")
                let last = try fake.lastBody
                #expect(last.count("messages") == 1 && last.text("messages.0.role") == "user")
                #expect(last.text("messages.0.content") == "Be brief.\n\nWhy?")
            }
        }
    }

    @Test("A server that does not stream is asked for the whole answer", arguments: [400, 501])
    func stream(status: Int) async throws {
        try await withFakeProviders { fake in
            let whole = #"{"choices":[{"message":{"content":"Yes."},"finish_reason":"stop"}]}"#
            fake.reply(
                .status(status, headers: [], body: Self.error("Streaming is not supported.")),
                .status(200, headers: [], body: whole)
            )
            let asked = try await ask(.asking("Why?"), try fake.endpoint(.openai))
            #expect(asked.error == nil && asked.text == "Yes.")
            let last = JSONValue(lenient: try #require(fake.requests.last).body)
            #expect(last?["stream"]?.bool == false && last?["stream_options"] == nil)
        }
    }

    @Test("Several refusals are heard one after the other, and what was learned holds for the next prompt")
    func several() async throws {
        try await withFakeProviders { fake in
            fake.reply(
                .status(400, headers: [], body: Self.error("stream_options is not supported")),
                .status(400, headers: [], body: Self.error("System role not supported")),
                .answer(["Yes."]),
                .answer(["No."])
            )
            let endpoint = try fake.endpoint(.openai)
            try await ProviderClient.withClient { client in
                for _ in 0..<2 { try await client.answer(.asking("Why?"), from: endpoint) { _ in } }
            }
            let bodies = fake.requests.map { JSONValue(lenient: $0.body) ?? .null }
            #expect(bodies.map { $0["messages"]?.array?.count } == [2, 2, 1, 1])
            #expect(bodies.map { $0["stream_options"] == nil } == [false, true, true, true])
        }
    }

    @Test("What is refused again, or is no part of the prompt, is an error")
    func again() async throws {
        try await withFakeProviders { fake in
            let refusal = FakeProviderReply.status(
                400,
                headers: [],
                body: Self.error("stream_options is not supported")
            )
            fake.reply(refusal, refusal)
            let twice = try await ask(.asking("Why?"), try fake.endpoint(.openai))
            #expect(twice.error?.code == .badRequest && fake.requests.count == 2)
            fake.reply(.status(400, headers: [], body: Self.error("tools are not supported")))
            let toolless = try await ask(.asking("Why?"), try fake.endpoint(.openai))
            #expect(toolless.error?.code == .badRequest && fake.requests.count == 3)
            // Not everything that names a stream refuses it.
            fake.reply(.status(500, headers: [], body: Self.error("Unexpected answer of the upstream server")))
            let upstream = try await ask(.asking("Why?"), try fake.endpoint(.openai))
            #expect(upstream.error?.code == .server && fake.requests.count == 4)
        }
    }

    @Test(
        "A server's words are told whatever their shape",
        arguments: [
            (#"{"detail":"no such thing"}"#, "no such thing"), (#"{"message":"no such thing"}"#, "no such thing"),
            ("no such thing\n", "no such thing"), (#"{"error":{"msg":"no such thing"}}"#, "no such thing"),
            ("<html><head><title>no such thing</title></head><body>x</body></html>", "no such thing"),
            ("<html><body><h1 class=\"a\">no such thing</h1></body></html>", "no such thing"),
            (#"{"title":"Bad","detail":"no such thing","status":400}"#, "no such thing"),
            (#"{"errors":["no such thing","nor this"]}"#, "no such thing; nor this"),
            (#""no such thing""#, "no such thing"),
            (#"[{"error":{"message":"no such thing"}}]"#, "no such thing"), ("<html></html>", nil), ("{}", nil),
            ("", nil),
        ] as [(String, String?)]
    )
    func words(body: String, words: String?) async throws {
        try await withFakeProviders { fake in
            fake.reply(.status(400, headers: [], body: body))
            let asked = try await ask(.asking("Why?"), try fake.endpoint(.openai))
            #expect(asked.error?.code == .badRequest && asked.error?.providerText == words)
        }
    }

    // MARK: The address

    @Test(
        "An address without a version is tried with /v1",
        arguments: [
            FakeProviderReply.status(404, headers: [], body: "404 page not found"),
            .status(405, headers: [], body: #"{"detail":"Method Not Allowed"}"#),
            .status(200, headers: [], body: #"{"error":"Unexpected endpoint or method. (POST /chat/completions)"}"#),
            .stream("<!doctype html><title>LM</title>"),
        ]
    )
    func version(reply: FakeProviderReply) async throws {
        try await withFakeProviders { fake in
            fake.reply(reply, .answer(["Yes."]), .answer(["No."]))
            let endpoint = ProviderEndpoint(
                provider: .openai,
                url: try ProviderURL(fake.url, provider: .openai),
                key: nil
            )
            try await ProviderClient.withClient { client in
                for _ in 0..<2 { try await client.answer(.asking("Why?"), from: endpoint) { _ in } }
            }
            #expect(
                fake.requests.map(\.path) == ["/chat/completions"] + Array(repeating: "/v1/chat/completions", count: 2)
            )
        }
    }

    @Test("Of two wrong addresses the given one counts, unless the other one lacks only the model")
    func wrongAddress() async throws {
        try await withFakeProviders { fake in
            let endpoint = ProviderEndpoint(
                provider: .openai,
                url: try ProviderURL(fake.url, provider: .openai),
                key: nil
            )
            let nowhere = FakeProviderReply.status(404, headers: [], body: "nothing here")
            fake.reply(nowhere, .status(404, headers: [], body: "nor here"))
            let neither = try await ask(.asking("Why?"), endpoint)
            #expect(neither.error?.code == .notFound && neither.error?.providerText == "nothing here")
            fake.reply(nowhere, .status(404, headers: [], body: Self.error("model 'x' not found")))
            let lacking = try await ask(.asking("Why?"), endpoint)
            #expect(lacking.error?.providerText == "model 'x' not found")
            #expect(fake.requests.count == 4)
            // With a version, nothing else is tried.
            fake.reply(nowhere)
            let versioned = try await ask(.asking("Why?"), try fake.endpoint(.openai))
            #expect(versioned.error?.providerText == "nothing here" && fake.requests.count == 5)
        }
    }

    @Test("The whole address of the interface is one of a server")
    func wholeAddress() throws {
        for text in ["http://localhost:1/v1", "http://localhost:1/v1/", "http://localhost:1/v1/chat/completions"] {
            #expect(try ProviderURL(text, provider: .openai).description == "http://localhost:1/v1")
        }
    }
}
