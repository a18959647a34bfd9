import ArgumentParser

/// Which tools the agent on the host may use.
struct ToolOptions: ParsableArguments {
    @Option(
        name: .customLong("allow-tool"),
        help:
            """
            Allow this tool (repeatable): an agent's questions about this tool or kind of tool, such as edit, are \
            answered with yes, once each, and a model gets it. Default: you are asked, and a model gets no tools.
            """
    )
    var allowed: [String] = []

    @Flag(help: "Allow all tools: all questions of the agent are answered with yes, once each.")
    var allowAllTools = false

    @Flag(help: "Deny all other requests of the agent, once each.")
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
