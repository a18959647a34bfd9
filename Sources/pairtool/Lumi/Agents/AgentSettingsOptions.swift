import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import PairingAgent
import Providers
import Terminal

/// The options that set an agent's provider, model, system prompt, temperature and limit of tokens.
struct AgentSettingsOptions: ParsableArguments {
    @Option(help: "The provider: openai, anthropic, gemini, qwen or ollama.")
    var provider: String?

    @Option(help: "The provider's model.")
    var model: String?

    @Option(help: "The system prompt: what the agent is told before each chat.")
    var prompt: String?

    @Option(help: "Read the system prompt from this file; - for standard input.", completion: .file())
    var promptFile: String?

    @Flag(help: "Write the system prompt in $VISUAL or $EDITOR.")
    var editor = false

    @Option(
        help: "How freely the model answers, 0 to 2; “default” for the provider's own.",
        transform: AgentNumber<Double>.temperature
    )
    var temperature: AgentNumber<Double>?

    @Option(
        help: "The most tokens in an answer, 1 to 1048576; “default” for the provider's own.",
        transform: AgentNumber<Int>.tokens
    )
    var maxTokens: AgentNumber<Int>?

    mutating func validate() throws {
        guard [prompt != nil, promptFile != nil, editor].count(where: \.self) <= 1 else {
            throw ValidationError("--prompt, --prompt-file and --editor cannot be used together.")
        }
        if let model { try NameRule.checkModel(model) }
    }

    /// Whether nothing is to be set.
    var isEmpty: Bool {
        provider == nil && model == nil && prompt == nil && promptFile == nil && !editor && temperature == nil
            && maxTokens == nil
    }

    /// Sets what was given.
    ///
    /// - Throws: ``AppError`` for an unknown provider, a prompt that cannot be read, or one that is too long.
    func apply(to configuration: inout LumiAgent.Configuration, in context: TerminalContext) async throws {
        if let provider { configuration.provider = try KeysCommand.provider(provider).displayName }
        if let model { configuration.model = model }
        if let temperature { configuration.temperature = temperature.value }
        if let maxTokens { configuration.maxTokens = maxTokens.value }
        let text: String
        if editor {
            text = try await TextEditor(context: context).edit(configuration.systemPrompt ?? "")
        } else if let promptFile {
            text = try await context.systemPrompt(in: promptFile)
        } else if let prompt {
            text = prompt
        } else {
            return
        }
        guard text.utf8.count <= SystemPrompt.size else { throw SystemPrompt.tooLong }
        let isEmpty = text.trimmingWhitespace().isEmpty
        configuration.systemPrompt = isEmpty ? nil : text
    }
}

private enum SystemPrompt {
    /// The most bytes of one.
    static let size = 64 << 10

    static var tooLong: AppError {
        AppError(.usage, "agent.prompt_too_long", "the system prompt is over \(size >> 10) KiB")
    }
}

extension TerminalContext {
    fileprivate func systemPrompt(in file: String) async throws -> String {
        guard let bytes = try await content(of: file, limit: SystemPrompt.size) else { throw SystemPrompt.tooLong }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw AppError(.usage, "agent.prompt_unreadable", "the system prompt is not UTF-8 text")
        }
        return text.dropping(suffix: "\n").map(String.init) ?? text
    }
}

/// A number, or the provider's own.
struct AgentNumber<Value: Sendable>: Sendable {
    var value: Value?
}

extension AgentNumber<Double> {
    static func temperature(_ text: String) throws -> AgentNumber<Double> {
        if text == "default" { return AgentNumber<Double>(value: nil) }
        guard let number = Double(text), (0...2).contains(number) else {
            throw ValidationError("Give a number from 0 to 2, or “default”.")
        }
        return AgentNumber<Double>(value: number)
    }
}

extension AgentNumber<Int> {
    static func tokens(_ text: String) throws -> AgentNumber<Int> {
        if text == "default" { return AgentNumber<Int>(value: nil) }
        guard let number = Int(text), (1...1_048_576).contains(number) else {
            throw ValidationError("Give a number from 1 to 1048576, or “default”.")
        }
        return AgentNumber<Int>(value: number)
    }
}
