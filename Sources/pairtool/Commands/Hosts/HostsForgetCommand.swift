import ArgumentParser
import CompanionWire
import PairingAgent

struct HostsForgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Forget a host. The host itself is not told: disconnect first."
    )

    @Argument(help: "Name or id prefix.", completion: .custom { _, _, _ in Completions.hosts() })
    var host: String
    @OptionGroup var options: OutputOptions

    func run() async throws {
        let output = options.output
        let forgotten = try HostsCommand.change(output) { hosts in
            let forgotten = try PairedHostSelection.select(host, in: hosts)
            hosts.forget(forgotten.id)
            return forgotten
        }
        try forgotten.forgetBelongings(output.context)
        output.result(PairedHostRow(forgotten, isDefault: false), id: forgotten.id) {
            "Forgot \(TerminalText.line(forgotten.name))."
        }
    }
}
