import ArgumentParser
import PairingAgent

struct NewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Make a project, a session or a chat on a verified host.",
        subcommands: [NewProjectCommand.self, NewSessionCommand.self, NewChatCommand.self]
    )
}

extension HostSession {
    /// Insists on a host that takes signed commands.
    ///
    /// - Throws: ``CommandError`` with exit code 12 for a legacy host: protocol 1 has no such command.
    func requireCommands(_ what: String) throws {
        guard !isVerified else { return }
        throw CommandError(
            .versionMismatch,
            "host.legacy",
            "\(host.name) was paired by protocol 1, which cannot \(what)",
            next: "if the host speaks protocol 2, pair with proof: pairtool pair"
        )
    }
}
