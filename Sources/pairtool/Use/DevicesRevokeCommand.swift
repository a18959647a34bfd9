import ArgumentParser
import CompanionClient
import CompanionWire
import PairingAgent

struct DevicesRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Unpair a device from the host.",
        discussion: """
            Examples:
              pairtool devices revoke laptop
              pairtool devices revoke 9a7d44a9
            """
    )

    @Argument(
        help: "The device, by name or id prefix.",
        completion: .custom { words, _, _ in await Completions.devices(words) }
    )
    var device: String

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        try await host.withSession(options) { session in
            let device = try NameMatch.find(
                device,
                in: try await session.devices.devices(),
                kind: "device",
                listing: "pairtool devices",
                ids: { [$0.id] },
                names: { [$0.name] }
            )
            let status = try await session.devices.revokeDevice(id: device.id)
            session.output.result(
                DeviceRow(device, connected: status.connectedDevice?.id, own: session.host.deviceID),
                id: device.id
            ) {
                TerminalText.line("Revoked \(device.name) (\(device.id)) at \(session.host.name).")
            }
            if device.id == session.host.deviceID {
                session.output.say("That was this device. To pair again: pairtool pair")
            }
        }
    }
}
