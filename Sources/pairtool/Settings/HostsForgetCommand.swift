import ArgumentParser
import CompanionWire
import PairingAgent

struct HostsForgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Forget a host.",
        discussion: """
            Removes the record on this machine. The host still lists this device: revoke it first, if you want it \
            gone there too.

            Examples:
              pairtool hosts forget Studio
              pairtool devices revoke 9a7d44a9 && pairtool hosts forget Studio
            """
    )

    @Argument(help: "The host, by name or id prefix.", completion: .custom { _, _, _ in Completions.hosts() })
    var host: String
    @OptionGroup var options: OutputOptions

    func run() async throws {
        let output = options.output
        let forgotten = try HostsCommand.change(output) { hosts in
            let forgotten = try PairedHostSelection.select(host, in: hosts)
            hosts.forget(forgotten.id)
            return forgotten
        }
        try forgotten.family.ways.forget(forgotten, context: output.context)
        output.result(PairedHostRow(forgotten, isDefault: false), id: forgotten.id) {
            "Forgot \(TerminalText.line(forgotten.name))."
        }
    }
}
