import ArgumentParser
import CompanionWire
import PairingAgent

struct RemoteDisconnectCommand: RemoteSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "disconnect",
        abstract: "Close the connection that is kept for the next command.",
        discussion: """
            After each command, pairtool keeps a connection that the Mac's user has accepted for three minutes, so \
            that the next one need not be accepted again. PAIRTOOL_REMOTE_KEEP sets other seconds; 0 keeps none.

            Example:
              pairtool lumi remote disconnect
            """
    )

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    private struct Row: Encodable {
        var hostId: String
        var closed: Bool
    }

    func run() async throws {
        let output = options.output
        let paired = try host.paired(.lumi, for: "remote commands", output.context)
        let held = HeldConnection(paired, output.context)
        let closed = try await BlockingCall.run { held.end() }
        output.result(Row(hostId: paired.id, closed: closed), id: nil) {
            closed
                ? "The connection to \(TerminalText.line(paired.name)) is closed."
                : "No connection to \(TerminalText.line(paired.name)) is kept."
        }
    }
}
