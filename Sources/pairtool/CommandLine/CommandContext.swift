import CompanionWire
import FoundationEssentials
import Glibc
import LocalState
import NIOConcurrencyHelpers

/// The streams, environment and clock that a command uses. Tests inject their own.
struct CommandContext: Sendable {
    var stdout: any TextSink
    var stderr: any TextSink
    var stdin: any InputSource
    var environment: [String: String]
    /// Whether standard output, error and input are terminals.
    var stdoutIsTerminal: Bool
    var stderrIsTerminal: Bool
    var stdinIsTerminal: Bool
    /// Whether input lines can be edited: standard input is a terminal that this process controls.
    var editsLines: Bool
    /// The window's size, or nil if there is no terminal.
    var windowSize: @Sendable () -> WindowSize?
    var now: @Sendable () -> Date
    /// The clock for pauses between requests to a host.
    var clock: any Clock<Duration> = ContinuousClock()
    /// How long a command that asks several hosts waits for each, unless the user says otherwise.
    var hostLimit = Duration.seconds(5)
    /// The drawing at the end of the terminal's output, which has to make room for messages.
    var drawing = TerminalDrawing()
    /// Whether notifications may be shown on the desktop.
    var notifies = true
    /// Whether the terminal is in front on the desktop; nil if that is not known.
    var isInFront: @Sendable () -> Bool? = { nil }
    /// Runs a body that leaves what is typed to another program. Blocks.
    var withoutEditor: @Sendable (() -> Void) -> Void = { $0() }
    /// The messages that the user has seen and that are not repeated.
    var said = SaidOnce()

    struct WindowSize: Sendable, Hashable {
        var columns: Int
        var rows: Int
    }

    /// The context of the running command.
    @TaskLocal static var current = CommandContext.process

    /// This process's own streams and environment.
    static let process = CommandContext(
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

    /// Whether the user can be asked: questions go to standard error, answers come from standard input.
    var canAsk: Bool { stdinIsTerminal && stderrIsTerminal }

    /// Whether colours may be used on standard output (https://no-color.org).
    var colour: Bool {
        takesColour && environment["NO_COLOR", default: ""].isEmpty
    }

    /// Whether standard output takes colours that are content, such as the black and white of a QR code. `NO_COLOR`
    /// turns off decoration only: without its colours the code could not be scanned.
    var takesColour: Bool { stdoutIsTerminal && environment["TERM"] != "dumb" }

    /// Writes lines to standard error, above what is drawn at the end of the terminal's output.
    func writeMessage(_ lines: String) {
        if !drawing.insert(lines) { stderr.write(lines) }
    }

    /// The width of the terminal that standard output is; nil if it is none.
    var columns: Int? { stdoutIsTerminal ? windowSize()?.columns : nil }

    var paths: Paths { Paths(environment: environment) }
}

/// Messages of a command that are said once, however many hosts or sessions they concern.
final class SaidOnce: Sendable {
    private let texts = NIOLockedValueBox<Set<ByteText>>([])

    /// - Returns: Whether the message is new.
    func insert(_ text: String) -> Bool {
        texts.withLockedValue { $0.insert(ByteText(text)).inserted }
    }
}

/// A drawing at the end of a terminal's output that changes. Others have to ask for room there.
final class TerminalDrawing: Sendable {
    struct Control: Sendable {
        /// Writes lines above the drawing. Returns false if there is none any more.
        var insert: @Sendable (String) -> Bool
        /// Takes the drawing away, or brings it back.
        var hold: @Sendable (Bool) -> Void
    }

    private let control = NIOLockedValueBox<Control?>(nil)

    /// - Parameter control: nil when the drawing has ended.
    func set(_ control: Control?) {
        self.control.withLockedValue { $0 = control }
    }

    /// - Returns: Whether there is a drawing, which has taken the lines.
    fileprivate func insert(_ lines: String) -> Bool {
        control.withLockedValue(\.self)?.insert(lines) ?? false
    }

    /// Runs a body that uses the terminal, such as a question, without the drawing.
    func pause<R>(_ body: () async throws -> R) async rethrows -> R {
        let control = control.withLockedValue(\.self)
        control?.hold(true)
        defer { control?.hold(false) }
        return try await body()
    }
}
