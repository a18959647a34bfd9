import ArgumentParser
import CompanionClient
import FoundationEssentials
import PairingAgent

struct RemoteScreenshotCommand: RemoteSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "screenshot",
        abstract: "Take a picture of the Mac's screen.",
        discussion: """
            Without -o and --show it is kept in the current directory, under a name of its own. What kind of picture it is, \
            its bytes tell.
            """
    )

    @Option(name: .shortAndLong, help: "Where to keep it; - for standard output.", completion: .file())
    var output: String?

    @Flag(help: "Draw it in the terminal: kitty, iTerm2 and their like, or any with 24-bit colours.")
    var show = false

    @Flag(help: "Overwrite the file, if there is one.")
    var force = false

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    private struct Row: Encodable {
        var hostId: String
        /// Absent where it was not kept.
        var file: String?
        /// `png`, `jpeg` and so on.
        var type: String
        var bytes: Int
    }

    func validate() throws {
        if show, options.json || options.quiet { throw ValidationError("--show draws: it goes without --json and -q.") }
        if show, isForStandardOutput { throw ValidationError("--show and -o - exclude each other.") }
        if isForStandardOutput, options.json { throw ValidationError("-o - and --json exclude each other.") }
    }

    private var isForStandardOutput: Bool {
        output.map { $0 == "-" || OutputFile.isStandardOutput($0) } ?? false
    }

    func run() async throws {
        let talk = options.output
        let context = talk.context
        // Before anybody at the Mac is asked for anything.
        let way = show ? TerminalPicture(context) : nil
        if show, way == nil { throw Self.cannotShow }
        if isForStandardOutput, context.stdoutIsTerminal {
            throw CommandError(
                .usage,
                "remote.binary",
                "a picture is no text for a terminal; nobody was asked for one",
                next: "send it to a program or a file: pairtool remote screenshot -o - > FILE, or draw it with --show"
            )
        }
        if let output, !isForStandardOutput { _ = try place(output) }
        try await withMac { mac in
            let picture = try await mac.client.screenshot()
            if isForStandardOutput { return picture.bytes.withUnsafeBytes(context.stdout.write) }
            if let way {
                let text = try way.text(picture.bytes, isPNG: picture.type == .png, window: context.windowSize())
                context.stdout.write(text)
                if output == nil { return }
            }
            let path = output ?? Self.name(picture.type, context.now())
            // Somebody may have made it meanwhile.
            let place = try place(path)
            try picture.bytes.withUnsafeBytes { try OutputFile.replace(place, with: $0, isDurable: true) }
            let row = Row(hostId: mac.host.id, file: path, type: picture.type.rawValue, bytes: picture.bytes.count)
            talk.result(row, id: path) {
                TerminalText.line("\(path): \(picture.type.rawValue.uppercased()), \(picture.bytes.count) bytes")
            }
        }
    }

    /// Where the picture goes.
    ///
    /// - Throws: ``CommandError`` where that is something that is to be left alone, or cannot be written to.
    private func place(_ path: String) throws -> String {
        let place = try OutputFile.destination(path)
        guard let kind = FileStatus(place, followingLinks: false)?.kind else { return place }
        let isFile = kind == .file
        guard isFile, force else {
            throw CommandError(
                .usage,
                "remote.file",
                isFile ? "\(path) exists; it was left alone" : "\(path) is no file",
                next: isFile ? "give another name, or --force" : nil
            )
        }
        return place
    }

    private static func name(_ type: LumiPictureType, _ now: Date) -> String {
        let time = now.formatted(Date.ISO8601FormatStyle(dateTimeSeparator: .standard, timeZone: .gmt))
        let digits = time.filter { $0.isNumber || $0 == "T" }
        return "screenshot-\(digits).\(type.fileExtension)"
    }

    private static var cannotShow: CommandError {
        CommandError(
            .usage,
            "remote.cannot_show",
            "this terminal does not say that it shows pictures: kitty, iTerm2, WezTerm and terminals with 24-bit colours do "
                + "(COLORTERM=truecolor); nobody was asked for one",
            next: "keep it instead: pairtool remote screenshot -o FILE"
        )
    }
}
