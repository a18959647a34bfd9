import ArgumentParser
import CompanionClient
import PairingAgent

struct RemoteVolumeCommand: RemoteSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "volume",
        abstract: "Show or set the Mac's volume.",
        discussion: """
            Examples:
              pairtool lumi remote volume
              pairtool lumi remote volume 30
            """
    )

    @Argument(help: "0 to 100, with or without %. Default: show it.", completion: .list(["0", "25", "50", "100"]))
    var level: LumiLevel?

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    private struct Row: Encodable {
        var hostId: String
        /// Percent; absent if the Mac's output has no volume of its own.
        var volume: Int?
    }

    func run() async throws {
        try await withMac { mac in
            if let level { try await mac.client.perform(.setVolume(level)) }
            let now = try await mac.client.volume()
            mac.output.result(Row(hostId: mac.host.id, volume: now), id: now.map { "\($0)" }) {
                now.map { "\($0)%" } ?? "the Mac's audio output has no volume control"
            }
        }
    }
}
