import ArgumentParser

/// Which tools the agent on the host may use.
struct ToolOptions: ParsableArguments {
    @Option(
        name: .customLong("allow-tool"),
        help:
            "Let the agent use this tool (repeatable). Default: no tools. Of an agent that asks: say yes, once, to what has this name or is of this kind, such as edit."
    )
    var allowed: [String] = []

    @Flag(help: "Let the agent use all its tools, and say yes, once, to all that it asks.")
    var allowAllTools = false

    @Flag(help: "Say no, once, to all else that the agent asks.")
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
