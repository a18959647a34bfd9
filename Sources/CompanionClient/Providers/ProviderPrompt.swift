/// What a provider is asked: a conversation up to the newest prompt.
package struct ProviderPrompt: Sendable, Hashable {
    package struct Message: Sendable, Hashable {
        /// Whether the user said it; else the assistant.
        package var isFromUser: Bool
        package var text: String
        package var images: [TurnImage]

        package init(isFromUser: Bool, text: String, images: [TurnImage] = []) {
            self.isFromUser = isFromUser
            self.text = text
            self.images = images
        }
    }

    package var model: String
    package var system: String?
    /// 0…2; providers with a smaller range get their highest value.
    package var temperature: Double?
    package var maxTokens: Int?
    /// Oldest first, the user's first and last, and turn by turn.
    package var messages: [Message]

    package init(
        model: String,
        system: String? = nil,
        temperature: Double? = nil,
        maxTokens: Int? = nil,
        messages: [Message]
    ) {
        self.model = model
        self.system = system.flatMap { $0.isEmpty ? nil : $0 }
        // The values come from a Mac: what no provider takes, JSON may not even hold.
        self.temperature = temperature.flatMap { $0.isFinite ? min(max($0, 0), 2) : nil }
        self.maxTokens = maxTokens.flatMap { $0 > 0 ? min($0, 1 << 20) : nil }
        self.messages = messages
    }
}

/// What comes of an answer.
package enum ProviderEvent: Sendable, Hashable {
    /// A piece, to be appended to what came before.
    case text(String)
    case usage(input: Int?, output: Int?)
    /// The model has finished.
    case finished(Reason)

    package enum Reason: Sendable, Hashable {
        case complete
        /// At the limit of tokens.
        case length
        /// By a filter.
        case blocked
    }
}
