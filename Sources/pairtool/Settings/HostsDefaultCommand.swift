import ArgumentParser
import PairingAgent

struct HostsDefaultCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "default",
        abstract: "Set the host that commands use if none is named.",
        discussion: """
            Example:
              pairtool hosts default Studio
            """
    )

    @Argument(help: "The host, by name or id prefix.", completion: .custom { _, _, _ in Completions.hosts() })
    var host: String
    @OptionGroup var options: OutputOptions

    func run() async throws {
        let output = options.output
        let chosen = try HostsCommand.change(output) { hosts in
            let chosen = try PairedHostSelection.select(host, in: hosts)
            hosts.defaultID = chosen.id
            return chosen
        }
        output.result(PairedHostRow(chosen, isDefault: true), id: chosen.id) {
            "\(TerminalText.line(chosen.name)) is the default host now."
        }
    }
}
