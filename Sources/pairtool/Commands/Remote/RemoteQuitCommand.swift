import ArgumentParser
import CompanionClient

struct RemoteQuitCommand: RemoteSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "quit",
        abstract: "Quit an application on the Mac."
    )

    @Argument(help: "The application's name, as `pairtool remote apps` lists it.", transform: { try LumiAppName($0) })
    var name: LumiAppName

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        try await perform(.quit(name))
    }
}
