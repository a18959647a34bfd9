import ArgumentParser
import CompanionClient

struct RemoteMediaCommand: RemoteSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "media",
        abstract: "Show or control what the Mac plays.",
        discussion: """
            Examples:
              pairtool lumi remote media
              pairtool lumi remote media pause
            """
    )

    @Argument(help: "play, pause, toggle, next, previous or stop. Default: show what plays.")
    var act: LumiRequest.MediaAct?

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        try await perform(act.map(LumiRequest.media) ?? .mediaInfo)
    }
}
