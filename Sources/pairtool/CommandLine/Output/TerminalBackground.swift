import CompanionWire
import FoundationEssentials
import Glibc
import LocalState
import Markdown
import NIOConcurrencyHelpers

/// Whether a terminal's background is dark or light, so that colours are readable on it.
enum TerminalBackground {
    private static let answer = NIOLockedValueBox<MarkdownOptions.Theme?>(nil)

    /// What the terminal has answered, else what its environment variables say; dark if nothing is known.
    static func theme(_ context: CommandContext) -> MarkdownOptions.Theme {
        answer.withLockedValue(\.self) ?? theme(variable: context.environment["COLORFGBG"]) ?? .dark
    }

    /// - Parameter variable: The colours of text and background, as rxvt and others number them: `15;0`.
    static func theme(variable: String?) -> MarkdownOptions.Theme? {
        guard let number = variable?.parts(";").last.flatMap({ Int($0) }) else { return nil }
        return number == 7 || number == 15 ? .light : .dark
    }

    /// Asks the terminal (OSC 11), once in a process, where someone is about to type there anyway.
    ///
    /// Nothing that is typed gets lost: the terminal is not asked while something waits to be read, and what comes
    /// before the answer is put back. Newer kernels may forbid that; the terminal is not asked there.
    static func ask(_ context: CommandContext) async throws {
        guard context.canAsk, context.editsLines, context.colour, context.environment["TERM"] != "linux",
            answer.withLockedValue({ $0 == nil }), canPutBack
        else { return }
        // The answer to a distant terminal takes its time. One that comes too late would be taken for typed text.
        let isDistant = context.environment["SSH_CONNECTION"] != nil
        let reply = try await BlockingCall.run { exchange(limit: isDistant ? 1000 : 200) }
        if let theme = reply.flatMap(theme(reply:)) { answer.withLockedValue { $0 = theme } }
    }

    /// Whether the kernel lets a program put back what it has read (TIOCSTI).
    private static var canPutBack: Bool {
        guard let setting = try? Data(contentsOf: URL(filePath: "/proc/sys/dev/tty/legacy_tiocsti")) else {
            return true
        }
        return setting.first == UInt8(ascii: "1")
    }

    /// The terminal's answer without its frame, such as `rgb:ffff/ffff/ffff`; nil if there is none in time.
    private static func exchange(limit milliseconds: Int32) -> [UInt8]? {
        var original = termios()
        guard tcgetattr(STDIN_FILENO, &original) == 0, tcgetpgrp(STDIN_FILENO) == getpgrp() else { return nil }
        var settings = original
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
        defer { tcsetattr(STDIN_FILENO, TCSANOW, &original) }
        var waiting: Int32 = 0
        guard ioctl(STDIN_FILENO, UInt(FIONREAD), &waiting) == 0, waiting == 0 else { return nil }
        let question = Array("\u{1B}]11;?\u{1B}\\".utf8)
        guard write(STDERR_FILENO, question, question.count) == question.count else { return nil }
        var reply = TerminalReply()
        let end = ContinuousClock.now + .milliseconds(Int(milliseconds))
        while !reply.isComplete {
            let left = Int32((end - ContinuousClock.now) / Duration.milliseconds(1))
            var entry = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            var byte: UInt8 = 0
            guard left > 0, poll(&entry, 1, left) == 1, read(STDIN_FILENO, &byte, 1) == 1 else { break }
            reply.take(byte)
        }
        for var byte in reply.typed { _ = ioctl(STDIN_FILENO, UInt(TIOCSTI), &byte) }
        return reply.isComplete ? reply.text : nil
    }

    /// - Parameter reply: `rgb:` and three colours of one to four hexadecimal digits.
    static func theme(reply: [UInt8]) -> MarkdownOptions.Theme? {
        let parts = String(decoding: reply, as: UTF8.self).dropping(prefix: "rgb:")?.parts("/") ?? []
        let colours = parts.compactMap { part -> Double? in
            guard (1...4).contains(part.utf8.count), let value = Int(part, radix: 16) else { return nil }
            return Double(value) / Double((1 << (4 * part.utf8.count)) - 1)
        }
        guard colours.count == 3 else { return nil }
        // The luminance by ITU-R BT.709.
        return 0.2126 * colours[0] + 0.7152 * colours[1] + 0.0722 * colours[2] > 0.5 ? .light : .dark
    }
}

/// Tells a terminal's answer to OSC 11 from what is typed.
struct TerminalReply {
    private static let begin = Array("\u{1B}]11;".utf8)
    private var bytes: [UInt8] = []
    /// What is not part of the answer.
    private(set) var typed: [UInt8] = []
    private(set) var isComplete = false
    /// The answer without its frame.
    private(set) var text: [UInt8] = []

    /// Longer answers are none.
    private static let mostBytes = 64

    mutating func take(_ byte: UInt8) {
        guard !isComplete else { return typed.append(byte) }
        bytes.append(byte)
        guard bytes.count > Self.begin.count else {
            guard !Self.begin.starts(with: bytes) else { return }
            giveUp()
            // Two Escapes, say: the second one may begin the answer.
            if byte == 0x1B { bytes = [typed.removeLast()] }
            return
        }
        // BEL or ST ends it.
        if byte == 0x07 || bytes.suffix(2).elementsEqual("\u{1B}\\".utf8) {
            text = Array(bytes.dropFirst(Self.begin.count).dropLast(byte == 0x07 ? 1 : 2))
            isComplete = true
        } else if bytes.count > Self.mostBytes {
            giveUp()
        }
    }

    private mutating func giveUp() {
        typed += bytes
        bytes = []
    }
}
