import CompanionWire

/// A part of a request that some servers refuse. It is then left out, and the prompt is sent once more.
package enum ProviderFeature: Sendable, Hashable, CaseIterable {
    /// `stream_options`: the count of tokens is missing then.
    case streamOptions
    /// The functions that the model may call. The caller has to know that they are refused, so they are never left out.
    case tools
    /// The system prompt as a message of its own: it becomes the beginning of the first prompt.
    case systemRole
    /// The answer in pieces: it comes as a whole then.
    case stream
    case temperature
    /// OpenAI's newer name for the limit of tokens: the older one is used then.
    case newTokenLimit

    /// Beginnings of words in errors that refuse something.
    private static let refusals = [
        "support", "unsupported", "unknown", "unrecognized", "unexpected", "not permitted", "not allowed", "invalid",
        "not implemented", "not enabled", "not available", "unavailable", "disabled", "extra", "additional", "require",
        "cannot", "can t", "only", "must", "no endpoints",
    ]

    /// The names of the feature in errors.
    private var names: [String] {
        switch self {
        case .streamOptions: ["stream_options", "include_usage"]
        case .tools:
            [
                "tools", "support tool", "tool choice", "tool_choice", "tool call parser", "tool calling", "tool use",
                "function calling", "functions",
            ]
        case .systemRole:
            [
                "system role", "role system", "system message", "system messages", "system prompt", "system prompts",
                "system instruction", "developer instruction", "user and assistant roles", "roles must alternate",
            ]
        case .stream: ["stream", "streaming"]
        case .temperature: ["temperature"]
        case .newTokenLimit: ["max_completion_tokens"]
        }
    }

    /// Whether an error says that the server does not take it.
    func isRefused(in text: String) -> Bool {
        // Words alone, with one blank around each: servers quote names in many ways.
        let words = text.lowercased().utf8.map { byte in
            let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            return isLetter || byte == UInt8(ascii: "_") ? byte : 0x20
        }
        let plain = " " + String(decoding: words, as: UTF8.self).parts(" ").joined(separator: " ") + " "
        return names.contains { plain.has(" \($0) ") } && Self.refusals.contains { plain.has(" \($0)") }
    }

    /// The first feature of a prompt that an error refuses.
    static func refused(in text: String, of prompt: ProviderPrompt, besides omitted: Set<ProviderFeature>) -> Self? {
        // `stream_options` comes before `stream`, which is in its name.
        allCases.first { $0.isPart(of: prompt) && !omitted.contains($0) && $0.isRefused(in: text) }
    }

    private func isPart(of prompt: ProviderPrompt) -> Bool {
        switch self {
        case .streamOptions, .stream: true
        case .tools: !prompt.tools.isEmpty
        case .systemRole: prompt.system != nil
        case .temperature: prompt.temperature != nil
        case .newTokenLimit: prompt.maxTokens != nil
        }
    }
}

extension ProviderPrompt {
    /// The prompt without what can be left out of it whatever the format is.
    func without(_ omitted: Set<ProviderFeature>) -> ProviderPrompt {
        var prompt = self
        if omitted.contains(.temperature) { prompt.temperature = nil }
        if omitted.contains(.systemRole), let system, !messages.isEmpty {
            prompt.system = nil
            prompt.messages[0].text = system + "\n\n" + messages[0].text
        }
        return prompt
    }
}
