import ArgumentParser
import CompanionClient
import PairingAgent

struct RemoteMuteCommand: RemoteSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "mute",
        abstract: "Mute or unmute the Mac.",
        discussion: """
            Examples:
              pairtool lumi remote mute
              pairtool lumi remote mute off
            """
    )

    enum Act: String, ExpressibleByArgument, CaseIterable {
        case on, off, toggle, show
    }

    @Argument(help: "on, off, toggle or show.")
    var act = Act.on

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    private struct Row: Encodable {
        var hostId: String
        /// Absent if the Mac does not know.
        var muted: Bool?
    }

    func run() async throws {
        try await withMac { mac in
            switch act {
            case .on: try await mac.client.perform(.setMute(true))
            case .off: try await mac.client.perform(.setMute(false))
            case .toggle: try await mac.client.perform(.setMute(try await mac.client.isMuted() != true))
            case .show: break
            }
            let now = try await mac.client.isMuted()
            mac.output.result(Row(hostId: mac.host.id, muted: now), id: now.map { "\($0)" }) {
                now.map { $0 ? "muted" : "not muted" } ?? "the Mac does not report whether it is muted"
            }
        }
    }
}
