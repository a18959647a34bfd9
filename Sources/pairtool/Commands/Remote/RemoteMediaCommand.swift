import ArgumentParser
import CompanionClient

struct RemoteMediaCommand: RemoteSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "media",
        abstract: "Show or control what the Mac plays."
    )

    @Argument(help: "play, pause, toggle, next, previous or stop. Default: show what is played.")
    var act: LumiRequest.MediaAct?

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        try await perform(act.map(LumiRequest.media) ?? .mediaInfo)
    }
}
