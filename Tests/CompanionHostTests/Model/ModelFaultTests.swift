import CompanionTestSupport
import CompanionWire
import Providers
import Testing

@testable import CompanionHost

@Suite("A model's server that fails is said to, and why", .timeLimit(.minutes(15)))
struct ModelFaultTests {
    /// What the error of a prompt says.
    private func message(_ bench: ModelBench) async throws -> String {
        try #require(try await bench.ask().error).message
    }

    @Test(
        "A limit of requests is waited for, which is said",
        arguments: [(429, "limits requests"), (503, "is busy or loading the model")]
    )
    func waits(status: Int, words: String) async throws {
        try await ModelBench.with { bench in
            bench.fake.reply(
                .status(status, headers: [("Retry-After", "7")], body: "{}"),
                .status(status, headers: [], body: "{}"),
                .answer(["Yes."])
            )
            let outcome = try await bench.ask()
            #expect(outcome.text == "Yes.")
            #expect(outcome.waits == [.seconds(7), .seconds(5)])
            #expect(outcome.statuses.first == "Waiting 7 s: \(bench.launch.endpoint.name) \(words)")
        }
    }

    @Test("A limit that lasts too long is an error at once")
    func longWait() async throws {
        try await ModelBench.with { bench in
            bench.fake.reply(
                .status(429, headers: [("Retry-After", "300")], body: #"{"error":{"message":"Slow down."}}"#)
            )
            let outcome = try await bench.ask()
            #expect(outcome.waits.isEmpty)
            #expect(
                outcome.error?.message
                    == "\(bench.launch.endpoint.name) limits requests (it says: Slow down). It asks to wait 300 s"
            )
        }
    }

    @Test("A server that always says to come back at once is not asked without an end")
    func endlessWait() async throws {
        try await ModelBench.with { bench in
            for _ in 0..<100 { bench.fake.reply(.status(429, headers: [("Retry-After", "0")], body: "{}")) }
            let outcome = try await bench.ask()
            #expect(outcome.error != nil)
            #expect(outcome.waits.count == 60)
        }
    }

    @Test("A refused key is named by its place, and never shown")
    func key() async throws {
        let text = madeKeyText()
        try await ModelBench.with(key: ProviderKey(text), keyPlace: "OPENAI_API_KEY") { bench in
            for fault in FakeProviderFault.allCases where ![.rate, .overloaded].contains(fault) {
                bench.fake.reply(.fault(fault))
                let error = try #require(try await bench.ask().error)
                #expect(!error.message.contains(text))
            }
            bench.fake.reply(.fault(.key), .fault(.forbidden))
            let refused = try await message(bench)
            #expect(
                refused == "\(bench.launch.endpoint.name) rejected the key from "
                    + "OPENAI_API_KEY. At the host: pairtool lumi keys set openai, or OPENAI_API_KEY, then start the host "
                    + "again"
            )
            let forbidden = try await message(bench)
            #expect(forbidden.hasSuffix(". Check at the host what its key may do: OPENAI_API_KEY"))
        }
        try await ModelBench.with { bench in
            bench.fake.reply(.fault(.key), .fault(.forbidden))
            let wanted = try await message(bench)
            #expect(wanted.contains("wants a key, and the host sends it none"))
            let forbidden = try await message(bench)
            #expect(forbidden.hasSuffix(". The host sends it no key"))
        }
    }

    @Test("A model that is not there is named with those that are")
    func model() async throws {
        try await ModelBench.with(models: ["qwen3:8"]) { bench in
            bench.fake.list(models: ["gemma3", "llama\u{1b}[2J", "qwen3:8b"])
            bench.fake.reply(.fault(.model), .fault(.model))
            let listed = try await message(bench)
            #expect(
                listed
                    == "\(bench.launch.endpoint.name) does not have the model “qwen3:8”. It has qwen3:8b, gemma3, llama␛[2J"
            )
            bench.fake.list(models: nil)
            let unlisted = try await message(bench)
            #expect(unlisted.contains("Check --url at the host: it usually ends with /v1"))
        }
    }

    @Test(
        "An answer that breaks off is kept, and the break is said",
        arguments: [
            FakeProviderReply.cut(["Roses"], isReset: false), .cut(["Roses"], isReset: true), .unfinished(["Roses"]),
        ]
    )
    func cut(reply: FakeProviderReply) async throws {
        try await ModelBench.with { bench in
            bench.fake.reply(reply)
            let outcome = try await bench.ask()
            #expect(outcome.text == "Roses")
            #expect(outcome.error?.message == "The answer of \(bench.launch.endpoint.name) broke off before its end")
        }
    }

    @Test(
        "What is not an answer is said to be none",
        arguments: [
            (FakeProviderReply.stream("<html>Not here</html>\n"), "sent something that is not in its format"),
            (.stream("data: <html>\n\n"), "sent something that is not in its format"),
            (.stream(Chunk.delta(#"{"tool_calls":[{"function":7}]}"#)), "sent something that is not in its format"),
            (.stream("data: " + String(repeating: "x", count: 5 << 20)), "sent an answer that is too large"),
            (
                .stream(Chunk.call(0, id: "c", name: "search", String(repeating: "x", count: 300 << 10))),
                "sent an answer that is too large"
            ),
            (.status(307, headers: [("Location", "http://127.0.0.1:9/")], body: ""), "answers with a redirect"),
            (.status(500, headers: [], body: "no JSON"), "failed with status 500"),
            (
                .status(400, headers: [], body: #"{"error":"bad request"}"#),
                "refused the request with status 400 (it says: bad request)"
            ),
            (
                .stream(Chunk.event(#"{"error":{"message":"out of memory","type":"server_error"}}"#)),
                "ended its answer with an error (it says: out of memory)"
            ),
            (.stream(Chunk.end()), "small returned an empty answer"), (.blocked, "A filter of"),
            (.stream(Chunk.text("Half") + Chunk.event("[DONE]")), "broke off before its end"),
            (
                .stream(
                    Chunk.text("Half") + "error: {\"message\":\"out of device memory\"}\n\n" + Chunk.event("[DONE]")
                ),
                "(it says: out of device memory)"
            ),
            (.status(400, headers: [], body: #"{"detail":"no such thing"}"#), "(it says: no such thing)"),
            (.status(500, headers: [], body: "<title>502 Bad Gateway</title>"), "(it says: 502 Bad Gateway)"),
            (.bytes("SSH-2.0-x\r\n"), "broke before an answer"),
        ]
    )
    func garbage(reply: FakeProviderReply, words: String) async throws {
        try await ModelBench.with { bench in
            bench.fake.reply(reply)
            let error = try await bench.ask().error
            #expect(error?.message.contains(words) == true, "\(error?.message ?? "no error")")
        }
    }

    @Test("Silence has its own words, before an answer and in it")
    func silence() async throws {
        try await ModelBench.with { bench in
            bench.fake.reply(.silence(gate: "never"))
            let before = try await bench.ask(limits: ProviderClient.Limits(head: .milliseconds(200)))
            #expect(before.error?.message == "\(bench.launch.endpoint.name) did not answer in time")
            bench.fake.reply(.held(["Ro"], gate: "never", []))
            let within = try await bench.ask(limits: ProviderClient.Limits(idle: .seconds(15)))
            #expect(within.text == "Ro")
            #expect(within.error?.message.hasSuffix("broke off before its end. It was silent for too long") == true)
        }
    }

    @Test("A server that is not there, or whose certificate nobody vouches for, is sent nothing")
    func unreachable() async throws {
        try await ModelBench.with { bench in
            var bench = bench
            let port = try await withFakeProviders { $0.port }
            func use(_ text: String) throws -> String {
                let url = try ProviderURL(text, provider: .openai)
                bench.launch.endpoint = ProviderEndpoint(provider: .openai, url: url, key: nil, name: url.authority)
                return url.authority
            }
            let gone = try use("http://127.0.0.1:\(port)/v1")
            let nobody = try await message(bench)
            #expect(nobody == "No connection to \(gone)")
            try await withTLSTestHost { _, _ in
                [.json(200, "{}")]
            } _: { host in
                let name = try use("https://127.0.0.1:\(host.port)/v1")
                let unproven = try await message(bench)
                #expect(unproven == "The certificate of \(name) could not be verified; nothing was sent")
                #expect(host.requests.isEmpty)
            }
        }
    }
}
