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

extension HostSession {
    /// Requires a host that accepts signed commands.
    ///
    /// - Throws: ``CommandError`` with exit code 12 for a legacy host: protocol 1 has no such command.
    func requireCommands(_ what: String) throws {
        guard !isVerified else { return }
        throw CommandError(
            .versionMismatch,
            "host.legacy",
            "\(host.name) was paired with protocol 1, which cannot \(what)",
            next: "if the host supports protocol 2, pair again: pairtool pair"
        )
    }
}
