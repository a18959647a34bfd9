import ArgumentParser
import CompanionApp
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

    @Option(
        help: ArgumentHelp(
            "With --auto: send at most this many messages after a prompt, 1 to 100. Default: 10; 100 with timed.",
            valueName: "n"
        )
    )
    var autoMessages: Int?

    @Option(
        help: ArgumentHelp(
            "With --auto: stop after this time, 1m to 24h. Default: 30m; 24h with message-count.",
            valueName: "time"
        ),
        transform: { try TimeSpan(commandLine: $0, in: 60...86_400, limits: "1m to 24h") }
    )
    var autoTime: TimeSpan?

    func validate() throws {
        if auto == nil, autoMessages != nil || autoTime != nil {
            throw ValidationError("--auto-messages and --auto-time need --auto.")
        }
        if let autoMessages, !(1...100).contains(autoMessages) {
            throw ValidationError("--auto-messages must be 1 to 100.")
        }
    }

    var response: AutoResponse? {
        auto.map {
            AutoResponse(
                mode: $0,
                limits: .init(messages: autoMessages, time: autoTime?.duration)
            )
        }
    }
}

extension AutoResponse.Mode: ExpressibleByArgument {}
