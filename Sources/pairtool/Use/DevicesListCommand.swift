import ArgumentParser
import CompanionClient
import CompanionWire
import PairingAgent

struct DevicesListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the paired devices.",
        discussion: """
            Examples:
              pairtool devices list
              pairtool devices list --host Studio --json
            """
    )

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        try await host.withSession(options) { session in
            let connected = try await session.devices.status().connectedDevice?.id
            let devices = try await session.devices.devices()
            guard !devices.isEmpty else {
                throw CommandError(
                    .nothingFound,
                    "device.none",
                    "\(session.host.name) has no paired devices",
                    next: "pairtool pair"
                )
            }
            let now = session.context.now()
            session.output.list(
                devices.map { DeviceRow($0, connected: connected, own: session.host.deviceID) },
                columns: [
                    TableColumn("NAME", shrinks: true, rank: 0) { $0.name + ($0.isThisDevice ? " (this device)" : "") },
                    TableColumn("CONNECTED") { $0.connected ? "yes" : "no" },
                    TableColumn("PAIRED", rank: 3) { TimeText.ago($0.pairedAt, now: now) },
                    TableColumn("SEEN", rank: 2) { TimeText.ago($0.lastSeenAt, now: now) },
                    TableColumn("ID", rank: 0) { $0.id },
                ],
                id: \.id
            )
        }
    }
}
