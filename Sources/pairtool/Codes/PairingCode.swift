import CompanionWire
import QRCodec

/// A pairing code as people get to see it.
struct PairingCode {
    let challenge: PairingStartResponse
    /// Whether to say when the code ends.
    let hasEnd: Bool
    /// Whether the QR code may be drawn in characters that not every font has.
    let dense: Bool

    /// The digits, in groups and as words, and when they end.
    var text: String {
        let code = challenge.code
        return "Pairing code:  \(SpokenCode.groups(code))  (\(SpokenCode.spoken(code)))" + (hasEnd ? "\n\(end)" : "")
    }

    /// The digits without the words, in one line.
    private var shortText: String {
        "Pairing code:  \(SpokenCode.groups(challenge.code))" + (hasEnd ? ", \(end)" : "")
    }

    private var end: String { "until \(CompanionTimestamp.string(from: challenge.expiresAt))" }

    /// The QR code and the digits, on a terminal.
    ///
    /// - Parameters:
    ///   - rowsAfter: Rows that come later and have to be in the window with the QR code.
    ///   - ways: What there is to do where the window is too small, apart from typing the digits.
    /// - Returns: Whether the window had room for the QR code.
    @discardableResult
    func draw(_ output: Output, rowsAfter: Int, ways: String) -> Bool {
        let terminal = TerminalQR(output: output, rowsAfter: rowsAfter, dense: dense)
        var failure: QRCodecError?
        for payload in payloads {
            do {
                try terminal.show(try Self.symbol(payload), pages: pages)
                return true
            } catch {
                // The last one is the smallest.
                failure = error
            }
        }
        if let failure { output.say("\(failure) \(ways), or type the digits.") }
        output.data(text)
        return false
    }

    /// Whether the window has room for the QR code.
    func fits(_ output: Output, rowsAfter: Int) -> Bool {
        let terminal = TerminalQR(output: output, rowsAfter: rowsAfter, dense: dense)
        return payloads.contains { payload in
            (try? Self.symbol(payload)).map { terminal.fits($0, pages: pages) } ?? false
        }
    }

    /// What `--dense` would change in a window that is too small, as one of the ways to name; empty if it is on.
    var denseWay: String { dense ? "" : ", add --dense" }

    /// A screen does not get dirty: the lowest error correction keeps the drawing small.
    private static func symbol(_ payload: String) throws(QRCodecError) -> QRSymbol {
        try QRSymbol(smallest: Array(payload.utf8), atLeast: .low)
    }

    /// The payload, and for small windows the same with less.
    private var payloads: [String] {
        guard case .pairing(let payload) = QRContent(Array(challenge.qrPayload.utf8)) else {
            return [challenge.qrPayload]
        }
        return [challenge.qrPayload] + payload.sizes.dropFirst().map(\.text)
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
