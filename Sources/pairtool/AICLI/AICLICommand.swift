import ArgumentParser

struct AICLICommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "aicli",
        abstract: "Manage the sessions of an AICLI host.",
        discussion: """
            Examples:
              pairtool aicli sessions
              pairtool aicli sessions end web
            """,
        subcommands: [SessionsCommand.self]
    )
}
