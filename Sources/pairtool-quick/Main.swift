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
            exit(FileSink.end(status, json: arguments.contains("--json")).rawValue)
        case .handedOver(let survey):
            FullTool.run(arguments, after: survey)
        }
    }
}
