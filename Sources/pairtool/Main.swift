import Glibc
import LocalState
import Terminal

@main
enum Main {
    static func main() async {
        StandardDescriptors.open()
        ProcessMemory.keepPrivate()
        // Writing to a closed pipe or socket returns an error instead of raising a signal.
        signal(SIGPIPE, SIG_IGN)
        let arguments = Array(CommandLine.arguments.dropFirst())
        let command = Task { await CommandRunner.run(arguments) }
        let signals = Interrupts.shared.install { _ in
            // A second signal does not wait for a tidy end.
            if command.isCancelled { ExitCleanup.exit(.interrupted) }
            command.cancel()
            return true
        }
        let status = FileSink.end(await command.value, json: arguments.contains("--json"))
        withExtendedLifetime(signals) { exit(status.rawValue) }
    }
}
