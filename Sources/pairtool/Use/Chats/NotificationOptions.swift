import ArgumentParser
import Terminal

/// Whether the end of an answer may be shown on the desktop.
struct NotificationOptions: ParsableArguments {
    @Flag(help: "Show nothing on the desktop when a long answer ends or fails, or the agent asks a question.")
    var noNotify = false

    /// The output for the command.
    func output(_ options: OutputOptions) -> Output {
        var output = options.output
        if noNotify { output.context.notifies = false }
        return output
    }
}
