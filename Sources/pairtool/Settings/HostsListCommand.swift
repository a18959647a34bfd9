import ArgumentParser
import CompanionWire
import PairingAgent

struct HostsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the paired hosts.",
        discussion: """
            Examples:
              pairtool hosts list
              pairtool hosts list --json
            """
    )

    @OptionGroup var options: OutputOptions

    func run() async throws {
        let output = options.output
        let hosts = try PairedHostStore(directory: output.context.paths.data).load()
        guard !hosts.hosts.isEmpty else {
            throw CommandError(.nothingFound, "hosts.none", "no host is paired yet", next: "pairtool pair")
        }
        let now = output.context.now()
        output.list(
            hosts.hosts.map { PairedHostRow($0, isDefault: $0.id == hosts.defaultID) },
            columns: [
                TableColumn("", rank: 0) { $0.isDefault ? "*" : " " },
                TableColumn("NAME", shrinks: true, rank: 0) { $0.name },
                TableColumn("FAMILY", rank: 3) { $0.family.displayName },
                TableColumn("TRUST", rank: 2) { $0.trust.rawValue },
                TableColumn("ADDRESS") { "\($0.endpoint)" },
                TableColumn("PAIRED", rank: 4) { TimeText.ago($0.pairedAt, now: now) },
                TableColumn("ID", rank: 0) { String($0.id.prefix(8)) },
            ],
            id: \.id
        )
    }
}
