import ArgumentParser
import CompanionClient
import PairingAgent

struct RemoteBrightnessCommand: RemoteSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "brightness",
        abstract: "Show or set the brightness of the Mac's screen.",
        discussion: """
            Examples:
              pairtool lumi remote brightness
              pairtool lumi remote brightness 60
            """
    )

    @Argument(help: "0 to 100, with or without %. Default: show it.")
    var level: LumiLevel?

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    private struct Row: Encodable {
        var hostId: String
        /// Percent; absent if the Mac does not know.
        var brightness: Int?
    }

    func run() async throws {
        try await withMac { mac in
            if let level { try await mac.client.perform(.setBrightness(level)) }
            let now = try await mac.client.brightness()
            mac.output.result(Row(hostId: mac.host.id, brightness: now), id: now.map { "\($0)" }) {
                now.map { "\($0)%" } ?? "the Mac does not report the brightness of its screen"
            }
        }
    }
}
