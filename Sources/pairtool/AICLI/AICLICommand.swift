import ArgumentParser

struct AICLICommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "aicli",
        abstract: "Manage the sessions of an AICLI host, and the prompts that wait for it.",
        discussion: """
            Examples:
              pairtool aicli sessions
              pairtool aicli outbox send
            """,
        subcommands: [SessionsCommand.self, OutboxCommand.self]
    )
}
