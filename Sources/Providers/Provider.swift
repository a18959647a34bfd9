/// The services that agents get their answers from.
package enum Provider: String, CaseIterable, Codable, Sendable, Hashable {
    case openai
    case anthropic
    case gemini
    case qwen
    case ollama

    /// The provider that a name means, as a Mac or a user writes it: `OpenAI`, `Aliyun Qwen`, `qwen`.
    package init?(named name: String) {
        let letters = name.lowercased().filter(\.isLetter)
        let names: [String: Provider] = [
            "openai": .openai, "anthropic": .anthropic, "claude": .anthropic, "gemini": .gemini, "google": .gemini,
            "qwen": .qwen, "aliyunqwen": .qwen, "aliyun": .qwen, "dashscope": .qwen, "ollama": .ollama,
        ]
        guard let provider = names[letters] else { return nil }
        self = provider
    }

    /// The name as its makers write it.
    package var displayName: String {
        switch self {
        case .openai: "OpenAI"
        case .anthropic: "Anthropic"
        case .gemini: "Gemini"
        case .qwen: "Qwen"
        case .ollama: "Ollama"
        }
    }

    /// The URL of its interface unless the user sets another one; with the version, except for Ollama.
    package var standardURL: String {
        switch self {
        case .openai: "https://api.openai.com/v1"
        case .anthropic: "https://api.anthropic.com/v1"
        case .gemini: "https://generativelanguage.googleapis.com/v1beta"
        case .qwen: "https://dashscope.aliyuncs.com/compatible-mode/v1"
        case .ollama: "http://127.0.0.1:11434"
        }
    }

    /// The environment variable that holds its key; nil if the provider has no keys.
    package var keyVariable: String? {
        switch self {
        case .openai: "OPENAI_API_KEY"
        case .anthropic: "ANTHROPIC_API_KEY"
        case .gemini: "GEMINI_API_KEY"
        case .qwen: "DASHSCOPE_API_KEY"
        case .ollama: nil
        }
    }

    /// The environment variable that says where its interface is.
    package var urlVariable: String { "PAIRTOOL_\(rawValue.uppercased())_URL" }

    /// Whether it answers nobody without a key.
    package var needsKey: Bool { keyVariable != nil }
}
