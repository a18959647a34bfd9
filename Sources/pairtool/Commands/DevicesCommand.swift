import ArgumentParser
import CompanionClient
import CompanionWire
import FoundationEssentials
import PairingAgent

struct DevicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "List the devices that have paired with the host, or revoke one.",
        subcommands: [List.self, Revoke.self],
        defaultSubcommand: List.self
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List the paired devices.")

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
                        "\(session.host.name) lists no device",
                        next: "pairtool pair"
                    )
                }
                let now = session.context.now()
                session.output.list(
                    devices.map { DeviceRow($0, connected: connected, own: session.host.deviceID) },
                    columns: [
                        TableColumn("NAME", shrinks: true) { $0.name + ($0.isThisDevice ? " (this device)" : "") },
                        TableColumn("CONNECTED") { $0.connected ? "yes" : "no" },
                        TableColumn("PAIRED") { TimeText.ago($0.pairedAt, now: now) },
                        TableColumn("SEEN") { TimeText.ago($0.lastSeenAt, now: now) },
                        TableColumn("ID") { $0.id },
                    ],
                    id: \.id
                )
            }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "revoke",
            abstract: "Make the host forget a device."
        )

        @Argument(
            help: "The device, by id prefix or name.",
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
                    id: \.id,
                    names: { [$0.name] }
                )
                let status = try await session.devices.revokeDevice(id: device.id)
                session.output.result(
                    DeviceRow(device, connected: status.connectedDevice?.id, own: session.host.deviceID),
                    id: device.id
                ) {
                    TerminalText.line("\(session.host.name) has forgotten \(device.name) (\(device.id)).")
                }
                if device.id == session.host.deviceID {
                    session.output.say("That was this device. To come back: pairtool pair")
                }
            }
        }
    }
}

/// A device in JSON.
struct DeviceRow: Encodable {
    var id: String
    var name: String
    var pairedAt: Date?
    var lastSeenAt: Date?
    var connected: Bool
    var isThisDevice: Bool

    init(_ device: CompanionDevice, connected: String?, own: String) {
        id = device.id
        name = device.name
        pairedAt = device.pairedAt
        lastSeenAt = device.lastSeenAt
        self.connected = device.id == connected
        isThisDevice = device.id == own
    }
}
