import ArgumentParser
import CompanionClient
import CompanionWire

struct RemoteOpenCommand: RemoteSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Open an application or a web page on the Mac.",
        discussion: """
            Examples:
              pairtool lumi remote open Safari
              pairtool lumi remote open https://swift.org
            """
    )

    @Argument(
        help: "An application's name, or an address that begins with http:// or https://.",
        transform: Self.request
    )
    var what: LumiRequest

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        try await perform(what)
    }

    @Sendable private static func request(_ text: String) throws -> LumiRequest {
        text.has(":") ? .open(try LumiURL(text)) : .open(try LumiAppName(text))
    }
}
