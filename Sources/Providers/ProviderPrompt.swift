package import CompanionWire

/// A request to a provider: a conversation up to the newest prompt.
package struct ProviderPrompt: Sendable, Hashable {
    /// A message, or the result of a tool.
    package struct Message: Sendable, Hashable {
        /// Whether the user said it; else the assistant.
        package var isFromUser: Bool
        package var text: String
        var images: [TurnImage]
        /// The tools that the assistant called.
        package var calls: [ProviderToolCall]
        /// The call whose result the text is; nil for a message.
        package var resultOf: ProviderToolCall?

        package init(
            isFromUser: Bool,
            text: String,
            images: [TurnImage] = [],
            calls: [ProviderToolCall] = [],
            resultOf: ProviderToolCall? = nil
        ) {
            self.isFromUser = isFromUser
            self.text = text
            self.images = images
            self.calls = calls
            self.resultOf = resultOf
        }
    }

    /// The model's name, as the provider writes it.
    package var model: String
    /// The system prompt; nil for none. An empty one becomes nil.
    package var system: String?
    /// 0…2; providers with a smaller range get their highest value.
    package var temperature: Double?
    /// The most tokens of the answer: 1…1,048,576; nil for no limit of its own.
    package var maxTokens: Int?
    /// Oldest first, the user's first and last, and turn by turn. Behind the last prompt: calls of tools and their
    /// results.
    package var messages: [Message]
    /// The functions that the model may call. They are sent in OpenAI's format only.
    package var tools: [ProviderTool]

    package init(
        model: String,
        system: String? = nil,
        temperature: Double? = nil,
        maxTokens: Int? = nil,
        messages: [Message],
        tools: [ProviderTool] = []
    ) {
        self.model = model
        self.system = system.flatMap { $0.isEmpty ? nil : $0 }
        // The values come from a Mac: what no provider takes, JSON may not even hold.
        self.temperature = temperature.flatMap { $0.isFinite ? min(max($0, 0), 2) : nil }
        self.maxTokens = maxTokens.flatMap { $0 > 0 ? min($0, 1 << 20) : nil }
        self.messages = messages
        self.tools = tools
    }
}

extension [ProviderPrompt.Message] {
    /// The messages turn by turn, the user's first, as many models insist: those of one side in a row are joined, with
    /// their images. None of them has to do with tools.
    package var turnByTurn: [ProviderPrompt.Message] {
        var turns: [ProviderPrompt.Message] = []
        for message in self {
            if let last = turns.last, last.isFromUser == message.isFromUser {
                turns[turns.count - 1].text += "\n\n" + message.text
                turns[turns.count - 1].images += message.images
            } else if !turns.isEmpty || message.isFromUser {
                turns.append(message)
            }
        }
        return turns
    }
}

/// A function that a model may call.
package struct ProviderTool: Sendable, Hashable {
    package var name: String
    package var description: String
    /// The JSON schema of its arguments.
    package var parameters: JSONValue

    package init(name: String, description: String, parameters: JSONValue) {
        self.name = name
        self.description = description
        self.parameters = parameters
    }
}

/// A call of a function, as the model wrote it.
package struct ProviderToolCall: Sendable, Hashable {
    package var id: String
    package var name: String
    /// JSON, if the model kept to it.
    package var arguments: String

    package init(id: String, name: String, arguments: String) {
        self.id = id
        self.name = name
        self.arguments = arguments
    }
}

/// An event of an answer.
package enum ProviderEvent: Sendable, Hashable {
    /// A piece, to be appended to what came before.
    case text(String)
    /// A piece of what the model thinks before it answers.
    case thought(String)
    /// A whole call, before the answer has finished.
    case toolCall(ProviderToolCall)
    /// The tokens of the prompt and of the answer, as far as the provider counts them.
    case usage(input: Int?, output: Int?)
    /// The model has finished.
    case finished(Reason)

    /// The reason why the answer ended.
    package enum Reason: Sendable, Hashable {
        case complete
        /// At the limit of tokens.
        case length
        /// By a filter.
        case blocked
    }
}
