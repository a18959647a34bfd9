import CompanionWire
import FoundationEssentials

/// OpenAI's chat completions, which Qwen's compatible mode and many servers of models speak too.
struct OpenAIFormat: ProviderFormat {
    let provider: Provider
    /// The end of the stream says that nothing follows.
    let isOver = false
    private(set) var isComplete = false
    private var calls = OpenAIToolCalls()

    init(provider: Provider) {
        self.provider = provider
    }

    private struct Body: Encodable {
        struct Message: Encodable {
            var role: String
            var content: Content
            var tool_calls: [Call]?
            var tool_call_id: String?
        }

        struct Call: Encodable {
            struct Function: Encodable {
                var name: String
                var arguments: String
            }

            var id: String
            var type = "function"
            var function: Function
        }

        struct Tool: Encodable {
            struct Function: Encodable {
                var name: String
                var description: String
                var parameters: JSONValue
            }

            var type = "function"
            var function: Function
        }

        enum Content: Encodable {
            case text(String)
            case parts([Part])

            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                switch self {
                case .text(let text): try container.encode(text)
                case .parts(let parts): try container.encode(parts)
                }
            }
        }

        struct Part: Encodable {
            struct Image: Encodable {
                var url: String
            }

            var type: String
            var text: String?
            var image_url: Image?
        }

        struct StreamOptions: Encodable {
            var include_usage = true
        }

        var model: String
        var messages: [Message]
        var stream: Bool
        var stream_options: StreamOptions?
        var temperature: Double?
        /// The older name of the limit of tokens, which Qwen takes; OpenAI's newer models take only
        /// `max_completion_tokens`.
        var max_tokens: Int?
        var max_completion_tokens: Int?
        var tools: [Tool]?
    }

    func request(
        _ prompt: ProviderPrompt,
        key: ProviderKey?,
        without omitted: Set<ProviderFeature>
    ) throws -> ProviderRequest {
        var messages = prompt.system.map { [Body.Message(role: "system", content: .text($0))] } ?? []
        messages += prompt.messages.map { message in
            Body.Message(
                role: message.resultOf != nil ? "tool" : message.isFromUser ? "user" : "assistant",
                content: Self.content(of: message),
                tool_calls: message.calls.isEmpty ? nil : message.calls.map(Self.call),
                tool_call_id: message.resultOf?.id
            )
        }
        let tools = prompt.tools.map { tool in
            Body.Tool(
                function: .init(name: tool.name, description: tool.description, parameters: tool.parameters)
            )
        }
        let isStreamed = !omitted.contains(.stream)
        let hasOldLimit = provider == .qwen || omitted.contains(.newTokenLimit)
        let body = Body(
            model: prompt.model,
            messages: messages,
            stream: isStreamed,
            stream_options: isStreamed && !omitted.contains(.streamOptions) ? Body.StreamOptions() : nil,
            temperature: prompt.temperature,
            max_tokens: hasOldLimit ? prompt.maxTokens : nil,
            max_completion_tokens: hasOldLimit ? nil : prompt.maxTokens,
            tools: tools.isEmpty ? nil : tools
        )
        return ProviderRequest(
            path: "/chat/completions",
            headers: Self.headers(key),
            body: try Self.encode(body)
        )
    }

    static func headers(_ key: ProviderKey?) -> [(name: String, value: String)] {
        key.map { [("Authorization", "Bearer \($0.value)")] } ?? []
    }

    private static func call(_ call: ProviderToolCall) -> Body.Call {
        Body.Call(id: call.id, function: .init(name: call.name, arguments: call.arguments))
    }

    private static func content(of message: ProviderPrompt.Message) -> Body.Content {
        guard !message.images.isEmpty else { return .text(message.text) }
        return .parts(
            [Body.Part(type: "text", text: message.text)]
                + message.images.map { image in
                    let url = "data:\(image.mediaType);base64,\(image.base64)"
                    return Body.Part(type: "image_url", image_url: .init(url: url))
                }
        )
    }

    mutating func take(_ piece: JSONValue, isFramed: Bool) throws -> [ProviderEvent] {
        var events: [ProviderEvent] = []
        switch piece["choices"] {
        case nil, .null?: break
        case .array(let choices)?:
            if let choice = choices.first { events += try take(choice: choice, isFramed: isFramed) }
        case .some(let choice) where choice.isObject: events += try take(choice: choice, isFramed: isFramed)
        case .some: throw UnknownPiece()
        }
        if let usage = piece["usage"], usage.isObject {
            let (input, output) = (usage["prompt_tokens"]?.count, usage["completion_tokens"]?.count)
            if input != nil || output != nil { events.append(.usage(input: input, output: output)) }
        }
        return events
    }

    private mutating func take(choice: JSONValue, isFramed: Bool) throws -> [ProviderEvent] {
        if let failure = ProviderFailure(in: choice) { throw failure }
        var events: [ProviderEvent] = []
        // A server that does not stream sends a `message`.
        let delta = [choice["delta"], choice["message"]].lazy.compactMap(\.self).first { $0.isObject }
        // What vLLM, llama.cpp and DeepSeek call it; what Ollama and OpenRouter call it; Mistral's parts.
        let thoughts = [delta?["reasoning_content"]?.messageText, delta?["reasoning"]?.messageText]
        let thought = thoughts.lazy.compactMap(\.self).first { !$0.isEmpty } ?? delta?["content"]?.messageThought ?? ""
        if !thought.isEmpty { events.append(.thought(thought)) }
        let texts = [delta?["content"]?.messageText, delta?["refusal"]?.messageText, choice["text"]?.messageText]
        if let text = texts.lazy.compactMap(\.self).first(where: { !$0.isEmpty }) { events.append(.text(text)) }
        switch delta?["tool_calls"] {
        case .array(let deltas)?: for delta in deltas { try calls.add(delta) }
        case .some(let delta) where delta.isObject: try calls.add(delta)
        default: break
        }
        // The name of the field before there was `tool_calls`.
        if let function = delta?["function_call"], function.isObject { try calls.add(["function": function]) }
        if let reason = choice["finish_reason"]?.string, !["", "null", "none"].contains(reason.lowercased()) {
            isComplete = true
            let reason = try ProviderEvent.Reason.named(reason)
            events += finish() + [.finished(reason)]
        } else if !isFramed, choice["message"] != nil {
            // The whole answer in one piece of JSON has no need of a reason.
            isComplete = true
            events += finish() + [.finished(.complete)]
        }
        return events
    }

    mutating func finish() -> [ProviderEvent] { calls.take().map(ProviderEvent.toolCall) }
}
