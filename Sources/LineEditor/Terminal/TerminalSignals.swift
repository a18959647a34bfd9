internal import Glibc

/// Makes the signals of a terminal readable from a pipe: a new window size, being stopped and continued, and Ctrl-\.
enum TerminalSignals {
    private static let wake: (reader: Int32, writer: Int32) = WakePipe.make()

    /// Becomes readable when a signal came.
    static var descriptor: Int32 { wake.reader }

    private static let numbers = [SIGWINCH, SIGTSTP, SIGCONT, SIGQUIT]

    /// Begins to take the signals.
    static func install() {
        // Made here, not by the first signal.
        _ = wake
        for number in numbers { handle(number, with: noteSignal) }
    }

    /// Gives the signals back to the system.
    static func remove() {
        for number in numbers { handle(number, with: SIG_DFL) }
    }

    /// The signals that came since the last call.
    static func take() -> Set<Int32> {
        Set(WakePipe.drain(wake.reader).map(Int32.init))
    }

    /// Stops this process, or all of the foreground job, until it is continued.
    static func stop(group: Bool) {
        handle(SIGTSTP, with: SIG_DFL)
        kill(group ? 0 : getpid(), SIGTSTP)
    }

    /// Ends this process as Ctrl-\ does.
    static func quit() {
        handle(SIGQUIT, with: SIG_DFL)
        kill(getpid(), SIGQUIT)
    }

    private static func handle(_ number: Int32, with handler: __sighandler_t?) {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = handler
        action.sa_flags = SA_RESTART
        sigaction(number, &action, nil)
    }

    fileprivate static func note(_ number: Int32) {
        let before = errno
        WakePipe.write(UInt8(truncatingIfNeeded: number), to: wake.writer)
        errno = before
    }
}

/// A function of the file: a closure would inherit an isolation. It only writes a byte.
private func noteSignal(_ number: Int32) {
    TerminalSignals.note(number)
}

/// Pipes that end a wait.
enum WakePipe {
    static func make() -> (reader: Int32, writer: Int32) {
        var ends: [Int32] = [-1, -1]
        pipe(&ends)
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        return (ends[0], ends[1])
    }

    static func write(_ byte: UInt8, to descriptor: Int32) {
        var byte = byte
        // A full pipe wakes as well.
        _ = Glibc.write(descriptor, &byte, 1)
    }

    static func drain(_ descriptor: Int32) -> [UInt8] {
        var all: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 64)
        while true {
            let count = read(descriptor, &bytes, bytes.count)
            guard count > 0 else { return all }
            all += bytes[..<count]
        }
    }
}
