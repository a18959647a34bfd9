package import CompanionWire
import QRCodec

/// A pairing code as a host displays it.
package struct PairingCode: Sendable {
    let challenge: PairingStartResponse
    /// Whether to show when the code expires.
    let hasEnd: Bool
    /// Whether several modules of the QR code may share a character. Not every font has these characters.
    let dense: Bool

    /// - Parameters:
    ///   - hasEnd: Whether to show when the code expires.
    ///   - dense: Whether several modules of the QR code may share a character.
    package init(challenge: PairingStartResponse, hasEnd: Bool, dense: Bool) {
        (self.challenge, self.hasEnd, self.dense) = (challenge, hasEnd, dense)
    }

    /// The digits, in groups and as words, and when they expire.
    package var text: String {
        let code = challenge.code
        return "Pairing code:  \(SpokenCode.groups(code))  (\(SpokenCode.spoken(code)))" + (hasEnd ? "\n\(end)" : "")
    }

    /// The digits without the words, in one line.
    private var shortText: String {
        "Pairing code:  \(SpokenCode.groups(challenge.code))" + (hasEnd ? ", \(end)" : "")
    }

    private var end: String { "until \(LocalTime.text(challenge.expiresAt))" }

    /// Draws the QR code and the digits on a terminal.
    ///
    /// - Parameters:
    ///   - rowsAfter: Rows that are printed later and have to fit into the window with the QR code.
    ///   - ways: Advice for a window that is too small: the ways to pair besides typing the digits.
    /// - Returns: Whether the window had room for the QR code.
    @discardableResult
    package func draw(_ output: Output, rowsAfter: Int, ways: String) -> Bool {
        let terminal = TerminalQR(output: output, rowsAfter: rowsAfter, dense: dense)
        var failure: QRCodecError?
        for payload in payloads {
            do {
                try terminal.show(try Self.symbol(payload), pages: pages)
                return true
            } catch {
                // The last payload is the shortest, so its error is the one to report.
                failure = error
            }
        }
        if let failure { output.say("\(failure) \(ways), or type the digits.") }
        output.data(output.fitted(text))
        return false
    }

    /// Whether the window has room for the QR code.
    package func fits(_ output: Output, rowsAfter: Int) -> Bool {
        let terminal = TerminalQR(output: output, rowsAfter: rowsAfter, dense: dense)
        return payloads.contains { payload in
            (try? Self.symbol(payload)).map { terminal.fits($0, pages: pages) } ?? false
        }
    }

    /// The advice to add `--dense` if the window is too small; empty if `--dense` is on.
    package var denseWay: String { dense ? "" : ", add --dense" }

    /// The lowest error correction: a screen does not get dirty, and the drawing stays small.
    private static func symbol(_ payload: String) throws(QRCodecError) -> QRSymbol {
        try QRSymbol(smallest: Array(payload.utf8), atLeast: .low)
    }

    /// The payload and, for small windows, shorter forms of it.
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

/// Formats digits so that screen readers speak them clearly.
package enum SpokenCode {
    private static let words = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]

    /// Digits in groups of three: `482 915`. Any other text is returned unchanged.
    package static func groups(_ code: String) -> String {
        parts(code)?.joined(separator: " ") ?? code
    }

    /// Digits as words, with a comma between groups: `four eight two, nine one five`.
    package static func spoken(_ code: String) -> String {
        guard let parts = parts(code) else { return code }
        return parts.map { $0.compactMap(\.wholeNumberValue).map { words[$0] }.joined(separator: " ") }
            .joined(separator: ", ")
    }

    private static func parts(_ code: String) -> [String]? {
        guard !code.isEmpty, code.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        let digits = Array(code)
        return stride(from: 0, to: digits.count, by: 3).map { String(digits[$0..<min($0 + 3, digits.count)]) }
    }
}
