import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import Identity
import PairingAgent
import Terminal

struct DisconnectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disconnect",
        abstract: "End this device's connection to the host.",
        discussion: """
            On a verified host, this ends the session; the next command opens another. A legacy host has to be paired \
            again, so you are asked first. To end the pairing itself, run `pairtool devices revoke`.

            Examples:
              pairtool disconnect
              pairtool disconnect --host Studio
            """
    )

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    private struct Result: Encodable {
        var host: String
        var disconnected: Bool
    }

    func run() async throws {
        try await host.selector.withSession(options.environment) { session in
            let name = TerminalText.line(session.host.name)
            let connected = try await session.devices.status().connectedDevice
            // The request ends the connection of whichever device is connected, so it is sent only if that is this one.
            if !session.isVerified, let connected, connected.id != session.host.deviceID {
                throw AppError(
                    .notPaired,
                    "host.superseded",
                    "\(session.host.name) is connected to another device, \(connected.name) (\(connected.id)); nothing was changed",
                    next: "pairtool devices"
                )
            }
            let wasConnected = connected != nil
            if wasConnected {
                if !session.isVerified {
                    try await confirmation.confirm(
                        "Disconnect from \(name)? To use it again, this device has to be paired again.",
                        code: "host.unconfirmed",
                        output: options.output,
                        outcome: "nothing was changed"
                    )
                }
                _ = try await session.devices.disconnect()
            }
            options.output.result(Result(host: session.host.id, disconnected: wasConnected), id: session.host.id) {
                wasConnected ? "Disconnected from \(name)." : "This device was not connected to \(name)."
            }
            options.output.say(
                session.isVerified
                    ? "You are still paired: the next command opens a new session. To unpair: pairtool devices revoke "
                        + session.host.deviceID
                    : "The record stays. To remove it: pairtool hosts forget \(session.host.id.shortID)"
            )
        }
    }
}
