import CompanionWire
import FoundationEssentials
import Providers

/// The messages that a model gets in a turn, within a budget of tokens. Every model counts tokens in its own way: four
/// bytes are taken for one.
struct ModelConversation: Sendable {
    /// Tokens of a message besides its text.
    static let overhead = 8
    /// The part of the context that is left for the answer.
    static let answerShare = 4
    private static let leftOut = "[left out: the conversation has become too long. Ask for less at a time.]"

    private let model: String
    private let system: String
    /// Before the prompt, oldest first.
    private let earlier: [ModelMessage]
    private let prompt: String
    /// The calls of this turn and their results.
    private var exchange: [ProviderPrompt.Message] = []
    var tools: [ProviderTool]
    /// Tokens of the conversation, the answer included.
    private(set) var context: Int

    /// - Parameter messages: Of the chat, oldest first. The prompt itself may be the last of them.
    init(
        model: String,
        system: String,
        messages: [ModelMessage],
        prompt: String,
        tools: [ProviderTool],
        context: Int
    ) {
        self.model = model
        self.system = system
        let isStored = messages.last.map { $0.isFromUser && $0.text.isSame(as: prompt) } ?? false
        earlier = isStored ? messages.dropLast() : messages
        self.prompt = prompt
        self.tools = tools
        self.context = context
    }

    static func tokens(_ text: String) -> Int { (text.utf8.count + 3) / 4 }

    private static func tokens(_ message: ProviderPrompt.Message) -> Int {
        message.calls.reduce(tokens(message.text) + overhead) {
            $0 + tokens($1.name) + tokens($1.arguments) + overhead
        }
    }

    /// Tokens that a request may have.
    var budget: Int { context - context / Self.answerShare }

    /// Bytes of one tool's result, so that several have room.
    var resultSize: Int { min(context, 32 << 10) }

    mutating func halve() { context /= 2 }

    mutating func add(_ text: String, calls: [ProviderToolCall], results: [String]) {
        exchange.append(.init(isFromUser: false, text: text, calls: calls))
        for (call, result) in zip(calls, results) {
            exchange.append(.init(isFromUser: true, text: result, resultOf: call))
        }
    }

    /// Returns the next request: as many of the chat's newest messages as there is room for, each of them whole, and
    /// all of this turn. If that alone is too much, results of tools are left out, the oldest first.
    ///
    /// - Throws: ``AgentError`` if this turn is too long even without the results of its tools.
    func request() throws(AgentError) -> ProviderPrompt {
        var exchange = exchange
        let schemas = tools.reduce(0) {
            $0 + Self.tokens($1.name) + Self.tokens($1.description) + $1.parameters.json.count / 4 + Self.overhead
        }
        var room = budget - Self.tokens(system) - Self.tokens(prompt) - 2 * Self.overhead - schemas
        guard room >= 0 else { throw tooLong }
        room -= exchange.reduce(0) { $0 + Self.tokens($1) }
        for index in exchange.indices where room < 0 && exchange[index].resultOf != nil {
            let saved = Self.tokens(exchange[index].text) - Self.tokens(Self.leftOut)
            guard saved > 0 else { continue }
            exchange[index].text = Self.leftOut
            room += saved
        }
        guard room >= 0 else { throw tooLong }
        var picked: [ModelMessage] = []
        for message in earlier.reversed() where !message.text.isEmpty {
            room -= Self.tokens(message.text) + Self.overhead
            guard room >= 0 else { break }
            picked.append(message)
        }
        var said = picked.reversed().map { ProviderPrompt.Message(isFromUser: $0.isFromUser, text: $0.text) }
        said.append(.init(isFromUser: true, text: prompt))
        return ProviderPrompt(model: model, system: system, messages: said.turnByTurn + exchange, tools: tools)
    }

    var tooLong: AgentError {
        AgentError(
            message: "The prompt and the tools' output are too long for \(context) tokens. Ask for less at a time, "
                + "or have the host started with a larger --context, if the model allows it"
        )
    }
}
