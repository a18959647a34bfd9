import Glibc
import NIOConcurrencyHelpers

@main
enum Main {
    static func main() async {
        StandardDescriptors.open()
        ProcessMemory.keepPrivate()
        // Writing to a closed pipe or socket returns an error instead of raising a signal.
        signal(SIGPIPE, SIG_IGN)
        let arguments = Array(CommandLine.arguments.dropFirst())
        let command = Task { await CommandRunner.run(arguments) }
        let last = NIOLockedValueBox(SIGINT)
        let signals = Interrupts.shared.install { signal in
            last.withLockedValue { $0 = signal }
            // A second signal ends the process without a graceful shutdown.
            if command.isCancelled { ExitCleanup.exit(by: signal) }
            command.cancel()
            return true
        }
        let status = FileSink.end(await command.value, json: arguments.contains("--json"))
        withExtendedLifetime(signals) { exit(status.number(endedBy: last.withLockedValue(\.self))) }
    }
}
