internal import Glibc
internal import Synchronization

/// How the terminal treats what is typed. Restores what was before.
final class TerminalMode: Sendable {
    enum Kind: Sendable {
        /// As it was before this program.
        case original
        /// Keys come one by one, and Ctrl-C is a key.
        case editing
        /// Nothing is echoed, and Ctrl-C is a signal that leaves what was typed.
        case holding
    }

    /// Bracketed paste, and reports of the focus.
    private static let reportsOn = "\u{1B}[?2004h\u{1B}[?1004h"
    private static let reportsOff = "\u{1B}[?1004l\u{1B}[?2004l"

    private let original: termios
    private let isChanged = Atomic(false)

    /// - Returns: nil if standard input is not a terminal.
    init?() {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
        original = settings
    }

    /// Whether the terminal has another mode than before this program.
    var isSet: Bool { isChanged.load(ordering: .sequentiallyConsistent) }

    /// - Returns: How many bytes wait that were typed in the original mode; nil if the terminal had another mode
    ///   before.
    @discardableResult
    func set(_ kind: Kind) -> Int? {
        guard kind != .original else {
            restore()
            return nil
        }
        var settings = original
        settings.c_iflag &= ~tcflag_t(ICRNL | INLCR | IGNCR | ISTRIP)
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN)
        settings.c_lflag |= tcflag_t(NOFLSH)
        if kind == .editing {
            settings.c_lflag &= ~tcflag_t(ISIG)
            settings.c_iflag &= ~tcflag_t(IXON)
        }
        withUnsafeMutableBytes(of: &settings.c_cc) {
            $0[Int(VMIN)] = 1
            $0[Int(VTIME)] = 0
        }
        let wasOriginal = !isChanged.exchange(true, ordering: .sequentiallyConsistent)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
        guard wasOriginal else { return nil }
        // Before the terminal starts to mark pasted text, which may come at once.
        let earlier = TerminalInput.available
        TerminalOutput.write(Self.reportsOn)
        return earlier
    }

    /// Restores the original mode, if it was changed. May be called on any thread.
    func restore() {
        guard isChanged.exchange(false, ordering: .sequentiallyConsistent) else { return }
        // In the background, the terminal is the shell's, which has set its own mode.
        guard tcgetpgrp(STDIN_FILENO) == getpgrp() else { return }
        var settings = original
        TerminalOutput.write(Self.reportsOff)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
    }
}

/// Writes to the terminal, which is standard error: standard output is data.
enum TerminalOutput {
    static func write(_ text: String) {
        guard !text.isEmpty else { return }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var entry = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
                _ = poll(&entry, 1, -1)
            } else if errno != EINTR {
                return
            }
        }
    }

    /// The window's size. Default: 80 columns and 24 rows.
    static var size: LineRenderer.Size {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return LineRenderer.Size(columns: 80, rows: 24)
        }
        return LineRenderer.Size(columns: Int(size.ws_col), rows: size.ws_row > 0 ? Int(size.ws_row) : 24)
    }
}
