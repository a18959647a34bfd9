import CommandCore
import Glibc

@main
enum Main {
    static func main() {
        StandardDescriptors.open()
        ProcessMemory.keepPrivate()
        let query = InheritedQuery.take()
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard let command = QuickCommand(arguments) else { FullTool.run(arguments) }
        // Writes to a closed pipe are errors where they happen, not signals.
        signal(SIGPIPE, SIG_IGN)
        switch command.run(.process, after: query) {
        case .ended(let status):
            end(status, json: arguments.contains("--json"))
        case .handedOver(let survey):
            FullTool.run(arguments, after: survey)
        }
    }

    /// Ends the process at once: nothing waits to be written, or to be called at its end.
    static func end(_ status: ExitStatus, json: Bool) -> Never {
        _exit(FileSink.end(status, json: json).rawValue)
    }
}
