import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import Identity
import Terminal

struct RemoteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remote",
        abstract: "Control a Mac with Lumi.",
        discussion: """
            Lumi hosts prove nothing and do not encrypt. Newer ones ask their user about each connection: pairtool \
            waits up to a minute for the answer. Without a command, you can type any number of commands over one \
            connection.

            Examples:
              pairtool lumi remote
              pairtool lumi remote volume 30
              pairtool lumi remote screenshot -o screen.png
            """,
        subcommands: [
            RemotePingCommand.self, RemoteInfoCommand.self, RemoteScreenshotCommand.self, RemoteVolumeCommand.self,
            RemoteMuteCommand.self, RemoteBrightnessCommand.self, RemoteMediaCommand.self, RemoteAppsCommand.self,
            RemoteOpenCommand.self, RemoteQuitCommand.self, RemoteNotifyCommand.self, RemoteTypeCommand.self,
            RemoteKeyCommand.self, RemoteMouseCommand.self, RemoteShellCommand.self, RemoteAppleScriptCommand.self,
            RemotePromptCommand.self,
        ],
        defaultSubcommand: RemotePromptCommand.self
    )
}

/// A command that is sent to a Lumi host.
protocol RemoteSubcommand: AsyncParsableCommand {
    var host: HostOptions { get }
    var options: OutputOptions { get }
    /// Checks and reads what is needed before anyone at the Mac is asked. Default: nothing.
    mutating func prepare(for host: PairedHost) async throws
    /// Sends the command over a connection that the host has accepted, and shows the answer.
    func run(on mac: RemoteMac, output: Output) async throws
}

extension RemoteMac {
    /// Sends a command and shows the host's answer.
    func perform(_ request: LumiRequest, output: Output) async throws {
        let text = try await client.perform(request).result
        output.result(RemoteResult(hostId: host.id, command: request.command, result: text), id: nil) {
            TerminalText.block(text)
        }
    }
}

/// The host's answer to a command, in JSON.
struct RemoteResult: Encodable {
    var hostId: String
    /// The command's name in the protocol.
    var command: String
    var result: String
}

extension RemoteSubcommand {
    mutating func prepare(for host: PairedHost) async throws {}

    mutating func run() async throws {
        let selected = try host.selector.paired(.lumi, for: "remote commands", in: options.environment)
        try await prepare(for: selected)
        let command = self
        try await host.selector.withMac(options.environment, for: "remote commands") { mac in
            try await command.run(on: mac, output: command.options.output)
        }
    }
}

extension LumiLevel: ExpressibleByArgument {
    init?(argument: String) { try? self.init(argument) }
}

extension LumiRequest.MediaAct: ExpressibleByArgument {}
