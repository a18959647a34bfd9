import CompanionWire
import FoundationEssentials

/// Anthropic's messages.
struct AnthropicFormat: ProviderFormat {
    let framing = ProviderFraming.serverSentEvents
    private(set) var isOver = false
    var isComplete: Bool { isOver }

    /// The interface wants a limit; this is what every model of it can give.
    static let standardMaxTokens = 4096

    private struct Body: Encodable {
        struct Message: Encodable {
            var role: String
            var content: [Part]
        }

        struct Part: Encodable {
            struct Source: Encodable {
                var type = "base64"
                var media_type: String
                var data: String
            }

            var type: String
            var text: String?
            var source: Source?
        }

        var model: String
        var system: String?
        var messages: [Message]
        var max_tokens: Int
        var temperature: Double?
        var stream = true
    }

    func request(_ prompt: ProviderPrompt, key: ProviderKey?) throws -> ProviderRequest {
        let messages = prompt.messages.map { message in
            Body.Message(
                role: message.isFromUser ? "user" : "assistant",
                content: message.images.map { image in
                    Body.Part(type: "image", source: .init(media_type: image.mediaType, data: image.base64))
                } + [Body.Part(type: "text", text: message.text)]
            )
        }
        let body = Body(
            model: prompt.model,
            system: prompt.system,
            messages: messages,
            max_tokens: prompt.maxTokens ?? Self.standardMaxTokens,
            temperature: prompt.temperature.map { min($0, 1) }
        )
        return ProviderRequest(
            path: "/messages",
            headers: [("anthropic-version", "2023-06-01")] + (key.map { [("x-api-key", $0.value)] } ?? []),
            body: try Self.encode(body)
        )
    }

    private struct Event: Decodable {
        struct Delta: Decodable {
            var type: String?
            var text: String?
            var stop_reason: String?
        }

        struct Usage: Decodable {
            var input_tokens: Int?
            var output_tokens: Int?
        }

        struct Message: Decodable {
            var usage: Usage?
        }

        var type: String
        var delta: Delta?
        var usage: Usage?
        var message: Message?
    }

    mutating func take(_ data: [UInt8]) throws -> [ProviderEvent] {
        let event = try Self.decode(data, as: Event.self)
        switch event.type {
        case "message_start":
            guard let usage = event.message?.usage else { return [] }
            return [.usage(input: usage.input_tokens, output: usage.output_tokens)]
        case "content_block_delta":
            // Other deltas are thoughts and the arguments of tools.
            guard event.delta?.type == "text_delta", let text = event.delta?.text, !text.isEmpty else { return [] }
            return [.text(text)]
        case "message_delta":
            var events: [ProviderEvent] = []
            if let output = event.usage?.output_tokens { events.append(.usage(input: nil, output: output)) }
            if let reason = event.delta?.stop_reason {
                events.append(.finished(reason == "max_tokens" ? .length : reason == "refusal" ? .blocked : .complete))
            }
            return events
        case "message_stop":
            isOver = true
            return []
        default:
            return []  // Pings, and events of later versions.
        }
    }
}
