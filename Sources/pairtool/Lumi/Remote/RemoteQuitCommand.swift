import ArgumentParser
import CompanionClient

struct RemoteQuitCommand: RemoteSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "quit",
        abstract: "Quit an application on the Mac.",
        discussion: """
            Example:
              pairtool lumi remote quit Safari
            """
    )

    @Argument(
        help: "The application's name, as `pairtool lumi remote apps` lists it.",
        transform: { try LumiAppName($0) }
    )
    var name: LumiAppName

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        try await perform(.quit(name))
    }
}
