import CompanionApp
import CompanionHost
import CompanionWire
import PairingAgent

/// The hint for a user who allows a tool that the agent does not have.
enum ToolHint {
    /// - Parameter model: The chat's model; nil if the host chooses.
    /// - Returns: nil for a known tool, and if only the agent knows its tools.
    static func text(about tool: String, model: String?) -> String? {
        guard model?.isSame(as: BuiltinAgent.modelID) == true else { return nil }
        let known = BuiltinAgent.Tool.allCases.map(\.rawValue)
        guard !known.contains(where: { $0.isSame(as: tool) }) else { return nil }
        let hint = NearestWord.of(tool, in: known).map { "did you mean \($0)?" }
        return "The built-in agent has no tool “\(tool)”; \(hint ?? "it has \(known.joined(separator: ", "))")"
    }
}

extension Conversation {
    /// Says which of the tools that the user allows the agent does not have.
    func sayToolHints() {
        for hint in (allowedTools ?? []).compactMap({ ToolHint.text(about: $0, model: model) }) {
            session.interaction.say(TerminalText.line(hint))
        }
    }
}
