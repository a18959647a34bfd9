import ArgumentParser
import CompanionClient

struct RemoteNotifyCommand: RemoteSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "notify",
        abstract: "Show a notification on the Mac.",
        discussion: """
            Examples:
              pairtool lumi remote notify "Tea is ready"
              pairtool lumi remote notify "Build failed" --title CI
            """
    )

    @Argument(help: "The message.", transform: { try LumiNotificationText($0) })
    var message: LumiNotificationText

    @Option(help: "The title. Default: pairtool.", transform: { try LumiNotificationText($0) })
    var title: LumiNotificationText?

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        try await perform(.notify(title: try title ?? LumiNotificationText("pairtool"), message: message))
    }
}
