import ArgumentParser

struct JarvisCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jarvis",
        abstract: "Check a Jarvis daemon, and request an approval.",
        discussion: """
            `pairtool approvals` lists and decides requests.

            Examples:
              pairtool jarvis health
              pairtool jarvis request "restart the build" --reason "it hangs"
            """,
        subcommands: [ApprovalHealthCommand.self, ApprovalRequestCommand.self]
    )
}
