import Glibc
import NIOConcurrencyHelpers

/// Whether the terminal shows what is typed. While an answer is drawn it does not: that would be in the middle of the
/// drawing. What is typed meanwhile stays for who reads next, such as the shell.
package enum TerminalEcho {
    private struct State {
        var isOff = false
        /// The signals that have a handler.
        var signals: [Int32] = []
    }

    private static let state = NIOLockedValueBox(State())
    private static let cleanup: Void = ExitCleanup.add { restore() }

    /// Turns the echo off, if it is on and standard input is this process's terminal.
    ///
    /// - Parameter byKey: Whether the terminal also hands on each key, and not each line. Default: false.
    package static func turnOff(byKey: Bool = false) {
        state.withLockedValue { state in
            var mode = termios()
            guard !state.isOff, isForeground, tcgetattr(STDIN_FILENO, &mode) == 0,
                mode.c_lflag & tcflag_t(ECHO) != 0
            else { return }
            _ = cleanup
            usualMode = mode
            mode.c_lflag &= ~tcflag_t(byKey ? ECHO | ICANON : ECHO)
            if byKey { withUnsafeMutableBytes(of: &mode.c_cc) { ($0[Int(VMIN)], $0[Int(VTIME)]) = (1, 0) } }
            silentMode = mode
            state.signals = handlers.map(\.0).filter(isDefault)
            handlesStops = state.signals.contains(SIGTSTP)
            for (number, handler) in handlers where state.signals.contains(number) { signal(number, handler) }
            tcsetattr(STDIN_FILENO, TCSANOW, &mode)
            state.isOff = true
        }
    }

    /// Turns the echo on again, if it was turned off.
    package static func restore() {
        state.withLockedValue { state in
            guard state.isOff else { return }
            state.isOff = false
            setMode(usualMode)
            // Those that the parent process has ignored stay so.
            for number in state.signals { signal(number, SIG_DFL) }
            state.signals = []
        }
    }

    /// Those that end or stop the process at once, and the one that continues it. Others are ``Interrupts``.
    private static let handlers: [(Int32, @convention(c) (Int32) -> Void)] = [
        (SIGQUIT, giveBack), (SIGTSTP, giveBack), (SIGCONT, takeAgain),
    ]

    /// In the background, the terminal is the shell's, which has set its own mode.
    static var isForeground: Bool { tcgetpgrp(STDIN_FILENO) == getpgrp() }

    /// Whether standard error is a terminal at which another process is in front.
    static var isInBackground: Bool {
        let front = tcgetpgrp(STDERR_FILENO)
        return front > 0 && front != getpgrp()
    }

    /// How often the process was continued after it had been stopped, while the echo was off.
    static var continuations: Int { Int(continued) }

    private static func isDefault(_ number: Int32) -> Bool {
        var action = sigaction()
        sigaction(number, nil, &action)
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 0
    }
}

/// The terminal's own mode, for the handlers below. Safe because it is written before they are installed, and only read
/// while they are.
nonisolated(unsafe) private var usualMode = termios()
/// The same without the echo, and perhaps by key. Safe because it is written and read when the other one is.
nonisolated(unsafe) private var silentMode = termios()
/// How often SIGCONT came. Safe because the handler alone writes it, and a reader that misses one sees it a moment later.
nonisolated(unsafe) private var continued: sig_atomic_t = 0
/// Whether SIGTSTP has a handler here. Safe because it is written and read when the modes are.
nonisolated(unsafe) private var handlesStops = false

private func setMode(_ mode: termios) {
    guard TerminalEcho.isForeground else { return }
    var mode = mode
    tcsetattr(STDIN_FILENO, TCSANOW, &mode)
}

/// The signal has its usual effect once this handler is over. It calls only what a handler may call.
private func giveBack(_ number: Int32) {
    setMode(usualMode)
    signal(number, SIG_DFL)
    raise(number)
}

private func takeAgain(_ number: Int32) {
    continued &+= 1
    if handlesStops { signal(SIGTSTP, giveBack) }
    setMode(silentMode)
}
