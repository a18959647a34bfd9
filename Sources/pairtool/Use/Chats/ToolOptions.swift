import ArgumentParser

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
