import ArgumentParser
import CompanionClient

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

    func run() async throws {
        try await perform(.press(keys))
    }
}
