import ArgumentParser
import CompanionApp
import CompanionHost
import CompanionWire
import PairingAgent

/// Which tools the agent on the host may use.
struct ToolOptions: ParsableArguments {
    @Option(
        name: .customLong("allow-tool"),
        help:
            """
            Allow this tool or kind of tool, such as edit (repeatable): each question from an agent about it is \
            answered “allow once”, and a model gets it. Default: you are asked, and a model gets no tools.
            """
    )
    var allowed: [String] = []

    @Flag(help: "Allow all tools: each question from the agent is answered “allow once”.")
    var allowAllTools = false

    @Flag(help: "Deny all other requests: each question from the agent is answered “reject once”.")
    var denyQuestions = false

    mutating func validate() throws {
        if allowAllTools, denyQuestions {
            throw ValidationError("--allow-all-tools and --deny-questions cannot be used together.")
        }
        if allowAllTools, !allowed.isEmpty {
            throw ValidationError("--allow-tool and --allow-all-tools cannot be used together.")
        }
    }

    /// The request's `allowedTools`: nil allows all tools, an empty list none.
    var allowedTools: [String]? {
        allowAllTools ? nil : allowed
    }
}

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
