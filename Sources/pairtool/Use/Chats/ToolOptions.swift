import ArgumentParser

/// Which tools the agent on the host may use.
struct ToolOptions: ParsableArguments {
    @Option(
        name: .customLong("allow-tool"),
        help:
            """
            Let the agent use this tool (repeatable). Default: no tools. If the agent asks for permission, requests for \
            this tool or kind of tool, such as edit, are allowed once.
            """
    )
    var allowed: [String] = []

    @Flag(help: "Let the agent use all its tools, and allow each of its requests once.")
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
