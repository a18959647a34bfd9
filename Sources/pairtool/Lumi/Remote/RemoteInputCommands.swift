import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import Identity
import PairingAgent
import Terminal

struct RemoteKeyCommand: RemoteSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Press a key on the Mac, with or without modifiers.",
        discussion: """
            Examples:
              pairtool lumi remote key return
              pairtool lumi remote key command+shift+4
            """
    )

    @Argument(
        help: "The key, such as return, escape, f5, command+t or command+shift+4.",
        transform: { try LumiKeys($0) }
    )
    var keys: LumiKeys

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func run(on mac: RemoteMac, output: Output) async throws {
        try await mac.perform(.press(keys), output: output)
    }
}

struct RemoteTypeCommand: RemoteSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "type",
        abstract: "Type text on the Mac.",
        discussion: """
            The text travels without encryption, like everything that is sent to a Lumi host.

            Examples:
              pairtool lumi remote type "hello"
              pairtool lumi remote type - < text.txt
            """
    )

    @Argument(help: "The text; - for standard input, so that others on this machine do not see it.")
    var text: String

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    mutating func prepare(for host: PairedHost) async throws {
        text = try await RemoteInput.text(text, context: options.output.context)
        _ = try LumiTypedText(text)
    }

    func run(on mac: RemoteMac, output: Output) async throws {
        let typed = try LumiTypedText(text)
        let request = LumiRequest.type(typed)
        // The Mac's answer repeats the text, so it is not shown.
        try await mac.client.perform(request)
        let row = RemoteResult(hostId: mac.host.id, command: request.command, result: "Typed")
        output.result(row, id: nil) { "Typed \(typed.text.count) characters." }
    }
}

/// Text from the command line or from standard input.
enum RemoteInput {
    /// The most bytes that are read from standard input.
    private static let limit = 1 << 20

    /// - Parameter word: The text itself, or `-` for standard input; one line feed at its end is removed.
    static func text(_ word: String, context: TerminalContext) async throws -> String {
        guard word == "-" else { return word }
        guard let bytes = try await context.content(limit: limit) else {
            throw AppError(.usage, "remote.input", "standard input has more than 1 MiB")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw AppError(.usage, "remote.input", "standard input is not text in UTF-8")
        }
        return text.ends(with: "\n") ? String(text.dropLast()) : text
    }
}

struct RemoteMouseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mouse",
        abstract: "Move the Mac's pointer, click and scroll.",
        discussion: """
            Positions are in points from the upper left corner. Put `--` before negative numbers.

            Examples:
              pairtool lumi remote mouse move 100 200
              pairtool lumi remote mouse click --right
            """,
        subcommands: [Move.self, Click.self, Scroll.self]
    )

    struct Move: RemoteSubcommand {
        static let configuration = CommandConfiguration(
            commandName: "move",
            abstract: "Move the pointer.",
            discussion: """
                Examples:
                  pairtool lumi remote mouse move 100 200
                  pairtool lumi remote mouse move -- -5 20
                """
        )

        @Argument var x: Int
        @Argument var y: Int

        @OptionGroup var host: HostOptions
        @OptionGroup var options: OutputOptions

        func validate() throws { _ = try RemoteMouseCommand.point(x, y) }

        func run(on mac: RemoteMac, output: Output) async throws {
            try await mac.perform(.moveMouse(to: try RemoteMouseCommand.point(x, y)), output: output)
        }
    }

    struct Click: RemoteSubcommand {
        static let configuration = CommandConfiguration(
            commandName: "click",
            abstract: "Click at the pointer or at a position.",
            discussion: """
                Examples:
                  pairtool lumi remote mouse click
                  pairtool lumi remote mouse click 100 200 --right
                """
        )

        @Argument var x: Int?
        @Argument var y: Int?
        @Flag(help: "Use the right button.") var right = false

        @OptionGroup var host: HostOptions
        @OptionGroup var options: OutputOptions

        func validate() throws { _ = try place }

        func run(on mac: RemoteMac, output: Output) async throws {
            try await mac.perform(.clickMouse(at: try place, with: right ? .right : .left), output: output)
        }

        private var place: LumiPoint? {
            get throws {
                switch (x, y) {
                case (let x?, let y?): try RemoteMouseCommand.point(x, y)
                case (nil, nil): nil
                default: throw ValidationError("Give both X and Y, or neither.")
                }
            }
        }
    }

    struct Scroll: RemoteSubcommand {
        static let configuration = CommandConfiguration(
            commandName: "scroll",
            abstract: "Scroll.",
            discussion: """
                Examples:
                  pairtool lumi remote mouse scroll down
                  pairtool lumi remote mouse scroll up 300
                """
        )

        enum Direction: String, ExpressibleByArgument, CaseIterable {
            case up, down, left, right
        }

        @Argument(help: "up, down, left or right.") var direction: Direction
        @Argument(help: "How far, in pixels.") var distance = 100

        @OptionGroup var host: HostOptions
        @OptionGroup var options: OutputOptions

        func validate() throws {
            guard distance > 0 else { throw ValidationError("The distance must be a positive number.") }
            _ = try RemoteMouseCommand.point(distance, 0)
        }

        func run(on mac: RemoteMac, output: Output) async throws {
            // Positive values scroll up and left, as with a mouse wheel.
            let (x, y) =
                switch direction {
                case .up: (0, distance)
                case .down: (0, -distance)
                case .left: (distance, 0)
                case .right: (-distance, 0)
                }
            try await mac.perform(.scrollMouse(by: try RemoteMouseCommand.point(x, y)), output: output)
        }
    }

    fileprivate static func point(_ x: Int, _ y: Int) throws -> LumiPoint {
        do {
            return try LumiPoint(x: x, y: y)
        } catch {
            throw ValidationError(error.message)
        }
    }
}
