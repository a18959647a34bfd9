import ArgumentParser
import CompanionClient

struct RemoteInfoCommand: RemoteSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Show the Mac's model, system and screen size.",
        discussion: """
            Example:
              pairtool lumi remote info
            """
    )

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    private struct Row: Encodable {
        var name: String
        var value: String
    }

    func run() async throws {
        try await withMac { mac in
            let rows = try await mac.client.info().map { Row(name: $0.name, value: $0.value) }
            mac.output.list(
                rows,
                columns: [TableColumn("NAME") { $0.name }, TableColumn("VALUE", shrinks: true) { $0.value }],
                id: \.name
            )
        }
    }
}
