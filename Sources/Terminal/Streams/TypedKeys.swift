import Glibc
import LocalState

/// Keys that are typed at this process's terminal while it does something else, which the terminal does not show.
package enum TypedKeys {
    /// Hands on each key, until the task is cancelled, the user interrupts or the input ends. Several characters at once,
    /// as of an arrow key or a paste, are none.
    ///
    /// In the background the terminal is the shell's: nothing is read there.
    package static func each(_ take: (UInt8) async -> Void) async {
        // The usual effect, a stop, would take a host away that was sent to the background while it waited for a key.
        let before = signal(SIGTTIN, SIG_IGN)
        defer {
            TerminalEcho.restore()
            signal(SIGTTIN, before)
        }
        while let keys = try? await Interrupts.shared.waiting({ try await BlockingCall.run(next) }) {
            if keys.count == 1 { await take(keys[0]) }
        }
    }

    /// The keys that are typed next; empty when the program was in the background, nil at the end of the input.
    private static func next() throws -> [UInt8]? {
        guard TerminalEcho.isForeground else {
            // The shell has set its own mode. In the foreground, it is to be set again.
            TerminalEcho.restore()
            try Interrupts.shared.pause(milliseconds: 1000)
            return []
        }
        TerminalEcho.turnOff(byKey: true)
        // Not for ever: sent to the background and back meanwhile, the terminal has to be asked for keys again.
        let isReady = try Interrupts.shared.wait(for: STDIN_FILENO, events: POLLIN, milliseconds: 1000)
        guard isReady, TerminalEcho.isForeground else { return [] }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = read(STDIN_FILENO, &bytes, bytes.count)
        if count < 0 { return [EINTR, EAGAIN, EIO].contains(errno) ? [] : nil }
        return count == 0 ? nil : Array(bytes[..<count])
    }
}
