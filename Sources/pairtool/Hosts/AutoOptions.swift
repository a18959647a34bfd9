import ArgumentParser
import CompanionClient

/// Whether the agent goes on by itself, and how far.
struct AutoOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Let the agent go on by itself: smart-stop, until-completion, timed, message-count or hybrid. Ctrl-C stops it.",
            valueName: "mode"
        )
    )
    var auto: AutoResponse.Mode?

    @Option(help: "With --auto: the most automatic messages after a prompt, 1 to 100. Default: 10.")
    var autoMessages: Int?

    @Option(help: "With --auto: the most minutes after a prompt, 1 to 1440. Default: 30.")
    var autoMinutes: Int?

    func validate() throws {
        if auto == nil, autoMessages != nil || autoMinutes != nil {
            throw ValidationError("--auto-messages and --auto-minutes go with --auto.")
        }
        if let autoMessages, !(1...100).contains(autoMessages) {
            throw ValidationError("--auto-messages takes 1 to 100.")
        }
        if let autoMinutes, !(1...1440).contains(autoMinutes) {
            throw ValidationError("--auto-minutes takes 1 to 1440.")
        }
    }

    var response: AutoResponse? {
        auto.map {
            AutoResponse(
                mode: $0,
                limits: .init(messages: autoMessages ?? 10, time: .seconds((autoMinutes ?? 30) * 60))
            )
        }
    }
}

extension AutoResponse.Mode: ExpressibleByArgument {}
