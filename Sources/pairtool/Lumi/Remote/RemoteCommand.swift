import ArgumentParser
import CompanionClient
import CompanionWire
import Identity

struct RemoteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remote",
        abstract: "Control a Mac with Lumi.",
        discussion: """
            Lumi hosts prove nothing and do not encrypt. Newer ones ask their user about each connection: pairtool \
            waits up to a minute for that, and keeps the connection for the next commands. `pairtool lumi remote \
            disconnect` closes it.

            Examples:
              pairtool lumi remote info
              pairtool lumi remote volume 30
              pairtool lumi remote screenshot -o screen.png
            """,
        subcommands: [
            RemotePingCommand.self, RemoteInfoCommand.self, RemoteScreenshotCommand.self, RemoteVolumeCommand.self,
            RemoteMuteCommand.self, RemoteBrightnessCommand.self, RemoteMediaCommand.self, RemoteAppsCommand.self,
            RemoteOpenCommand.self, RemoteQuitCommand.self, RemoteNotifyCommand.self, RemoteTypeCommand.self,
            RemoteKeyCommand.self, RemoteMouseCommand.self, RemoteShellCommand.self, RemoteAppleScriptCommand.self,
            RemoteDisconnectCommand.self, RemoteHoldCommand.self,
        ]
    )
}

/// A command that is sent to a Lumi host.
protocol RemoteSubcommand: AsyncParsableCommand {
    var host: HostOptions { get }
    var options: OutputOptions { get }
}

extension RemoteMac {
    /// Sends a command and shows the host's answer.
    func perform(_ request: LumiRequest) async throws {
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
    /// Runs a body with a connection that the host has accepted.
    func withMac<R>(
        before: (PairedHost) async throws -> Void = { _ in },
        _ body: (RemoteMac) async throws -> R
    ) async throws -> R {
        try await host.withMac(options, for: "remote commands", before: before, body)
    }

    /// Sends one command and shows the host's answer.
    func perform(_ request: LumiRequest) async throws {
        try await withMac { try await $0.perform(request) }
    }
}

extension LumiLevel: ExpressibleByArgument {
    init?(argument: String) { try? self.init(argument) }
}

extension LumiRequest.MediaAct: ExpressibleByArgument {}
