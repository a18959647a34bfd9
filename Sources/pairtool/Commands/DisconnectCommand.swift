import ArgumentParser
import CompanionClient
import CompanionWire
import PairingAgent

struct DisconnectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disconnect",
        abstract: "End this device's connection with the host.",
        discussion: """
            Coming back to a legacy host takes a new pairing. A verified host ends this device's session; the next command \
            opens another. To end the pairing itself: pairtool devices revoke
            """
    )

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    private struct Result: Encodable {
        var host: String
        var disconnected: Bool
    }

    func run() async throws {
        try await host.withSession(options) { session in
            let name = TerminalText.line(session.host.name)
            let connected = try await session.devices.status().connectedDevice
            // The request would end anybody's connection: it is sent only where it ends ours.
            if !session.isVerified, let connected, connected.id != session.host.deviceID {
                throw CommandError(
                    .notPaired,
                    "host.superseded",
                    "\(session.host.name) is connected to another device, \(connected.name) (\(connected.id)); it was left alone",
                    next: "pairtool devices"
                )
            }
            let wasConnected = connected != nil
            if wasConnected { _ = try await session.devices.disconnect() }
            session.output.result(Result(host: session.host.id, disconnected: wasConnected), id: session.host.id) {
                wasConnected ? "Disconnected from \(name)." : "This device was not connected to \(name)."
            }
            session.output.say(
                session.isVerified
                    ? "The pairing stands: the next command begins a new session. To end it: pairtool devices revoke "
                        + session.host.deviceID
                    : "The record stays: pairtool hosts forget \(session.host.id.prefix(8)) removes it."
            )
        }
    }
}
