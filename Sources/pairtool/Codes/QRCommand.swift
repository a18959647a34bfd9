import ArgumentParser
import QRCodec
import Terminal

struct QRCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "qr",
        abstract: "Draw text as a QR code: on the terminal, or as PNG or SVG.",
        discussion: """
            The text comes from a file or standard input: other users can read the argument list.

            Examples:
              pairtool qr text.txt
              printf %s https://example.com | pairtool qr
              pairtool qr text.txt -o code.png
            """
    )

    @Argument(help: "The file with the text; - for standard input.", completion: .file())
    var file: String = "-"

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Write to this file (mode 0600); - for standard output.", valueName: "file"),
        completion: .file()
    )
    var output: String?

    @Option(
        help: ArgumentHelp("The format. Default: from the output file's extension, else terminal.", valueName: "format")
    )
    var format: QRDrawing.Format?

    @Option(
        help: """
            The error correction. Default: the strongest that makes the code no larger than L does on terminals, or M \
            in pictures.
            """
    )
    var level: QRErrorCorrection?

    @Option(help: "Pixels per module, for PNG and SVG, 1 to 64.")
    var scale = QRSymbol.usualScale

    @Flag(help: "Draw the dark modules, for a light terminal without colours.")
    var invert = false

    @OptionGroup var density: DensityOption

    @OptionGroup var options: OutputOptions

    func validate() throws {
        if let mistake = drawing.mistake { throw ValidationError(mistake) }
    }

    func run() async throws {
        let (drawing, output) = (drawing, options.output)
        try await drawing.run(output)
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

/// `--dense`, for the commands that draw on the terminal.
struct DensityOption: ParsableArguments {
    @Flag(
        help: "In a small window, draw the code in smaller characters, which some fonts lack."
    )
    var dense = false
}

extension QRErrorCorrection: ExpressibleByArgument {}

extension QRDrawing.Format: ExpressibleByArgument {}
