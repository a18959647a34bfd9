import CompanionWire
import FoundationEssentials
import Glibc
import LocalState
import Markdown
import NIOConcurrencyHelpers

/// Whether a terminal's background is dark or light, so that colours are readable on it.
enum TerminalBackground {
    private static let answer = NIOLockedValueBox<MarkdownOptions.Theme?>(nil)

    /// What the terminal has answered, else what its environment variables say, else what a terminal of its kind
    /// answered last; dark if nothing is known. May read a small file.
    static func theme(_ context: CommandContext) -> MarkdownOptions.Theme {
        answer.withLockedValue(\.self) ?? theme(variable: context.environment["COLORFGBG"]) ?? remembered(context)
            ?? .dark
    }

    // MARK: Terminals that may not be asked

    /// The most kinds of terminals that are remembered.
    private static let mostKinds = 32

    /// Stores what a terminal has answered: not every command may ask it. Blocks.
    static func remember(_ theme: MarkdownOptions.Theme, _ context: CommandContext) {
        guard theme != remembered(context) else { return }
        let others = stored(context).filter { !$0.begins(with: kind(context) + " ") }.suffix(mostKinds - 1)
        let lines = others.map { "\($0)\n" }.joined() + "\(kind(context)) \(theme == .light ? "light" : "dark")\n"
        // Without it, colours are those for a dark background.
        try? PrivateFile.makeDirectory(context.paths.state)
        Array(lines.utf8).withUnsafeBytes { try? PrivateFile.write($0, to: path(context), isDurable: false) }
    }

    private static func remembered(_ context: CommandContext) -> MarkdownOptions.Theme? {
        let theme = stored(context).lazy.compactMap { $0.dropping(prefix: kind(context) + " ") }.first
        return theme.map { $0.isSame(as: "light") ? .light : .dark }
    }

    private static func stored(_ context: CommandContext) -> [String] {
        let bytes = try? PrivateFile.read(path(context), limit: 64 << 10)
        return String(decoding: (bytes ?? nil) ?? [], as: UTF8.self).parts("\n").map(String.init)
    }

    private static func path(_ context: CommandContext) -> String { "\(context.paths.state)/terminals" }

    /// A word for terminals of the same program.
    private static func kind(_ context: CommandContext) -> String {
        let names = ["TERM_PROGRAM", "TERM"].map { context.environment[$0] ?? "" }
        let text = names.joined(separator: "/").scalars(atMost: 80)
        return String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.isASCII && $0.value > 0x20 }))
    }

    // MARK: Asking

    /// - Parameter variable: The colours of text and background, as rxvt and others number them: `15;0`.
    static func theme(variable: String?) -> MarkdownOptions.Theme? {
        guard let number = variable?.parts(";").last.flatMap({ Int($0) }) else { return nil }
        return number == 7 || number == 15 ? .light : .dark
    }

    /// Asks the terminal (OSC 11), once in a process, where someone is about to type there anyway.
    ///
    /// - Returns: What was typed meanwhile. Nothing of it may get lost.
    static func ask(_ context: CommandContext) async throws -> [UInt8] {
        guard context.canAsk, context.editsLines, context.colour, context.environment["TERM"] != "linux",
            answer.withLockedValue({ $0 == nil })
        else { return [] }
        // The answers of a distant terminal take their time. One that comes too late would be taken for typed text.
        let isDistant = context.environment["SSH_CONNECTION"] != nil
        let reply = try await BlockingCall.run { exchange(limit: isDistant ? 1000 : 200) }
        if let theme = theme(reply: reply.text) {
            answer.withLockedValue { $0 = theme }
            try await BlockingCall.run { remember(theme, context) }
        }
        return reply.typed
    }

    /// Asks the terminal where what is typed is for somebody else, such as the shell: it is put back. Newer kernels may
    /// forbid that; the terminal is not asked there.
    static func askBeforeOutput(_ context: CommandContext) async throws {
        guard canPutBack else { return }
        for var byte in try await ask(context) { _ = ioctl(STDIN_FILENO, UInt(TIOCSTI), &byte) }
    }

    /// Whether the kernel lets a program put back what it has read (TIOCSTI).
    private static var canPutBack: Bool {
        guard let setting = try? Data(contentsOf: URL(filePath: "/proc/sys/dev/tty/legacy_tiocsti")) else {
            return true
        }
        return setting.first == UInt8(ascii: "1")
    }

    /// Asks for the background, and then for what the terminal is (DA1): every terminal answers that at once, also one
    /// that does not know the first question. It is not asked while something waits to be read.
    private static func exchange(limit milliseconds: Int32) -> TerminalReply {
        var reply = TerminalReply()
        var original = termios()
        guard tcgetattr(STDIN_FILENO, &original) == 0, tcgetpgrp(STDIN_FILENO) == getpgrp() else { return reply }
        var settings = original
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
        defer { tcsetattr(STDIN_FILENO, TCSANOW, &original) }
        var waiting: Int32 = 0
        guard ioctl(STDIN_FILENO, UInt(FIONREAD), &waiting) == 0, waiting == 0 else { return reply }
        let questions = Array("\u{1B}]11;?\u{1B}\\\u{1B}[c".utf8)
        guard write(STDERR_FILENO, questions, questions.count) == questions.count else { return reply }
        let end = ContinuousClock.now + .milliseconds(Int(milliseconds))
        while !reply.isComplete {
            let left = Int32((end - ContinuousClock.now) / Duration.milliseconds(1))
            var entry = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            var byte: UInt8 = 0
            guard left > 0, poll(&entry, 1, left) == 1, read(STDIN_FILENO, &byte, 1) == 1 else { break }
            reply.take(byte)
        }
        reply.end()
        return reply
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

/// Tells a terminal's answers to OSC 11 and DA1 from what is typed.
struct TerminalReply {
    private static let colour = Array("\u{1B}]11;".utf8)
    private static let device = Array("\u{1B}[?".utf8)
    private var bytes: [UInt8] = []
    /// What is not part of an answer.
    private(set) var typed: [UInt8] = []
    /// The first answer without its frame, such as `rgb:ffff/ffff/ffff`; empty if it did not come.
    private(set) var text: [UInt8] = []
    /// Whether the second answer has come.
    private(set) var isComplete = false

    /// Longer answers are none.
    private static let mostBytes = 64

    mutating func take(_ byte: UInt8) {
        guard !isComplete else { return typed.append(byte) }
        bytes.append(byte)
        if bytes.starts(with: Self.colour) {
            // BEL or ST ends it.
            guard byte == 0x07 || bytes.suffix(2).elementsEqual("\u{1B}\\".utf8) else {
                return giveUp(from: Self.mostBytes)
            }
            text = Array(bytes.dropFirst(Self.colour.count).dropLast(byte == 0x07 ? 1 : 2))
            bytes = []
        } else if bytes.starts(with: Self.device) {
            guard byte == UInt8(ascii: "c") else { return giveUp(from: byte < 0x40 ? Self.mostBytes : 0) }
            isComplete = true
            bytes = []
        } else if !Self.colour.starts(with: bytes), !Self.device.starts(with: bytes) {
            giveUp(from: 0)
            // Two Escapes, say: the second one may begin an answer.
            if byte == 0x1B { bytes = [typed.removeLast()] }
        }
    }

    /// Nothing more is waited for.
    mutating func end() {
        giveUp(from: 0)
    }

    private mutating func giveUp(from count: Int) {
        guard bytes.count >= count else { return }
        typed += bytes
        bytes = []
    }
}
