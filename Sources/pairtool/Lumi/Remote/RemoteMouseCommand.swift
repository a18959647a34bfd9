import ArgumentParser
import CompanionClient

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

        func run() async throws {
            try await perform(.moveMouse(to: try RemoteMouseCommand.point(x, y)))
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

        func run() async throws {
            try await perform(.clickMouse(at: try place, right ? .right : .left))
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

        func run() async throws {
            // Positive is up and left, as wheels turn.
            let (x, y) =
                switch direction {
                case .up: (0, distance)
                case .down: (0, -distance)
                case .left: (distance, 0)
                case .right: (-distance, 0)
                }
            try await perform(.scrollMouse(by: try RemoteMouseCommand.point(x, y)))
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
