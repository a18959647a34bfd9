import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import Identity
import PairingAgent
import Terminal

struct DevicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "List the devices that are paired with the host, or revoke one.",
        discussion: """
            Examples:
              pairtool devices
              pairtool devices revoke laptop
            """,
        subcommands: [DevicesListCommand.self, DevicesRevokeCommand.self],
        defaultSubcommand: DevicesListCommand.self
    )
}

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
        try await host.selector.withSession(options.environment) { session in
            let connected = try await session.devices.status().connectedDevice?.id
            let devices = try await session.devices.devices()
            guard !devices.isEmpty else {
                throw AppError.empty("No device is paired with \(session.host.name)")
            }
            let now = options.output.context.now()
            options.output.list(
                devices.map { DeviceRow($0, connected: connected, own: session.host.deviceID) },
                columns: [
                    TableColumn("NAME", shrinks: true, rank: 0) { $0.name + ($0.isThisDevice ? " (this device)" : "") },
                    TableColumn("CONNECTED") { $0.connected ? "yes" : "no" },
                    TableColumn("PAIRED", rank: 3) { TimeText.ago($0.pairedAt, now: now) },
                    TableColumn("VIA", rank: 2) { $0.via?.rawValue ?? "–" },
                    TableColumn("SEEN", rank: 2) { TimeText.ago($0.lastSeenAt, now: now) },
                    TableColumn("ID", rank: 0) { $0.id },
                ],
                id: \.id
            )
        }
    }
}

struct DevicesRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Unpair a device from the host.",
        discussion: """
            A pairtool host lets a device revoke only itself; another one is revoked on the host: pairtool host revoke \
            DEVICE.

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

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        try await host.selector.withSession(options.environment) { session in
            let device = try NameMatch.find(
                device,
                in: try await session.devices.devices(),
                kind: "device",
                listing: "pairtool devices",
                ids: { [$0.id] },
                names: { [$0.name] }
            )
            if device.id == session.host.deviceID { try await confirmOwn(session) }
            let status: CompanionStatusResponse
            do {
                status = try await session.devices.revokeDevice(id: device.id)
            } catch let error as CompanionClientError where error.code == .forbidden {
                var failure = AppError(describing: error.naming(session.host))
                failure.next = "on the host: pairtool host revoke \(device.id.shortID)"
                throw failure
            }
            options.output.result(
                DeviceRow(device, connected: status.connectedDevice?.id, own: session.host.deviceID),
                id: device.id
            ) {
                TerminalText.line("Revoked \(device.name) (\(device.id)) at \(session.host.name).")
            }
            if device.id == session.host.deviceID {
                try session.outbox.removeAll()
                await options.environment.endPairing(with: session.host)
                options.output.say("That was this device. To pair again: pairtool pair")
            }
        }
    }

    private func confirmOwn(_ session: HostSession) async throws {
        let waiting = (try? session.outbox.load().prompts.count) ?? 0
        let prompts = waiting == 0 ? "" : " Prompts that wait for the host: \(waiting). They will be removed."
        let name = TerminalText.line(session.host.name)
        try await confirmation.confirm(
            "This is the device that you are using. Its part of the history on this machine will be removed.\(prompts) Revoke it at \(name)?",
            code: "device.unconfirmed",
            output: options.output,
            outcome: "nothing was revoked"
        )
    }
}

/// A device in JSON.
struct DeviceRow: Encodable {
    var id: String
    var name: String
    var pairedAt: Date?
    var lastSeenAt: Date?
    /// The rung by which it last came.
    var via: HostRoute.Rung?
    var connected: Bool
    var isThisDevice: Bool

    init(_ device: CompanionDevice, connected: String?, own: String) {
        id = device.id
        name = device.name
        pairedAt = device.pairedAt
        lastSeenAt = device.lastSeenAt
        via = device.via
        self.connected = device.id == connected
        isThisDevice = device.id == own
    }
}
