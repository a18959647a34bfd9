package import FoundationEssentials
import Glibc

/// What a command may touch of the world: its streams, environment and clock. Tests put in their own.
package struct CommandContext: Sendable {
    package var stdout: any TextSink
    package var stderr: any TextSink
    package var stdin: any InputSource
    package var environment: [String: String]
    /// Whether standard output, error and input are terminals.
    package var stdoutIsTerminal: Bool
    package var stderrIsTerminal: Bool
    package var stdinIsTerminal: Bool
    /// Whether lines can be edited: standard input is this process's own terminal.
    package var editsLines: Bool
    /// The window's size, or nil where there is no terminal.
    package var windowSize: @Sendable () -> WindowSize?
    package var now: @Sendable () -> Date
    /// What pauses between questions to a host wait by.
    package var clock: any Clock<Duration> = ContinuousClock()

    package struct WindowSize: Sendable, Hashable {
        package var columns: Int
        package var rows: Int

        package init(columns: Int, rows: Int) {
            self.columns = columns
            self.rows = rows
        }
    }

    /// The context of the running command.
    @TaskLocal package static var current = CommandContext.process

    /// This process's own streams and environment.
    package static let process = CommandContext(
        stdout: FileSink(descriptor: STDOUT_FILENO),
        stderr: FileSink(descriptor: STDERR_FILENO),
        stdin: StandardInput(),
        environment: EnvironmentVariables.ofProcess,
        stdoutIsTerminal: isatty(STDOUT_FILENO) == 1,
        stderrIsTerminal: isatty(STDERR_FILENO) == 1,
        stdinIsTerminal: isatty(STDIN_FILENO) == 1,
        editsLines: true,
        windowSize: {
            var size = winsize()
            for descriptor in [STDOUT_FILENO, STDERR_FILENO, STDIN_FILENO]
            where ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 {
                return WindowSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
            }
            return nil
        },
        now: { Date() }
    )

    /// Whether someone can be asked: questions go to standard error, answers come from standard input.
    package var canAsk: Bool { stdinIsTerminal && stderrIsTerminal }

    /// Whether colours may be used on standard output (https://no-color.org).
    package var colour: Bool {
        takesColour && environment["NO_COLOR", default: ""].isEmpty
    }

    /// Whether standard output takes colours that are content rather than decoration, as black on white is of a QR code:
    /// `NO_COLOR` does not ask for a code that nobody can scan.
    package var takesColour: Bool { stdoutIsTerminal && environment["TERM"] != "dumb" }

    package var paths: Paths { Paths(environment: environment) }
}
