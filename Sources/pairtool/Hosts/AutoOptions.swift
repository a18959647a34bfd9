import ArgumentParser
import CompanionClient

/// Whether the agent goes on by itself, and how far.
struct AutoOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Let the agent go on by itself: smart-stop (until it is done, asks or repeats itself), until-completion (until \
            it is done; questions are its own to decide), timed (until the time is over), message-count (so many \
            messages) or hybrid (until it is done, the time is over or the messages are sent; of questions in a row it \
            decides the first). Ctrl-C stops it.
            """,
            valueName: "mode"
        )
    )
    var auto: AutoResponse.Mode?

    @Option(help: "With --auto: the most automatic messages after a prompt, 1 to 100. Default: 10; 100 with timed.")
    var autoMessages: Int?

    @Option(help: "With --auto: the most minutes after a prompt, 1 to 1440. Default: 30; 1440 with message-count.")
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
                limits: .init(messages: autoMessages, time: autoMinutes.map { .seconds($0 * 60) })
            )
        }
    }
}

extension AutoResponse.Mode: ExpressibleByArgument {}
