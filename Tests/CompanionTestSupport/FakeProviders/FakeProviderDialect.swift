/// How a provider words its stream, as its interface is published.
package enum FakeProviderDialect: Sendable, CaseIterable {
    case openai, anthropic, gemini, ollama

    init?(path: String) {
        if path.hasSuffix("/chat/completions") {
            self = .openai
        } else if path.hasSuffix("/messages") {
            self = .anthropic
        } else if path.hasSuffix(":streamGenerateContent") {
            self = .gemini
        } else if path.hasSuffix("/api/chat") {
            self = .ollama
        } else {
            return nil
        }
    }

    var contentType: String { self == .ollama ? "application/x-ndjson" : "text/event-stream" }

    func begin() -> String {
        switch self {
        case .openai:
            event(#"{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}"#)
        case .anthropic:
            named(
                "message_start",
                #"{"type":"message_start","message":{"id":"msg_1","role":"assistant","usage":{"input_tokens":12,"#
                    + #""output_tokens":1}}}"#
            )
                + named(
                    "content_block_start",
                    #"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#
                ) + named("ping", #"{"type":"ping"}"#)
        case .gemini, .ollama: ""
        }
    }

    func piece(_ text: String) -> String {
        let text = JSONText.quoted(text)
        return switch self {
        case .openai: event(#"{"choices":[{"index":0,"delta":{"content":\#(text)},"finish_reason":null}]}"#)
        case .anthropic:
            named(
                "content_block_delta",
                #"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":\#(text)}}"#
            )
        case .gemini:
            event(
                #"{"candidates":[{"content":{"parts":[{"text":"hm","thought":true},{"text":\#(text)}],"role":"model"},"#
                    + #""index":0}],"usageMetadata":{"promptTokenCount":12}}"#
            )
        case .ollama: #"{"model":"m","message":{"role":"assistant","content":\#(text)},"done":false}"# + "\n"
        }
    }

    /// The end of an answer of 7 tokens to a prompt of 12.
    func end(isLimited: Bool = false) -> String {
        switch self {
        case .openai:
            event(#"{"choices":[{"index":0,"delta":{},"finish_reason":"\#(isLimited ? "length" : "stop")"}]}"#)
                + event(#"{"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":7,"total_tokens":19}}"#)
                + event("[DONE]")
        case .anthropic:
            named("content_block_stop", #"{"type":"content_block_stop","index":0}"#)
                + named(
                    "message_delta",
                    #"{"type":"message_delta","delta":{"stop_reason":"\#(isLimited ? "max_tokens" : "end_turn")"},"#
                        + #""usage":{"output_tokens":7}}"#
                ) + named("message_stop", #"{"type":"message_stop"}"#)
        case .gemini:
            event(
                #"{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":""#
                    + (isLimited ? "MAX_TOKENS" : "STOP")
                    + #""}],"usageMetadata":{"promptTokenCount":12,"candidatesTokenCount":7}}"#
            )
        case .ollama:
            #"{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":""#
                + (isLimited ? "length" : "stop") + #"","prompt_eval_count":12,"eval_count":7}"# + "\n"
        }
    }

    func blocked() -> String {
        switch self {
        case .openai:
            event(#"{"choices":[{"index":0,"delta":{},"finish_reason":"content_filter"}]}"#) + event("[DONE]")
        case .anthropic:
            named("message_delta", #"{"type":"message_delta","delta":{"stop_reason":"refusal"},"usage":{}}"#)
                + named("message_stop", #"{"type":"message_stop"}"#)
        case .gemini: event(#"{"promptFeedback":{"blockReason":"SAFETY"}}"#)
        case .ollama: end()
        }
    }

    /// The status of an error: Gemini does not tell a key that is none from any other bad argument.
    func status(of fault: FakeProviderFault) -> Int {
        self == .gemini && fault == .key ? 400 : fault.status
    }

    /// An error as a body; `key` is repeated in it, as some providers do.
    func body(of fault: FakeProviderFault, key: String?) -> String {
        let what =
            self == .gemini && fault == .key
            ? "API key not valid. Please pass a valid API key." : "The \(fault) fault."
        let text = JSONText.quoted("\(what) You sent \(key ?? "no key").")
        let (kind, status): (String, String) =
            switch fault {
            case .key: ("authentication_error", "INVALID_ARGUMENT")
            case .forbidden: ("permission_error", "PERMISSION_DENIED")
            case .model: ("not_found_error", "NOT_FOUND")
            case .rate: ("rate_limit_error", "RESOURCE_EXHAUSTED")
            case .server: ("api_error", "INTERNAL")
            case .overloaded: ("overloaded_error", "UNAVAILABLE")
            }
        return switch self {
        case .openai: #"{"error":{"message":\#(text),"type":"\#(kind)","param":null,"code":null}}"#
        case .anthropic: #"{"type":"error","error":{"type":"\#(kind)","message":\#(text)}}"#
        case .gemini: #"{"error":{"code":\#(self.status(of: fault)),"message":\#(text),"status":"\#(status)"}}"#
        case .ollama: #"{"error":\#(text)}"#
        }
    }

    /// The same in a stream that has begun.
    func failure(_ fault: FakeProviderFault, key: String?) -> String {
        let body = body(of: fault, key: key)
        return switch self {
        case .openai, .gemini: event(body)
        case .anthropic: named("error", body)
        case .ollama: body + "\n"
        }
    }

    private func event(_ data: String) -> String { "data: \(data)\n\n" }

    private func named(_ name: String, _ data: String) -> String { "event: \(name)\ndata: \(data)\n\n" }
}
