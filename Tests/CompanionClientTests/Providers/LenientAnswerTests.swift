import CompanionTestSupport
import CompanionWire
import Testing

@testable import Providers

/// What servers that call themselves compatible with OpenAI were reported to send.
@Suite("Answers of compatible servers", .timeLimit(.minutes(15)))
struct LenientAnswerTests {
    private static func event(_ json: String) -> String { "data: \(json)\n\n" }

    /// - Parameter delta: The members of the delta.
    private static func chunk(_ delta: String, end: String? = nil, more: String = "") -> String {
        event(chunkJSON(delta, end: end, more: more))
    }

    private static func chunkJSON(_ delta: String, end: String? = nil, more: String = "") -> String {
        let reason = end.map { "\"\($0)\"" } ?? "null"
        return #"{"id":"c1","choices":[{"index":0,"delta":{\#(delta)},"finish_reason":\#(reason)}]\#(more)}"#
    }

    private static let hello = chunk(#""content":"Hello there""#)
    private static let stop = chunk("", end: "stop")
    private static let done = event("[DONE]")

    private func received(_ stream: String, _ provider: Provider = .openai) async throws -> Asked {
        try await withFakeProviders { fake in
            fake.reply(.stream(stream))
            return try await ask(.asking("Why?"), try fake.endpoint(provider))
        }
    }

    private static let wholeAnswers: [(String, String)] = [
        ("usual", hello + stop + done),
        ("parts", chunk(#""content":[{"type":"text","text":"Hello "}]"#) + chunk(#""content":"there""#) + stop + done),
        ("one part", chunk(#""content":{"type":"text","text":"Hello there"}"#) + stop + done),
        ("no closing word", hello + stop), ("blank behind the closing word", hello + stop + "data: [DONE] \n\n"),
        ("empty data", "data:\n\ndata: \n\n" + hello + "data:\n\n" + stop + done),
        ("last event not ended", hello + String(stop.dropLast(2))),
        ("no blank lines", (hello + stop + done).replacing("\n\n", with: "\n")),
        ("CR LF", (hello + stop + done).replacing("\n", with: "\r\n")), ("mark", "\u{FEFF}" + hello + stop + done),
        ("no blank behind the colon", (hello + stop + done).replacing("data: ", with: "data:")),
        ("comments", ": ping\n\n:\nretry: 5\nid: 7\n" + hello + ": ping\n\n" + stop + done),
        ("words in events", event("OPENROUTER PROCESSING") + hello + event("ping") + stop + done),
        (
            "no errors",
            chunk("", more: #","error":"","code":0,"message":"ok""#) + hello
                + chunk("", end: "stop", more: #","error":null,"code":"Success","detail":"fine""#) + done
        ),
        (
            "no errors either",
            chunk("", more: #","error":{},"errors":[]"#) + hello
                + chunk("", end: "stop", more: #","error":{"code":0,"message":""},"success":false"#) + done
        ),
        (
            "strangers",
            event(#"{"type":"ping"}"#) + event(#"{"message":"working"}"#) + hello + event("[]") + stop + done
        ),
        (
            "types",
            event(
                #"{"id":7,"created":"now","choices":[{"index":"0","delta":{"content":"Hello there","role":3},"finish_reason":"stop","logprobs":NaN}],"usage":{"prompt_tokens":"12","completion_tokens":7.0,"cost":NaN}}"#
            ) + done
        ),
        (
            "empty reasons",
            chunk(#""content":"Hello ""#, end: "") + chunk(#""content":"there""#, end: "null") + stop + done
        ),
        (
            "null everywhere",
            event(#"{"choices":null,"usage":null}"#) + event(#"{"choices":[]}"#)
                + event(#"{"choices":[{"delta":null}]}"#) + chunk(#""content":null,"tool_calls":null,"reasoning":null"#)
                + hello + stop + done
        ),
        ("own reason", hello + chunk("", end: "eos_token") + done),
        ("message instead of delta", hello.replacing("delta", with: "message") + stop + done),
        ("lines", chunkJSON(#""content":"Hello there""#) + "\n" + chunkJSON("", end: "stop") + "\n"),
        (
            "whole",
            #"{"choices":[{"index":0,"message":{"role":"assistant","content":"Hello there"},"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":7}}"#
        ),
        ("whole, in lines", "{\n \"choices\": [\n  {\"message\": {\"content\": \"Hello there\"}}\n ]\n}\n"),
        ("text", event(#"{"choices":[{"text":"Hello there","finish_reason":"stop"}]}"#) + done),
        ("half a character", chunk(#""content":"Hello there""#, more: #","x":"\ud83c""#) + stop + done),
    ]

    @Test("A whole answer is one, however it is written", arguments: wholeAnswers)
    func whole(name: String, stream: String) async throws {
        let asked = try await received(stream)
        #expect(asked.error == nil, "\(name): \(String(describing: asked.error))")
        #expect(asked.text == "Hello there", "\(name)")
        #expect(asked.events.contains(.finished(.complete)), "\(name)")
    }

    private static let halfAnswers: [(String, String, ProviderError.Code, String)] = [
        // llama.cpp; also in mid-answer.
        (
            "field", "error: {\"code\":400,\"message\":\"try increasing the context size\"}\n\n" + done,
            .contextOverflow, "try increasing the context size"
        ),
        (
            "field, later", hello + "error: {\"code\":500,\"message\":\"out of device memory\"}\n\n" + done, .server,
            "out of device memory"
        ),
        ("field with text", hello + "error: it broke\n\n" + stop + done, .server, "it broke"),
        (
            "not framed", #"{"error":{"code":400,"message":"too many tokens","type":"invalid_request_error"}}"#,
            .badRequest, "too many tokens"
        ),
        ("not framed, later", hello + "{\"error\":\"it broke\"}\n" + done, .server, "it broke"),
        (
            "not framed, in lines", hello + "{\n \"error\": {\n  \"message\": \"it broke\"\n }\n}\n\n" + stop + done,
            .server, "it broke"
        ),
        (
            "named event", hello + "event: error\ndata: {\"message\":\"it broke\"}\n\n" + stop + done, .server,
            "it broke"
        ),
        ("named event with text", hello + "event: error\ndata: it broke\n\n" + done, .server, "it broke"),
        (
            "in a chunk", hello + chunk("", end: "stop", more: #","error":{"message":"it broke","code":502}"#), .server,
            "it broke"
        ),
        (
            "in a choice",
            hello + event(#"{"choices":[{"delta":{},"finish_reason":"error","error":{"message":"it broke"}}]}"#) + done,
            .server, "it broke"
        ),
        ("a list", hello + event(#"{"errors":[{"msg":"it broke"},{"msg":"again"}]}"#), .server, "it broke; again"),
        (
            "own object", hello + event(#"{"object":"error","message":"it broke","code":40303}"#) + done, .server,
            "it broke"
        ),
        (
            "code and message", hello + event(#"{"code":"InternalError","message":"it broke"}"#) + done, .server,
            "it broke"
        ),
        ("detail", hello + event(#"{"detail":"it broke"}"#) + done, .server, "it broke"),
        ("no success", hello + event(#"{"success":false,"msg":"it broke"}"#) + done, .server, "it broke"),
        (
            "behind a server",
            hello
                + event(
                    #"{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"{\"error\":\"slow down\"}"}}}"#
                ), .rateLimited, "Provider returned error: slow down"
        ),
        ("overloaded", hello + event(#"{"error":{"message":"it broke","code":"503"}}"#), .overloaded, "it broke"),
        ("reason", hello + chunk("", end: "error") + done, .server, "error"),
        ("abort", hello + chunk("", end: "abort") + done, .server, "abort"),
        (
            "resources", hello + chunk("", end: "insufficient_system_resource") + done, .server,
            "insufficient_system_resource"
        ),
        ("no reason", hello + done, .streamInterrupted, ""),
        ("no reason, no closing word", hello, .streamInterrupted, ""),
        ("only the closing word", done, .streamInterrupted, ""),
        ("words at the end", hello + "worker crashed\n", .streamInterrupted, "worker crashed"),
        ("broken piece", hello + event(#"{"choices":[{"delta":{"content":"lo"#) + stop + done, .badAnswer, ""),
        ("cut piece", hello + #"data: {"choices":[{"delta":{"content":"lo"#, .streamInterrupted, ""),
        ("message without a reason", hello.replacing("delta", with: "message") + done, .streamInterrupted, ""),
        (
            "page", "<!DOCTYPE html>\n<html><head>\n<TITLE>Sign in &amp; more</TITLE></head></html>", .badAnswer,
            "Sign in & more"
        ),
        ("text", "upstream is gone\n", .badAnswer, "upstream is gone"),
    ]

    @Test("Half an answer is none, and what the server says is told", arguments: halfAnswers)
    func half(name: String, stream: String, code: ProviderError.Code, words: String) async throws {
        let asked = try await received(stream)
        #expect(asked.error?.code == code, "\(name): \(String(describing: asked.error)), “\(asked.text)”")
        #expect(
            words.isEmpty || asked.error?.providerText?.contains(words) == true,
            "\(name): \(asked.error?.providerText ?? "")"
        )
    }

    @Test(
        "Other providers' answers need their proper end, too",
        arguments: [
            (
                Provider.anthropic, #"{"type":"content_block_delta","delta":{"type":"text_delta","text":"Hello"}}"#,
                #"{"type":"message_stop"}"#
            ),
            (.anthropic, #"{"type":"content_block_delta","delta":{"type":"text_delta","text":"Hello"}}"#, "[DONE]"),
            (.gemini, #"{"candidates":[{"content":{"parts":[{"text":"Hello"}]}}]}"#, "[DONE]"),
            (
                .gemini, #"{"candidates":[{"content":{"parts":[{"text":"Hello"}]}}]}"#,
                #"{"candidates":[{"finishReason":"OTHER"}]}"#
            ),
            (
                .gemini, #"{"candidates":[{"content":{"parts":[{"text":"Hello"}]}}]}"#,
                #"{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}"#
            ),
            (.ollama, #"{"message":{"content":"Hello"},"done":false}"#, "[DONE]"),
            (.ollama, #"{"message":{"content":"Hello"},"done":false}"#, #"{"done":true,"done_reason":"error"}"#),
        ]
    )
    func others(provider: Provider, piece: String, end: String) async throws {
        let asked = try await received(Self.event(piece) + Self.event(end), provider)
        #expect(asked.text == "Hello")
        #expect(asked.error != nil)
    }

    @Test("Other providers' pieces are read as leniently")
    func otherTypes() async throws {
        let anthropic = try await received(
            Self.event(#"{"type":"message_start","message":{"usage":{"input_tokens":"12"}},"x":NaN}"#) + "data:\n\n"
                + Self.event(#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"Hello"},"error":""}"#)
                + "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}",
            .anthropic
        )
        #expect(anthropic.error == nil && anthropic.text == "Hello", "\(String(describing: anthropic.error))")
        let ollama = try await received(
            #"{"message":{"content":"Hello","thinking":"hm"},"code":0}"# + "\n"
                + #"{"done":true,"eval_count":"7","done_reason":"stop"}"#,
            .ollama
        )
        #expect(ollama.error == nil && ollama.text == "Hello" && ollama.events.first == .thought("hm"))
        #expect(ollama.events.contains(.usage(input: nil, output: 7)))
    }

    @Test(
        "Calls of tools are put together, whatever their types",
        arguments: [
            #""tool_calls":[{"index":0,"id":7,"function":{"name":"f","arguments":{"a":1}}}]"#,
            #""tool_calls":[{"index":"0","id":"7","function":{"name":"f","arguments":"{\"a\":1}"}}]"#,
            #""tool_calls":{"id":"7","function":{"name":"f","arguments":"{\"a\":1}"}}"#,
        ]
    )
    func calls(delta: String) async throws {
        let asked = try await received(Self.chunk(delta, end: "tool_calls") + Self.done)
        let call = ProviderToolCall(id: "7", name: "f", arguments: #"{"a":1}"#)
        #expect(asked.events == [.toolCall(call), .finished(.complete)])
    }

    @Test("A call that comes behind the reason, and one of the older kind, count")
    func lateCalls() async throws {
        let stream = Self.stop + Self.chunk(#""function_call":{"name":"f","arguments":"{}"}"#) + Self.done
        let call = ProviderToolCall(id: "call_1", name: "f", arguments: "{}")
        #expect(try await received(stream).events == [.finished(.complete), .toolCall(call)])
    }

    // MARK: Thoughts

    @Test(
        "What a model thinks is no part of its answer",
        arguments: [
            (["<think>Hm.</think>Yes."], "Hm.", "Yes."),
            (["<think>\n", "Hm", ".\n</think>\n\n", "Yes."], "Hm.\n", "Yes."),
            (["<", "think>", "Hm.</", "think", ">Yes."], "Hm.", "Yes."),
            (["\n<think>\n\n</think>\n\n", "Yes."], "", "Yes."),
            (["Use <think> in it."], "", "Use <think> in it."), (["<thin", "g>"], "", "<thing>"), (["<th"], "", "<th"),
            (["<think>Hm. </thin", "g> </think>Yes <think>x</think>"], "Hm. </thing> ", "Yes <think>x</think>"),
            (["<thinking>Hm.</thinking>Yes."], "Hm.", "Yes."),
        ]
    )
    func tags(pieces: [String], thought: String, text: String) async throws {
        let stream = pieces.map { Self.chunk("\"content\":\(JSONText.quoted($0))") }.joined() + Self.stop + Self.done
        let asked = try await received(stream)
        let thoughts = asked.events.reduce(into: "") { if case .thought(let text) = $1 { $0 += text } }
        #expect(thoughts == thought && asked.text == text)
        #expect(asked.events.last == .finished(.complete))
    }

    @Test("Mistral's parts that are thoughts are none of the answer")
    func thoughtParts() async throws {
        let part = #"{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]}"#
        let stream = Self.chunk(#""content":[\#(part),{"type":"text","text":"Yes."}]"#) + Self.stop
        #expect(try await received(stream).events == [.thought("Hm."), .text("Yes."), .finished(.complete)])
    }

    // What is read again with each line takes hours here.
    @Test(
        "An event, blank lines and blanks before an answer that never end are read once",
        arguments: [
            ("data: [\n", "data: 1,\n", 200_000), ("", " \n", 1_000_000), ("", "  x \n", 400_000),
        ]
    )
    func endless(start: String, line: String, count: Int) throws {
        var frames = ProviderFrames()
        let bytes = Array(start.utf8) + Array(repeatElement(Array(line.utf8), count: count).joined())
        #expect(try frames.feed(bytes).isEmpty)
        #expect(frames.finish().count == 1)
        var tags = ThoughtTags()
        let events = (0..<50_000).flatMap { _ in tags.take(" ") } + tags.finish()
        #expect(events.reduce(into: 0) { if case .text(let text) = $1 { $0 += text.utf8.count } } == 50_000)
    }
}
