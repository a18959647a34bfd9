import FoundationEssentials

/// OpenAI's chat completions, which Qwen's compatible mode speaks too.
struct OpenAIFormat: ProviderFormat {
    let provider: Provider
    let framing = ProviderFraming.serverSentEvents
    private(set) var isOver = false
    private var hasFinished = false

    init(provider: Provider) {
        self.provider = provider
    }

    /// Some servers of this format leave out the closing `[DONE]`.
    var isComplete: Bool { isOver || hasFinished }

    private struct Body: Encodable {
        struct Message: Encodable {
            var role: String
            var content: Content
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
    }

    func request(_ prompt: ProviderPrompt, key: ProviderKey?) throws -> ProviderRequest {
        var messages = prompt.system.map { [Body.Message(role: "system", content: .text($0))] } ?? []
        messages += prompt.messages.map { message in
            Body.Message(role: message.isFromUser ? "user" : "assistant", content: Self.content(of: message))
        }
        let body = Body(
            model: prompt.model,
            messages: messages,
            temperature: prompt.temperature,
            max_tokens: provider == .qwen ? prompt.maxTokens : nil,
            max_completion_tokens: provider == .qwen ? nil : prompt.maxTokens
        )
        return ProviderRequest(
            path: "/chat/completions",
            headers: key.map { [("Authorization", "Bearer \($0.value)")] } ?? [],
            body: try Self.encode(body)
        )
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
            return hasFinished ? [] : [.finished(.complete)]
        }
        let chunk = try Self.decode(data, as: Chunk.self, provider)
        var events: [ProviderEvent] = []
        if let choice = chunk.choices?.first {
            if let text = choice.delta?.content, !text.isEmpty { events.append(.text(text)) }
            if let reason = choice.finish_reason, !reason.isEmpty {
                hasFinished = true
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
