import CompanionWire
import FoundationEssentials

/// Gemini's `streamGenerateContent`.
struct GeminiFormat: ProviderFormat {
    /// Nothing says that a piece is the last one but the end of the stream.
    let isOver = false
    private(set) var isComplete = false

    private struct Body: Encodable {
        struct Content: Encodable {
            var role: String?
            var parts: [Part]
        }

        struct Part: Encodable {
            struct Blob: Encodable {
                var mimeType: String
                var data: String
            }

            var text: String?
            var inlineData: Blob?
        }

        struct Configuration: Encodable {
            var temperature: Double?
            var maxOutputTokens: Int?
        }

        var contents: [Content]
        var systemInstruction: Content?
        var generationConfig: Configuration
    }

    func request(
        _ prompt: ProviderPrompt,
        key: ProviderKey?,
        without omitted: Set<ProviderFeature>
    ) throws -> ProviderRequest {
        let name = prompt.model.dropping(prefix: "models/").map(String.init) ?? prompt.model
        let contents = prompt.messages.map { message in
            Body.Content(
                role: message.isFromUser ? "user" : "model",
                parts: message.images.map { image in
                    Body.Part(inlineData: .init(mimeType: image.mediaType, data: image.base64))
                } + [Body.Part(text: message.text)]
            )
        }
        let body = Body(
            contents: contents,
            systemInstruction: prompt.system.map { Body.Content(parts: [Body.Part(text: $0)]) },
            generationConfig: .init(temperature: prompt.temperature, maxOutputTokens: prompt.maxTokens)
        )
        return ProviderRequest(
            path: "/models/\(percentEncoded(name)):streamGenerateContent?alt=sse",
            // In a header: a URL is written into logs.
            headers: key.map { [("x-goog-api-key", $0.value)] } ?? [],
            body: try Self.encode(body)
        )
    }

    mutating func take(_ piece: JSONValue, isFramed: Bool) throws -> [ProviderEvent] {
        var events: [ProviderEvent] = []
        let candidate = piece["candidates"]?.array?.first
        for part in candidate?["content"]?["parts"]?.array ?? [] {
            let (thought, text) = (part.messageThought, part.messageText)
            if !thought.isEmpty { events.append(.thought(thought)) }
            if !text.isEmpty { events.append(.text(text)) }
        }
        if let output = piece["usageMetadata"]?["candidatesTokenCount"]?.count {
            events.append(.usage(input: piece["usageMetadata"]?["promptTokenCount"]?.count, output: output))
        }
        if let reason = candidate?["finishReason"]?.string, !reason.isEmpty {
            isComplete = true
            events.append(.finished(try ProviderEvent.Reason.named(reason)))
        } else if piece["promptFeedback"]?["blockReason"]?.string?.isEmpty == false {
            isComplete = true
            events.append(.finished(.blocked))
        }
        return events
    }
}
