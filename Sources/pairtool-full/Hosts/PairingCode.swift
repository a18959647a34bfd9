import CommandCore
import CompanionWire
import QRCodec

/// A pairing code as people get to see it.
enum PairingCode {
    /// The digits, in groups and as words, and when they end.
    static func line(_ challenge: PairingStartResponse, until: Bool) -> String {
        let code = "\(SpokenCode.groups(challenge.code))  (\(SpokenCode.spoken(challenge.code)))"
        guard until else { return "Pairing code:  \(code)" }
        return "Pairing code:  \(code)\nuntil \(CompanionTimestamp.string(from: challenge.expiresAt))"
    }

    /// The QR code, on a terminal.
    static func draw(_ challenge: PairingStartResponse, _ output: Output) {
        do {
            // A screen does not get dirty: the lowest error correction keeps the drawing small.
            let symbol = try QRSymbol(smallest: Array(challenge.qrPayload.utf8), atLeast: .low)
            let drawing = try TerminalQR(context: output.context, linesBelow: 3).draw(symbol)
            output.data(drawing.text)
            if let remark = TerminalQR.remark(drawing, way: "--qr-file writes a picture") { output.say(remark) }
        } catch {
            output.say("\(error) Make it larger, use --qr-file, or type the digits.")
        }
    }
}
