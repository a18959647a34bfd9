import CompanionWire
import FoundationEssentials

/// OpenAI's chat completions, which Qwen's compatible mode and many servers of models speak too.
struct OpenAIFormat: ProviderFormat {
    let provider: Provider
    let framing = ProviderFraming.serverSentEvents
    private(set) var isOver = false
    private var hasFinished = false
    private var calls = OpenAIToolCalls()

    init(provider: Provider) {
        self.provider = provider
    }

    /// Some servers of this format leave out the closing `[DONE]`.
    var isComplete: Bool { isOver || hasFinished }

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
        var stream = true
        var stream_options = StreamOptions()
        var temperature: Double?
        /// What Qwen takes; OpenAI's newer models take `max_completion_tokens` alone.
        var max_tokens: Int?
        var max_completion_tokens: Int?
        var tools: [Tool]?
    }

    func request(_ prompt: ProviderPrompt, key: ProviderKey?) throws -> ProviderRequest {
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
        let body = Body(
            model: prompt.model,
            messages: messages,
            temperature: prompt.temperature,
            max_tokens: provider == .qwen ? prompt.maxTokens : nil,
            max_completion_tokens: provider == .qwen ? nil : prompt.maxTokens,
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

    private struct Chunk: Decodable {
        struct Choice: Decodable {
            struct Delta: Decodable {
                var content: String?
                /// What vLLM, llama.cpp and DeepSeek call it.
                var reasoning_content: String?
                /// What Ollama and OpenRouter call it.
                var reasoning: String?
                var tool_calls: [OpenAIToolCalls.Delta]?
            }

            var delta: Delta?
            var finish_reason: String?
        }

        struct Usage: Decodable {
            var prompt_tokens: Int?
            var completion_tokens: Int?
        }

        var choices: [Choice]?
        var usage: Usage?
    }

    mutating func take(_ data: [UInt8]) throws -> [ProviderEvent] {
        if data.elementsEqual("[DONE]".utf8) {
            isOver = true
            guard !hasFinished else { return [] }
            return calls.take().map(ProviderEvent.toolCall) + [.finished(.complete)]
        }
        let chunk = try Self.decode(data, as: Chunk.self)
        var events: [ProviderEvent] = []
        if let choice = chunk.choices?.first {
            if let thought = choice.delta?.reasoning_content ?? choice.delta?.reasoning, !thought.isEmpty {
                events.append(.thought(thought))
            }
            if let text = choice.delta?.content, !text.isEmpty { events.append(.text(text)) }
            for delta in choice.delta?.tool_calls ?? [] { try calls.add(delta) }
            if let reason = choice.finish_reason, !reason.isEmpty {
                hasFinished = true
                events += calls.take().map(ProviderEvent.toolCall)
                let known: [String: ProviderEvent.Reason] = ["length": .length, "content_filter": .blocked]
                events.append(.finished(known[reason] ?? .complete))
            }
        }
        if let usage = chunk.usage {
            events.append(.usage(input: usage.prompt_tokens, output: usage.completion_tokens))
        }
        return events
    }
}
