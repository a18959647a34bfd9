import CompanionWire
import FoundationEssentials

/// Gemini's `streamGenerateContent`.
struct GeminiFormat: ProviderFormat {
    let framing = ProviderFraming.serverSentEvents
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

    func request(_ prompt: ProviderPrompt, key: ProviderKey?) throws -> ProviderRequest {
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

    private struct Chunk: Decodable {
        struct Candidate: Decodable {
            var content: Content?
            var finishReason: String?
        }

        struct Content: Decodable {
            var parts: [Part]?
        }

        struct Part: Decodable {
            var text: String?
            var thought: Bool?
        }

        struct Feedback: Decodable {
            var blockReason: String?
        }

        struct Usage: Decodable {
            var promptTokenCount: Int?
            var candidatesTokenCount: Int?
        }

        var candidates: [Candidate]?
        var promptFeedback: Feedback?
        var usageMetadata: Usage?
    }

    mutating func take(_ data: [UInt8]) throws -> [ProviderEvent] {
        let chunk = try Self.decode(data, as: Chunk.self)
        var events: [ProviderEvent] = []
        let candidate = chunk.candidates?.first
        for part in candidate?.content?.parts ?? [] where part.thought != true {
            if let text = part.text, !text.isEmpty { events.append(.text(text)) }
        }
        if let usage = chunk.usageMetadata, usage.candidatesTokenCount != nil {
            events.append(.usage(input: usage.promptTokenCount, output: usage.candidatesTokenCount))
        }
        if let reason = candidate?.finishReason {
            isComplete = true
            let known: [String: ProviderEvent.Reason] = ["STOP": .complete, "MAX_TOKENS": .length]
            events.append(.finished(known[reason] ?? .blocked))
        } else if chunk.promptFeedback?.blockReason != nil {
            isComplete = true
            events.append(.finished(.blocked))
        }
        return events
    }
}
