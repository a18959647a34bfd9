import FoundationEssentials

/// Ollama's `/api/chat`: one JSON object a line.
struct OllamaFormat: ProviderFormat {
    let framing = ProviderFraming.lines
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
        var stream = true
        var options: Options
    }

    func request(_ prompt: ProviderPrompt, key: ProviderKey?) throws -> ProviderRequest {
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
            options: .init(temperature: prompt.temperature, num_predict: prompt.maxTokens)
        )
        return ProviderRequest(
            path: "/api/chat",
            // It has no keys itself; a proxy before it may.
            headers: key.map { [("Authorization", "Bearer \($0.value)")] } ?? [],
            body: try Self.encode(body)
        )
    }

    private struct Line: Decodable {
        struct Message: Decodable {
            var content: String?
        }

        var message: Message?
        var done: Bool?
        var done_reason: String?
        var prompt_eval_count: Int?
        var eval_count: Int?
    }

    mutating func take(_ data: [UInt8]) throws -> [ProviderEvent] {
        let line = try Self.decode(data, as: Line.self)
        var events: [ProviderEvent] = []
        if let text = line.message?.content, !text.isEmpty { events.append(.text(text)) }
        if line.done == true {
            isOver = true
            if line.eval_count != nil { events.append(.usage(input: line.prompt_eval_count, output: line.eval_count)) }
            events.append(.finished(line.done_reason == "length" ? .length : .complete))
        }
        return events
    }
}
