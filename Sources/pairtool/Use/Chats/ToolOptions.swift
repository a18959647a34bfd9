import ArgumentParser

/// Which tools the agent on the host may use.
struct ToolOptions: ParsableArguments {
    @Option(
        name: .customLong("allow-tool"),
        help: "Let the agent use this tool (repeatable). Default: no tools."
    )
    var allowed: [String] = []

    @Flag(help: "Let the agent use all its tools.")
    var allowAllTools = false

    mutating func validate() throws {
        if allowAllTools, !allowed.isEmpty {
            throw ValidationError("--allow-tool and --allow-all-tools cannot be used together.")
        }
    }

    /// The request's `allowedTools`: nil allows all tools, an empty list none.
    var allowedTools: [String]? {
        allowAllTools ? nil : allowed
    }
}
