import ArgumentParser
import QRCodec

struct QRCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "qr",
        abstract: "Draw text as a QR code, on the terminal or into a PNG or SVG file.",
        discussion: "The text comes from a file or standard input, never from the argument list, which others can read."
    )

    @Argument(help: "The file with the text; - for standard input.", completion: .file())
    var file: String = "-"

    @Option(name: .shortAndLong, help: "Write to this file (mode 0600); - for standard output.", completion: .file())
    var output: String?

    @Option(help: "terminal, png or svg. Default: by the ending of the output file, else terminal.")
    var format: QRDrawing.Format?

    @Option(
        help: """
            Error correction: L, M, Q or H. Default: the strongest that makes the code no larger than L on terminals, than M in \
            pictures.
            """
    )
    var level: QRErrorCorrection?

    @Option(help: "Pixels a module, for PNG and SVG: 1 to 64.")
    var scale = QRSymbol.usualScale

    @Flag(help: "For terminals without colour and with a light background: draw the dark modules.")
    var invert = false

    @OptionGroup var density: DensityOption

    @OptionGroup var options: OutputOptions

    func validate() throws {
        if let mistake = drawing.mistake { throw ValidationError(mistake) }
    }

    func run() async throws {
        let (drawing, output) = (drawing, options.output)
        try await BlockingCall.run { try drawing.run(output) }
    }

    private var drawing: QRDrawing {
        QRDrawing(
            file: file,
            output: output,
            format: format,
            level: level,
            scale: scale,
            invert: invert,
            dense: density.dense
        )
    }
}

/// `--dense`, of the commands that draw on the terminal.
struct DensityOption: ParsableArguments {
    @Flag(
        help: "Where the window is small, draw the code in smaller characters, which not every terminal's font has."
    )
    var dense = false
}

extension QRErrorCorrection: ExpressibleByArgument {}

extension QRDrawing.Format: ExpressibleByArgument {}
