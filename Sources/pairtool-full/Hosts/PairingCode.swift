import CommandCore
import CompanionWire
import QRCodec

/// A pairing code as people get to see it.
struct PairingCode {
    let challenge: PairingStartResponse
    /// Whether to say when the code ends.
    let hasEnd: Bool

    /// The digits, in groups and as words, and when they end.
    var text: String {
        let code = challenge.code
        return "Pairing code:  \(SpokenCode.groups(code))  (\(SpokenCode.spoken(code)))" + end
    }

    /// The digits without the words.
    private var shortText: String { "Pairing code:  \(SpokenCode.groups(challenge.code))" + end }

    private var end: String {
        hasEnd ? "\nuntil \(CompanionTimestamp.string(from: challenge.expiresAt))" : ""
    }

    /// The QR code and the digits, on a terminal.
    ///
    /// - Parameters:
    ///   - rowsAfter: Rows that come later and have to be in the window with the QR code.
    ///   - ways: What there is to do where the window is too small, apart from typing the digits.
    /// - Returns: Whether the window had room for the QR code.
    @discardableResult
    func draw(_ output: Output, rowsAfter: Int, ways: String = "Begin again in a larger window") -> Bool {
        do {
            // A screen does not get dirty: the lowest error correction keeps the drawing small.
            let symbol = try QRSymbol(smallest: Array(challenge.qrPayload.utf8), atLeast: .low)
            try TerminalQR(output: output, rowsAfter: rowsAfter).show(symbol, pages: pages)
            return true
        } catch {
            output.say("\(error) \(ways), or type the digits.")
            output.data(text)
            return false
        }
    }

    private var pages: [QRTerminalStyle: [TerminalQR.Page]] {
        var pages: [QRTerminalStyle: [TerminalQR.Page]] = [:]
        for style in QRTerminalStyle.allCases {
            let remark = TerminalQR.remark(style, way: "--qr-file writes a picture").map { [$0] } ?? []
            pages[style] = [
                .init(below: remark + [.data(text)]),
                .init(above: remark, below: [.data(text)]),
                .init(above: remark + [.data(text)], below: [.data(shortText)]),
            ]
        }
        return pages
    }
}
