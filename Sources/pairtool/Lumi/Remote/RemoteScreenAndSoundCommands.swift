import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import Identity
import LocalState
import PairingAgent
import Terminal

struct RemoteScreenshotCommand: RemoteSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "screenshot",
        abstract: "Take a screenshot of the Mac.",
        discussion: """
            Without -o and --show, the picture is written to a new file in the current directory.

            Examples:
              pairtool lumi remote screenshot
              pairtool lumi remote screenshot -o screen.png --force
              pairtool lumi remote screenshot --show
            """
    )

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Write the picture to this file; - for standard output.", valueName: "file"),
        completion: .file()
    )
    var output: String?

    @Flag(help: "Draw the picture in the terminal (kitty, iTerm2, WezTerm, or any with 24-bit colours).")
    var show = false

    @Flag(help: "Overwrite an existing file.")
    var force = false

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    private struct Row: Encodable {
        var hostId: String
        /// Absent if the picture was not saved.
        var file: String?
        /// `png`, `jpeg` and so on.
        var type: String
        var bytes: Int
    }

    func validate() throws {
        if show, options.json || options.quiet { throw ValidationError("--show cannot be used with --json or -q.") }
        if show, isForStandardOutput { throw ValidationError("--show and -o - cannot be used together.") }
        if isForStandardOutput, options.json { throw ValidationError("-o - and --json cannot be used together.") }
    }

    private var isForStandardOutput: Bool {
        output.map { $0 == "-" || OutputFile.isStandardOutput($0) } ?? false
    }

    func prepare(for host: PairedHost) async throws {
        let context = options.output.context
        if show, TerminalPicture(context) == nil { throw Self.cannotShow }
        if isForStandardOutput, context.stdoutIsTerminal {
            throw AppError(
                .usage,
                "remote.binary",
                "a terminal cannot show the bytes of a picture; nothing was requested",
                next:
                    "write it to a file: pairtool lumi remote screenshot -o FILE, or draw it: --show"
            )
        }
        if let output, !isForStandardOutput { _ = try place(output) }
    }

    func run(on mac: RemoteMac, output: Output) async throws {
        let context = output.context
        let picture = try await mac.client.screenshot()
        if isForStandardOutput { return picture.bytes.withUnsafeBytes(context.stdout.write) }
        if show, let terminal = TerminalPicture(context) {
            let text = try terminal.text(picture.bytes, isPNG: picture.type == .png, window: context.windowSize())
            context.stdout.write(text)
            if self.output == nil { return }
        }
        let path = self.output ?? Self.name(picture.type, at: context.now())
        // Check again: the file may have been created in the meantime.
        let place = try place(path)
        try picture.bytes.withUnsafeBytes { try OutputFile.replace(place, with: $0, isDurable: true) }
        let row = Row(hostId: mac.host.id, file: path, type: picture.type.rawValue, bytes: picture.bytes.count)
        output.result(row, id: path) {
            TerminalText.line("\(path): \(picture.type.rawValue.uppercased()), \(picture.bytes.count) bytes")
        }
    }

    /// The path of the file to write.
    ///
    /// - Throws: ``AppError`` if something is there that must not be overwritten; ``NamedFileError`` if the path cannot
    ///   be written to.
    private func place(_ path: String) throws -> String {
        let place = try OutputFile.destination(path)
        guard let kind = FileStatus(place, followingLinks: false)?.kind else { return place }
        let isFile = kind == .file
        guard isFile, force else {
            throw AppError(
                .usage,
                "remote.file",
                isFile ? "\(path) exists already; it was not changed" : "\(path) is not a file",
                next: isFile ? "give another name, or overwrite it with --force" : nil
            )
        }
        return place
    }

    private static func name(_ type: PictureType, at now: Date) -> String {
        let time = now.formatted(Date.ISO8601FormatStyle(dateTimeSeparator: .standard, timeZone: .gmt))
        let digits = time.filter { $0.isNumber || $0 == "T" }
        return "screenshot-\(digits).\(type.fileExtension)"
    }

    private static var cannotShow: AppError {
        AppError(
            .usage,
            "remote.cannot_show",
            "this terminal does not say that it can show pictures, as kitty, iTerm2, WezTerm and terminals with "
                + "COLORTERM=truecolor do; nothing was requested",
            next: "write it to a file: pairtool lumi remote screenshot -o FILE"
        )
    }
}

struct RemoteBrightnessCommand: RemoteSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "brightness",
        abstract: "Show or set the brightness of the Mac's screen.",
        discussion: """
            Examples:
              pairtool lumi remote brightness
              pairtool lumi remote brightness 60
            """
    )

    @Argument(help: "0 to 100, with or without %. Default: show it.")
    var level: LumiLevel?

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    private struct Row: Encodable {
        var hostId: String
        /// Percent; absent if the Mac does not know.
        var brightness: Int?
    }

    func run(on mac: RemoteMac, output: Output) async throws {
        if let level { try await mac.client.perform(.setBrightness(level)) }
        let now = try await mac.client.brightness()
        output.result(Row(hostId: mac.host.id, brightness: now), id: now.map { "\($0)" }) {
            now.map { "\($0)%" } ?? "the Mac does not report the brightness of its screen"
        }
    }
}

struct RemoteVolumeCommand: RemoteSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "volume",
        abstract: "Show or set the Mac's volume.",
        discussion: """
            Examples:
              pairtool lumi remote volume
              pairtool lumi remote volume 30
            """
    )

    @Argument(help: "0 to 100, with or without %. Default: show it.", completion: .list(["0", "25", "50", "100"]))
    var level: LumiLevel?

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    private struct Row: Encodable {
        var hostId: String
        /// Percent; absent if the Mac's output has no volume of its own.
        var volume: Int?
    }

    func run(on mac: RemoteMac, output: Output) async throws {
        if let level { try await mac.client.perform(.setVolume(level)) }
        let now = try await mac.client.volume()
        output.result(Row(hostId: mac.host.id, volume: now), id: now.map { "\($0)" }) {
            now.map { "\($0)%" } ?? "the Mac's audio output has no volume control"
        }
    }
}

struct RemoteMuteCommand: RemoteSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "mute",
        abstract: "Mute or unmute the Mac.",
        discussion: """
            Examples:
              pairtool lumi remote mute
              pairtool lumi remote mute off
            """
    )

    enum Act: String, ExpressibleByArgument, CaseIterable {
        case on, off, toggle, show
    }

    @Argument(help: "on, off, toggle or show.")
    var act = Act.on

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    private struct Row: Encodable {
        var hostId: String
        /// Absent if the Mac does not know.
        var muted: Bool?
    }

    func run(on mac: RemoteMac, output: Output) async throws {
        switch act {
        case .on: try await mac.client.perform(.setMute(true))
        case .off: try await mac.client.perform(.setMute(false))
        case .toggle: try await mac.client.perform(.setMute(try await mac.client.isMuted() != true))
        case .show: break
        }
        let now = try await mac.client.isMuted()
        output.result(Row(hostId: mac.host.id, muted: now), id: now.map { "\($0)" }) {
            now.map { $0 ? "muted" : "not muted" } ?? "the Mac does not report whether it is muted"
        }
    }
}

struct RemoteMediaCommand: RemoteSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "media",
        abstract: "Show or control what the Mac is playing.",
        discussion: """
            Examples:
              pairtool lumi remote media
              pairtool lumi remote media pause
            """
    )

    @Argument(help: "play, pause, toggle, next, previous or stop. Default: show what is playing.")
    var act: LumiRequest.MediaAct?

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func run(on mac: RemoteMac, output: Output) async throws {
        try await mac.perform(act.map(LumiRequest.media) ?? .mediaInfo, output: output)
    }
}
