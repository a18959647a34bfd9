import CompanionApp
import CompanionWire
import FoundationEssentials
import LocalState
import PairingAgent
import QRCodec
import Terminal

/// Draws text as a QR code.
struct QRDrawing: Sendable {
    enum Format: String, CaseIterable, Sendable {
        case terminal
        case png
        case svg
    }

    /// The file with the text, or `-` for standard input.
    private let file: String
    /// The file to write to, `-` for standard output, or nil for none.
    private let output: String?
    private let format: Format?
    /// nil: the strongest level that does not make the code larger.
    private let level: QRErrorCorrection?
    /// Pixels per module, for pictures.
    private let scale: Int
    /// On terminals without colour: whether to draw the dark modules instead of the light ones.
    private let invert: Bool
    /// On terminals: whether several modules may share a character. Not every font has these characters.
    private let dense: Bool

    init(
        file: String,
        output: String?,
        format: Format? = nil,
        level: QRErrorCorrection? = nil,
        scale: Int = QRSymbol.usualScale,
        invert: Bool = false,
        dense: Bool = false
    ) {
        self.file = file
        self.output = output
        self.format = format
        self.level = level
        self.scale = scale
        self.invert = invert
        self.dense = dense
    }

    /// The fault in the options, as a sentence for users; nil if there is none.
    var mistake: String? {
        guard QRSymbol.scales.contains(scale) else {
            return "--scale must be \(QRSymbol.scales.lowerBound) to \(QRSymbol.scales.upperBound)."
        }
        if let output, let ending = Self.format(of: output), let format, format != ending {
            return "The output file ends in .\(ending.rawValue), but --format is \(format.rawValue)."
        }
        if format == .terminal, let output, output != "-" {
            return "--format terminal draws on standard output. Leave out the output file, or choose png or svg."
        }
        if chosenFormat == .terminal, let output, output != "-" {
            return "The output file must end in .png or .svg, or --format must name the format."
        }
        return nil
    }

    /// Draws the code.
    ///
    /// - Throws: ``AppError``, `QRCodecError`, `NamedFileError`; `CancellationError` when the user interrupts the wait for a pipe.
    func run(_ out: Output) async throws {
        let text = try await text(out.context)
        try await BlockingCall.run { try draw(text, on: out) }
    }

    private func draw(_ text: [UInt8], on out: Output) throws {
        let symbol = try makeSymbol(text)
        switch chosenFormat {
        case .terminal:
            try draw(symbol, of: text, on: out)
        case .png:
            try write(try symbol.png(scale: scale), of: text, on: out)
        case .svg:
            let title = PairingDigits(text).map { "QR code for pairing: \($0.sentence)" } ?? "QR code"
            try write(Array(symbol.svg(scale: scale, title: title).utf8), of: text, on: out)
        }
    }

    private func makeSymbol(_ text: [UInt8]) throws -> QRSymbol {
        if let level { return try QRSymbol(bytes: text, errorCorrection: level) }
        return chosenFormat == .terminal
            ? try QRSymbol(smallest: text, atLeast: .low) : try QRSymbol(paper: text)
    }

    private var chosenFormat: Format {
        format ?? output.flatMap(Self.format) ?? .terminal
    }

    /// The format that a file name's extension stands for.
    private static func format(of file: String) -> Format? {
        [Format.png, .svg].first { file.lowercased().ends(with: ".\($0.rawValue)") }
    }

    private func text(_ context: TerminalContext) async throws -> [UInt8] {
        guard let content = try await content(context) else {
            let name = PairingPicture.name(file)
            throw AppError(.failed, "qr.payload_too_long", "\(name) is longer than any QR code")
        }
        let text = QRSymbol.withoutLineEnd(content[...])
        guard !text.isEmpty else { throw AppError(.usage, "qr.empty", "there is no text to draw") }
        return text
    }

    private func content(_ context: TerminalContext) async throws -> [UInt8]? {
        do {
            return try await context.content(of: file, limit: 64 << 10)
        } catch var error as AppError where error.kind == .nothingFound && error.next == nil {
            error.message += "; `pairtool qr` reads the text from a file or from standard input"
            error.next = "to draw a text: printf %s TEXT | pairtool qr"
            throw error
        }
    }

    private func draw(_ symbol: QRSymbol, of text: [UInt8], on out: Output) throws {
        // One row after the drawing, for the shell's prompt.
        let terminal = TerminalQR(output: out, rowsAfter: 1, dense: dense, invert: invert)
        let way = dense ? "" : "add --dense, "
        do {
            try show(symbol, of: text, on: out, for: terminal)
        } catch let error as QRCodecError where error.code == .windowTooSmall {
            throw AppError(
                .failed,
                "qr.window_too_small",
                MessageStyle.sentence(error.message),
                next: "make the window larger, \(way)or draw a picture: pairtool qr -o code.png"
            )
        }
    }

    private func show(_ symbol: QRSymbol, of text: [UInt8], on out: Output, for terminal: TerminalQR) throws {
        if out.format == .json {
            out.json(Report(symbol, as: try terminal.draw(symbol), of: text))
        } else if out.context.stdoutIsTerminal {
            try terminal.show(symbol, pages: pages(symbol, of: text, on: out))
        } else {
            out.data(try terminal.draw(symbol).text)
        }
    }

    /// The text beside the drawing, for users who cannot see it: what it is and, for a pairing code, its digits.
    private func pages(_ symbol: QRSymbol, of text: [UInt8], on out: Output) -> [QRTerminalStyle: [TerminalQR.Page]] {
        let size = "\(symbol.size) × \(symbol.size) modules and holds \(text.count) bytes"
        let digits = digits(text, on: out).map { [TerminalQR.Line.talk($0)] } ?? []
        var pages: [QRTerminalStyle: [TerminalQR.Page]] = [:]
        for style in QRTerminalStyle.allCases {
            let remark = TerminalQR.remark(style, way: "draw a picture: pairtool qr -o code.png")
            let more = digits + (remark.map { [$0] } ?? [])
            pages[style] = [
                .init(below: [.talk("The QR code above has \(size).")] + more),
                .init(above: [.talk("The QR code below has \(size).")] + more, below: []),
            ]
        }
        return pages
    }

    /// The digits of a pairing code, if a user reads standard error.
    private func digits(_ text: [UInt8], on out: Output) -> String? {
        guard out.format == .text, out.context.stderrIsTerminal, let digits = PairingDigits(text) else { return nil }
        return "Pairing code:  \(digits.sentence)"
    }

    private func sayDigits(_ text: [UInt8], on out: Output) {
        if let digits = digits(text, on: out) { out.say(digits) }
    }

    private func write(_ bytes: [UInt8], of text: [UInt8], on out: Output) throws {
        guard let output, output != "-", !OutputFile.isStandardOutput(output) else {
            guard !out.context.stdoutIsTerminal else {
                throw AppError(
                    .usage,
                    "qr.binary",
                    "refusing to write a picture to the terminal",
                    next: "add -o FILE"
                )
            }
            bytes.withUnsafeBytes { out.context.stdout.write($0) }
            return sayDigits(text, on: out)
        }
        let outcome = try bytes.withUnsafeBytes { try OutputFile.write($0, to: output) }
        switch out.format {
        case .json: out.json(WrittenFile(file: output, format: chosenFormat.rawValue, bytes: bytes.count))
        case .quiet: break
        case .text:
            let privacy = outcome == .replaced ? ", readable by you only" : ""
            out.say("Wrote \(output) (\(bytes.count) bytes\(privacy)).")
            sayDigits(text, on: out)
        }
    }

    private struct WrittenFile: Encodable {
        var file: String
        var format: String
        var bytes: Int
    }

    private struct Report: Encodable {
        var version: Int
        var modules: Int
        var errorCorrection: String
        var format: String
        var style: String
        var drawing: String
        /// The digits of a pairing code; the drawing contains them as well.
        var digits: PairingDigits?

        init(_ symbol: QRSymbol, as drawing: QRTerminalDrawing, of text: [UInt8]) {
            version = symbol.version
            modules = symbol.size
            errorCorrection = symbol.errorCorrection.rawValue
            format = Format.terminal.rawValue
            style = drawing.style.rawValue
            self.drawing = drawing.text
            digits = PairingDigits(text)
        }
    }

    /// The digits of a pairing code, for users who cannot see the drawing.
    private struct PairingDigits: Encodable {
        var groups: String
        var spoken: String

        /// - Returns: nil for any other text.
        init?(_ text: [UInt8]) {
            guard case .pairing(let payload) = QRContent(text) else { return nil }
            groups = SpokenCode.groups(payload.code)
            spoken = SpokenCode.spoken(payload.code)
        }

        var sentence: String { "\(groups)  (\(spoken))" }
    }
}
