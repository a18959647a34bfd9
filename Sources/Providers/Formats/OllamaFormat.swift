import CompanionWire
import FoundationEssentials

/// Ollama's `/api/chat`: one JSON object a line.
struct OllamaFormat: ProviderFormat {
    private(set) var isOver = false
    var isComplete: Bool { isOver }

    private struct Body: Encodable {
        struct Message: Encodable {
            var role: String
            var content: String
            /// Base64.
            var images: [String]?
        }

        struct Options: Encodable {
            var temperature: Double?
            var num_predict: Int?
        }

        var model: String
        var messages: [Message]
        var stream: Bool
        var options: Options
    }

    func request(
        _ prompt: ProviderPrompt,
        key: ProviderKey?,
        without omitted: Set<ProviderFeature>
    ) throws -> ProviderRequest {
        var messages = prompt.system.map { [Body.Message(role: "system", content: $0)] } ?? []
        messages += prompt.messages.map { message in
            Body.Message(
                role: message.isFromUser ? "user" : "assistant",
                content: message.text,
                images: message.images.isEmpty ? nil : message.images.map(\.base64)
            )
        }
        let body = Body(
            model: prompt.model,
            messages: messages,
            stream: !omitted.contains(.stream),
            options: .init(temperature: prompt.temperature, num_predict: prompt.maxTokens)
        )
        return ProviderRequest(
            path: "/api/chat",
            // It has no keys itself; a proxy before it may.
            headers: key.map { [("Authorization", "Bearer \($0.value)")] } ?? [],
            body: try Self.encode(body)
        )
    }

    mutating func take(_ piece: JSONValue, isFramed: Bool) throws -> [ProviderEvent] {
        let message = piece["message"]
        var events: [ProviderEvent] = [
            .thought(message?["thinking"]?.messageText ?? ""), .text(message?["content"]?.messageText ?? ""),
        ]
        guard piece["done"]?.bool == true else { return events }
        isOver = true
        if let output = piece["eval_count"]?.count {
            events.append(.usage(input: piece["prompt_eval_count"]?.count, output: output))
        }
        events.append(.finished(try ProviderEvent.Reason.named(piece["done_reason"]?.string ?? "")))
        return events
    }
}
