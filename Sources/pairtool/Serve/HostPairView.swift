import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import PairingAgent
import Terminal

/// Shows a new code of the running host.
struct HostPairView {
    let output: Output
    let code: PairingCode
    /// The PNG file that also has it.
    let file: String?
    /// Whether the device gets fewer rights than others, or for a time only.
    let isLimited: Bool
    let showsSecrets: Bool

    func show(until end: Date) {
        let limit = "These limits are for one device. The next code has the limits that the host was started with."
        if output.context.stdoutIsTerminal {
            // The time limit and the prompt follow below the code. If the window has no room for all, the time limit is
            // left out.
            let columns = isLimited ? output.context.windowSize()?.columns : nil
            let rows = columns.map { DisplayWidth.rows(of: output.fitted(limit, indent: 0), columns: $0) } ?? 0
            let ways =
                "Run the command again in a larger window\(code.denseWay)"
                + (file == nil ? ", use --qr-file" : "")
            guard code.fits(output, rowsAfter: 1 + rows) || !code.fits(output, rowsAfter: 1) else {
                if isLimited { output.say(limit) }
                code.draw(output, rowsAfter: 1, ways: ways)
                return
            }
            code.draw(output, rowsAfter: 1 + rows, ways: ways)
        } else if showsSecrets {
            output.data(code.text)
        } else {
            let left = TimeText.countdown(end.timeIntervalSince(output.context.now()))
            output.data(
                file.map { "For \(left), a device can pair with the QR code in \(TerminalText.line($0))." }
                    ?? """
                    For \(left), a device can pair with a new code. It is not shown, because standard output is not a \
                    terminal. To make one and print it: pairtool host pair --show-secrets
                    """
            )
        }
        if isLimited { output.say(limit) }
    }
}

extension Output {
    /// Waits at a terminal until a device has paired, or the code is over. Ctrl-C ends that, and the code stays.
    ///
    /// - Parameter known: The devices before. One that pairs again is told by the time.
    func waitForDevice(besides known: [AdminDevice], until end: Date) async throws {
        let paired: AdminDevice? = try await TerminalInteraction(output: self).working(
            on: "Waiting for a device (Ctrl-C stops waiting)",
            until: end
        ) {
            while context.now() < end {
                let new = try await owner.devices().first { device in
                    !known.contains { $0.id.isSame(as: device.id) && $0.pairedAt == device.pairedAt }
                }
                if let new { return new }
                try await ContinuousClock().sleep(for: .seconds(1))
            }
            return nil
        }
        say(
            paired.map { TerminalText.line("“\($0.name)” has paired (\($0.id.shortID)).") }
                ?? "The code has expired, and no device has paired."
        )
    }
}
