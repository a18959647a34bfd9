import Glibc
import NIOConcurrencyHelpers

@main
enum Main {
    static func main() async {
        StandardDescriptors.open()
        ProcessMemory.keepPrivate()
        // Writes to a closed pipe or socket are errors where they happen, not signals.
        signal(SIGPIPE, SIG_IGN)
        let arguments = Array(CommandLine.arguments.dropFirst())
        let command = Task { await CommandRunner.run(arguments) }
        let last = NIOLockedValueBox(SIGINT)
        let signals = Interrupts.shared.install { signal in
            last.withLockedValue { $0 = signal }
            // A second signal does not wait for a tidy end.
            if command.isCancelled { ExitCleanup.exit(by: signal) }
            command.cancel()
            return true
        }
        let status = FileSink.end(await command.value, json: arguments.contains("--json"))
        withExtendedLifetime(signals) { exit(status.number(endedBy: last.withLockedValue(\.self))) }
    }
}
