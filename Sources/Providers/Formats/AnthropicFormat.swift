import CompanionWire
import FoundationEssentials

/// Anthropic's messages.
struct AnthropicFormat: ProviderFormat {
    private(set) var isOver = false
    private(set) var isComplete = false

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
        var stream: Bool
    }

    func request(
        _ prompt: ProviderPrompt,
        key: ProviderKey?,
        without omitted: Set<ProviderFeature>
    ) throws -> ProviderRequest {
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
            temperature: prompt.temperature.map { min($0, 1) },
            stream: !omitted.contains(.stream)
        )
        return ProviderRequest(
            path: "/messages",
            headers: [("anthropic-version", "2023-06-01")] + (key.map { [("x-api-key", $0.value)] } ?? []),
            body: try Self.encode(body)
        )
    }

    mutating func take(_ piece: JSONValue, isFramed: Bool) throws -> [ProviderEvent] {
        switch piece["type"]?.string {
        case "message_start": return usage(piece["message"]?["usage"])
        case "content_block_delta":
            // Other deltas are the arguments of tools.
            switch piece["delta"]?["type"]?.string {
            case "text_delta": return [.text(piece["delta"]?["text"]?.messageText ?? "")]
            case "thinking_delta": return [.thought(piece["delta"]?["thinking"]?.messageText ?? "")]
            default: return []
            }
        case "message_delta": return usage(piece["usage"]) + (try end(piece["delta"]?["stop_reason"]))
        case "message_stop":
            isOver = true
            return []
        // The whole answer, of a server that does not stream.
        case "message":
            let content = piece["content"] ?? .null
            return [.thought(content.messageThought), .text(content.messageText)] + usage(piece["usage"])
                + (try end(piece["stop_reason"]))
        default:
            return []  // Pings, and events of later versions.
        }
    }

    private func usage(_ value: JSONValue?) -> [ProviderEvent] {
        let (input, output) = (value?["input_tokens"]?.count, value?["output_tokens"]?.count)
        return input == nil && output == nil ? [] : [.usage(input: input, output: output)]
    }

    private mutating func end(_ reason: JSONValue?) throws -> [ProviderEvent] {
        guard let reason = reason?.string, !reason.isEmpty else { return [] }
        isComplete = true
        return [.finished(try ProviderEvent.Reason.named(reason))]
    }
}
