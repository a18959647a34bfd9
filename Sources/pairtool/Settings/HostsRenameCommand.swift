import ArgumentParser
import PairingAgent

struct HostsRenameCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename",
        abstract: "Rename a host on this machine.",
        discussion: """
            Example:
              pairtool hosts rename 192.168.1.5:7878 Studio
            """
    )

    @Argument(help: "The host, by name or id prefix.", completion: .custom { _, _, _ in Completions.hosts() })
    var host: String
    @Argument(help: "The new name.")
    var name: String
    @OptionGroup var options: OutputOptions

    func validate() throws {
        try NameRule.check(name)
    }

    func run() async throws {
        let output = options.output
        let name = name.trimmingBlanks()
        let (renamed, isDefault) = try HostsCommand.change(output) { hosts in
            var renamed = try PairedHostSelection.select(host, in: hosts)
            if let other = hosts.hosts.first(where: { $0.id != renamed.id && $0.name == name }) {
                throw CommandError(
                    .usage,
                    "host.name_taken",
                    "another paired host (\(other.id)) is called “\(name)”"
                )
            }
            renamed.name = name
            hosts.record(renamed)
            return (renamed, hosts.defaultID == renamed.id)
        }
        output.result(PairedHostRow(renamed, isDefault: isDefault), id: renamed.id) {
            "Renamed to \(TerminalText.line(renamed.name))."
        }
    }
}
