internal import Glibc

/// Waits for what is typed and for what else can happen at a terminal.
struct TerminalInput {
    /// The reasons why a wait ended.
    struct Events {
        /// The time limit was over.
        var isTimeOut = false
        var isReadable = false
        /// The program's own signal: reading is to end.
        var isInterrupted = false
        var signals: Set<Int32> = []
    }

    /// Becomes readable when reading is to end.
    let interruptDescriptor: Int32
    /// Ends a wait.
    let wakeDescriptor: Int32

    /// - Parameters:
    ///   - limit: nil waits without limit.
    ///   - reads: Whether to wait for what is typed.
    ///   - endsWithInterrupt: Whether to wait for the program's own signal.
    func wait(_ limit: Duration? = nil, reads: Bool = true, endsWithInterrupt: Bool) -> Events {
        // Those that are negative are left out.
        var entries = [
            reads ? STDIN_FILENO : -1, TerminalSignals.descriptor, wakeDescriptor,
            endsWithInterrupt ? interruptDescriptor : -1,
        ].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let milliseconds = limit.map { Int32($0 / .milliseconds(1)) } ?? -1
        let count = poll(&entries, nfds_t(entries.count), milliseconds)
        guard count > 0 else { return Events(isTimeOut: count == 0) }
        if entries[2].revents != 0 { _ = WakePipe.drain(wakeDescriptor) }
        return Events(
            isReadable: entries[0].revents != 0,
            isInterrupted: entries[3].revents != 0,
            signals: entries[1].revents != 0 ? TerminalSignals.take() : []
        )
    }

    /// Reads the bytes that were typed; nil at the end of the input. Empty if a signal came first.
    static func read() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = Glibc.read(STDIN_FILENO, &bytes, bytes.count)
        if count < 0, errno == EINTR || errno == EAGAIN { return [] }
        return count > 0 ? Array(bytes[..<count]) : nil
    }

    /// How many bytes can be read at once.
    static var available: Int {
        var count: Int32 = 0
        return ioctl(STDIN_FILENO, UInt(FIONREAD), &count) == 0 ? Int(count) : 0
    }
}
