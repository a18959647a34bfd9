import CommandCore
import Glibc

@main
enum Main {
    static func main() {
        StandardDescriptors.open()
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard let command = QuickCommand(arguments) else { FullTool.run(arguments) }
        // Writes to a closed pipe are errors where they happen, not signals.
        signal(SIGPIPE, SIG_IGN)
        switch command.run(.process) {
        case .ended(let status):
            end(status, arguments.contains("--json") ? .json : .text)
        case .handedOver(let survey):
            FullTool.run(arguments, after: survey)
        }
    }

    /// Ends the process at once: everything was written when it was said.
    static func end(_ status: ExitStatus, _ format: OutputFormat) -> Never {
        _exit(FileSink.end(status, json: format == .json).rawValue)
    }
}
