import ArgumentParser
import CompanionClient

/// The options of auto mode.
struct AutoOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Send follow-up prompts until: smart-stop (the agent is done, asks or repeats itself), until-completion (it is \
            done; it decides questions itself), timed (the time is over), message-count (the messages are sent) or hybrid \
            (it is done, the time is over or the messages are sent; it decides the first of several questions in a row). \
            Ctrl-C stops auto mode.
            """,
            valueName: "mode"
        )
    )
    var auto: AutoResponse.Mode?

    @Option(help: "With --auto: send at most this many messages after a prompt, 1 to 100. Default: 10; 100 with timed.")
    var autoMessages: Int?

    @Option(help: "With --auto: stop after this many minutes, 1 to 1440. Default: 30; 1440 with message-count.")
    var autoMinutes: Int?

    func validate() throws {
        if auto == nil, autoMessages != nil || autoMinutes != nil {
            throw ValidationError("--auto-messages and --auto-minutes need --auto.")
        }
        if let autoMessages, !(1...100).contains(autoMessages) {
            throw ValidationError("--auto-messages must be 1 to 100.")
        }
        if let autoMinutes, !(1...1440).contains(autoMinutes) {
            throw ValidationError("--auto-minutes must be 1 to 1440.")
        }
    }

    var response: AutoResponse? {
        auto.map {
            AutoResponse(
                mode: $0,
                limits: .init(messages: autoMessages, time: autoMinutes.map { .seconds($0 * 60) })
            )
        }
    }
}

extension AutoResponse.Mode: ExpressibleByArgument {}
