import ArgumentParser
import CompanionClient

struct RemoteAppsCommand: RemoteSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "apps",
        abstract: "List the applications that run on the Mac.",
        discussion: """
            Example:
              pairtool lumi remote apps
            """
    )

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    private struct Row: Encodable {
        var name: String
    }

    func run() async throws {
        try await withMac { mac in
            let rows = try await mac.client.runningApps().map(Row.init)
            mac.output.list(rows, columns: [TableColumn("NAME") { $0.name }], id: \.name)
        }
    }
}
