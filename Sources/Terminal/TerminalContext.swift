import CompanionWire
package import FoundationEssentials
import Glibc
package import LocalState
import NIOConcurrencyHelpers

/// The streams, environment and clock of a program at a terminal. Tests inject their own.
package struct TerminalContext: Sendable {
    package var stdout: any TextSink
    package var stderr: any TextSink
    package var stdin: any InputSource
    /// The environment variables by their names.
    package var environment: [String: String]
    /// Whether standard output, error and input are terminals.
    package var stdoutIsTerminal: Bool
    package var stderrIsTerminal: Bool
    package var stdinIsTerminal: Bool
    /// Whether input lines can be edited: standard input is a terminal that this process controls.
    package var editsLines: Bool
    /// The window's size, or nil if there is no terminal.
    package var windowSize: @Sendable () -> WindowSize?
    /// The time of day.
    package var now: @Sendable () -> Date
    /// The clock for pauses.
    package var clock: any Clock<Duration> = ContinuousClock()
    /// How long each of several that are asked may take to answer, unless the user says otherwise.
    package var answerLimit = Duration.seconds(5)
    /// The drawing at the end of the terminal's output, which has to make room for messages.
    package var drawing = TerminalDrawing()
    /// Whether notifications may be shown on the desktop.
    package var notifies = true
    /// Whether the terminal is in front on the desktop; nil if that is not known.
    package var isInFront: @Sendable () -> Bool? = { nil }
    /// Runs a body that leaves what is typed to another program. Blocks.
    package var withoutEditor: @Sendable (() -> Void) -> Void = { $0() }
    /// The messages that the user has seen and that are not repeated.
    package var said = SaidOnce()
    /// The answers that the user has given at this terminal.
    package var answers = GivenAnswers()

    /// The size of a window in characters.
    package struct WindowSize: Sendable, Hashable {
        package var columns: Int
        package var rows: Int

        package init(columns: Int, rows: Int) {
            (self.columns, self.rows) = (columns, rows)
        }
    }

    package init(
        stdout: any TextSink,
        stderr: any TextSink,
        stdin: any InputSource,
        environment: [String: String],
        stdoutIsTerminal: Bool,
        stderrIsTerminal: Bool,
        stdinIsTerminal: Bool,
        editsLines: Bool,
        windowSize: @escaping @Sendable () -> WindowSize?,
        now: @escaping @Sendable () -> Date
    ) {
        (self.stdout, self.stderr, self.stdin, self.environment) = (stdout, stderr, stdin, environment)
        self.stdoutIsTerminal = stdoutIsTerminal
        self.stderrIsTerminal = stderrIsTerminal
        self.stdinIsTerminal = stdinIsTerminal
        self.editsLines = editsLines
        self.windowSize = windowSize
        self.now = now
    }

    /// The context of this task.
    @TaskLocal package static var current = TerminalContext.process

    /// This process's own streams and environment.
    package static let process = TerminalContext(
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
    package var canAsk: Bool { stdinIsTerminal && stderrIsTerminal }

    /// Whether colours may be used on standard output (https://no-color.org).
    package var colour: Bool {
        takesColour && environment["NO_COLOR", default: ""].isEmpty
    }

    /// Whether standard output takes colours that are content, such as the black and white of a QR code. `NO_COLOR`
    /// turns off decoration only: without its colours the code could not be scanned.
    package var takesColour: Bool { stdoutIsTerminal && environment["TERM"] != "dumb" }

    /// Writes lines to standard error, above what is drawn at the end of the terminal's output.
    package func writeMessage(_ lines: String) {
        if !drawing.insert(lines) { stderr.write(lines) }
    }

    /// The width of the terminal that standard output is; nil if it is none.
    package var columns: Int? { stdoutIsTerminal ? windowSize()?.columns : nil }

    /// The directories of the program.
    package var paths: Paths { Paths(environment: environment) }
}

/// Messages that are said once, however much they concern.
package final class SaidOnce: Sendable {
    private let texts = NIOLockedValueBox<Set<ByteText>>([])

    /// - Returns: Whether the message is new.
    package func insert(_ text: String) -> Bool {
        texts.withLockedValue { $0.insert(ByteText(text)).inserted }
    }
}

/// The answers that the user has given to questions.
package final class GivenAnswers: Sendable {
    private let names = NIOLockedValueBox<[ByteText: String]>([:])

    package init() {}

    /// Keeps the answer to a question.
    ///
    /// - Parameter name: The answer in the agent's words.
    package func insert(_ name: String, to question: String) {
        names.withLockedValue { $0[ByteText(question)] = name }
    }

    /// Whether the user has given this answer.
    package func has(_ name: String?, to question: String) -> Bool {
        guard let name, let given = names.withLockedValue({ $0[ByteText(question)] }) else { return false }
        return given.isSame(as: name)
    }
}

/// A drawing at the end of a terminal's output that changes. Others have to ask for room there.
package final class TerminalDrawing: Sendable {
    /// The requests that others make of the drawing.
    package struct Control: Sendable {
        /// Writes lines above the drawing. Returns false if there is none any more.
        package var insert: @Sendable (String) -> Bool
        /// Takes the drawing away, or brings it back.
        package var hold: @Sendable (Bool) -> Void

        package init(insert: @escaping @Sendable (String) -> Bool, hold: @escaping @Sendable (Bool) -> Void) {
            (self.insert, self.hold) = (insert, hold)
        }
    }

    private let control = NIOLockedValueBox<Control?>(nil)

    package init() {}

    /// - Parameter control: nil when the drawing has ended.
    package func set(_ control: Control?) {
        self.control.withLockedValue { $0 = control }
    }

    /// - Returns: Whether there is a drawing, which has taken the lines.
    fileprivate func insert(_ lines: String) -> Bool {
        control.withLockedValue(\.self)?.insert(lines) ?? false
    }

    /// Runs a body that uses the terminal, such as a question, without the drawing.
    package func pause<R>(_ body: () async throws -> R) async rethrows -> R {
        let control = control.withLockedValue(\.self)
        control?.hold(true)
        defer { control?.hold(false) }
        return try await body()
    }
}

extension TerminalContext {
    /// Whether the terminal is known to show links (OSC 8). Others may print a part of the address.
    package var hasLinks: Bool {
        guard stdoutIsTerminal else { return false }
        func isSet(_ name: String) -> Bool { !environment[name, default: ""].isEmpty }
        // A multiplexer decides for the terminal around it. tmux passes links on since 3.4.
        if isSet("TMUX") {
            let version = environment["TERM_PROGRAM_VERSION"]?.parts(".").prefix(2).compactMap { part in
                Int(part.prefix { "0123456789".utf8.contains($0.utf8.first ?? 0) })
            }
            guard environment["TERM_PROGRAM"] == "tmux", let version, version.count == 2 else { return false }
            return (version[0], version[1]) >= (3, 4)
        }
        if isSet("STY") { return false }
        if let version = environment["VTE_VERSION"].flatMap({ Int($0) }) { return version >= 5000 }
        let terminals: Set = ["iTerm.app", "WezTerm", "vscode", "ghostty", "mintty"]
        let types: Set = ["xterm-kitty", "alacritty", "foot", "foot-extra", "xterm-ghostty", "wezterm"]
        return terminals.contains(environment["TERM_PROGRAM"] ?? "") || types.contains(environment["TERM"] ?? "")
            || isSet("KITTY_WINDOW_ID") || isSet("WT_SESSION") || isSet("KONSOLE_VERSION")
    }
}
