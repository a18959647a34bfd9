import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import PairingAgent
import Terminal

struct ScanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan",
        abstract: "Read pairing codes, or any QR codes, from pictures.",
        discussion: """
            Reads PNG, JPEG, WebP and HEIC files and says what their QR codes contain. With --watch, it ends at the \
            first pairing code; with --camera or --frames, when two frames show the same code. Nothing is sent \
            anywhere. With --text or --raw, any code will do.

            Examples:
              pairtool scan screenshot.png
              pairtool scan --text ticket.jpg
              pairtool scan --camera --timeout 30s
            """
    )

    @Argument(
        help: "Pictures; - for standard input.",
        completion: .file(extensions: ["png", "jpg", "jpeg", "webp", "heic"])
    )
    var files: [String] = []

    @OptionGroup(title: "Code sources") var places: CodePlaceOptions

    @Flag(help: "With --watch: continue after the first pairing code.")
    var keep = false

    @Option(
        help: ArgumentHelp(
            "With --watch, --camera or --frames: wait for at most this long. Default: no limit.",
            valueName: "time"
        ),
        transform: TimeSpan.init(wait:)
    )
    var timeout: TimeSpan?

    @Flag(help: "Print the text of the codes, whatever they are for.")
    var text = false

    @Flag(help: "Write the raw bytes of the codes, with nothing between them.")
    var raw = false

    @Flag(help: "Show the code and the token.")
    var showSecrets = false

    @OptionGroup var options: OutputOptions

    func validate() throws {
        switch (files.isEmpty, places.count) {
        case (true, 0), (true, 1), (false, 0): break
        default:
            throw ValidationError(
                "Pictures, --watch, --screen, --clipboard, --camera and --frames cannot be used together."
            )
        }
        if raw, text || options.json { throw ValidationError("--raw cannot be used with --text or --json.") }
        if keep, places.watch == nil { throw ValidationError("--keep needs --watch.") }
        if timeout != nil, places.watch == nil, places.frames.input == nil {
            throw ValidationError("--timeout needs --watch, --camera or --frames.")
        }
    }

    private var shown: ScanReport.Shown { raw ? .bytes : text ? .text : .meaning }

    func run() async throws {
        let output = options.output
        // Checked here and not in validate(): errors about unknown options come first.
        guard !files.isEmpty || places.count > 0 else {
            throw AppError(
                .usage,
                "usage",
                "no picture was given",
                next: "name a picture, or use --watch DIR, --screen, --clipboard or --camera"
            )
        }
        let environment = output.environment()
        var report = ScanReport(output: output, shown: shown, showSecrets: showSecrets)
        if let directory = places.watch {
            return try await watch(
                PictureWatch(directory: directory, existing: places.existing, environment: environment),
                reporting: report
            )
        }
        if let input = places.frames.input {
            let reading = FrameReading(
                input: input,
                interaction: environment.interaction,
                hints: HintLine(output),
                takesAll: shown != .meaning
            )
            report.add(try await reading.contents(within: timeout?.duration), from: input.name)
        }
        for place in places.places + files.map(CodePlace.file) {
            do {
                report.add(try await place.read(environment: environment), from: place.name)
            } catch let error as AppError {
                report.add(error)
            }
        }
        try report.finish()
    }

    private func watch(_ watch: PictureWatch, reporting empty: ScanReport) async throws {
        let directory = watch.directory
        let ended: Void? = try await withTimeLimit(timeout?.duration) {
            let announce = { empty.output.say("Watching \(TerminalText.line(directory)). Ctrl-C ends it.") }
            try await watch.run(ready: announce) { event in
                switch event {
                case .codes(let contents, let place):
                    var report = empty
                    report.add(contents, from: place)
                    report.showFindings()
                    if let ambiguity = report.failures.first {
                        empty.output.warn(ambiguity)
                        return true
                    }
                    return keep || !report.hasWantedCode
                case .failure(let error):
                    empty.output.warn(error)
                    return true
                }
            }
        }
        guard ended == nil, !keep else { return }
        throw AppError(
            .timedOut,
            "scan.timed_out",
            "no picture with a pairing code was saved in \(directory) in time"
        )
    }
}
