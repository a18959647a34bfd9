import ArgumentParser
import PairingAgent

struct NewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Create a project, a session or a chat on a verified host.",
        discussion: """
            Examples:
              pairtool new project garden
              pairtool new chat garden --title Plans
            """,
        subcommands: [NewProjectCommand.self, NewSessionCommand.self, NewChatCommand.self]
    )
}
