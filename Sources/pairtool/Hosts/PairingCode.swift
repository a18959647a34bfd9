import CompanionWire
import QRCodec

/// A pairing code as people get to see it.
enum PairingCode {
    /// The digits, and when they end.
    static func line(_ challenge: PairingStartResponse, until: Bool) -> String {
        let digits = challenge.code.prefix(3) + " " + challenge.code.suffix(3)
        guard until else { return "Pairing code:  \(digits)" }
        return "Pairing code:  \(digits)  (until \(CompanionTimestamp.string(from: challenge.expiresAt)))"
    }

    /// The QR code, on a terminal.
    static func draw(_ challenge: PairingStartResponse, _ output: Output) {
        let window = output.context.windowSize()
        do {
            // A screen does not get dirty: the lowest error correction keeps the drawing small.
            let symbol = try QRSymbol(bytes: Array(challenge.qrPayload.utf8), errorCorrection: .low)
            output.data(
                try symbol.terminalText(
                    colour: output.context.colour,
                    columns: window?.columns,
                    rows: window.map { $0.rows - 2 }
                )
            )
        } catch {
            output.say("\(error) Make it larger, use --qr-file, or type the digits.")
        }
    }
}
