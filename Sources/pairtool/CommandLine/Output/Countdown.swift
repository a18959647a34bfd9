import FoundationEssentials
import NIOConcurrencyHelpers

/// Shows on a terminal what a slow command is doing, and how long a code remains valid.
struct Countdown: Sendable {
    let context: CommandContext
    /// When the code expires, or nil if that is not known.
    let expiresAt: Date?

    func run<R: Sendable>(_ what: String, _ body: @escaping @Sendable () async throws -> R) async throws -> R {
        guard context.stderrIsTerminal else { return try await body() }
        let last = LastLine(context)
        return try await withThrowingTaskGroup(of: R?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                while true {
                    last.show(line(what))
                    try await ContinuousClock().sleep(for: .seconds(1))
                }
            }
            defer {
                group.cancelAll()
                last.end()
            }
            while let result = try await group.next() {
                if let result { return result }
            }
            throw CancellationError()
        }
    }

    private func line(_ what: String) -> String {
        guard let expiresAt else { return "\(what)…" }
        let left = expiresAt.timeIntervalSince(context.now())
        return left > 0
            ? "\(what)… the code is valid for \(TimeText.countdown(left))"
            : "\(what)… the code has expired by this machine's clock"
    }
}

/// A line at the end of a terminal's output that changes. Messages of others are written above it.
final class LastLine: Sendable {
    private let context: CommandContext
    private struct State {
        /// The line that is shown; nil if there is none.
        var shown: String?
        /// Whether somebody else uses the terminal.
        var isHeld = false
        var hasEnded = false
    }

    private let text = NIOLockedValueBox(State())

    private static let erasure = "\r\u{1B}[K"

    init(_ context: CommandContext) {
        self.context = context
        context.drawing.set(
            TerminalDrawing.Control(
                insert: { [weak self] in self?.insert($0) ?? false },
                hold: { [weak self] in self?.hold($0) }
            )
        )
    }

    func show(_ line: String) {
        text.withLockedValue { text in
            guard !text.hasEnded else { return }
            text.shown = line
            if !text.isHeld { context.stderr.write(Self.erasure + line) }
        }
    }

    /// Takes the line away until it is shown again.
    func clear() {
        text.withLockedValue(clear)
    }

    /// Takes the line away for good.
    func end() {
        text.withLockedValue { text in
            clear(&text)
            text.hasEnded = true
        }
        // Last: until the line is gone, messages of others are written above it.
        context.drawing.set(nil)
    }

    private func clear(_ text: inout State) {
        if text.shown != nil, !text.isHeld { context.stderr.write(Self.erasure) }
        text.shown = nil
    }

    private func insert(_ lines: String) -> Bool {
        text.withLockedValue { text in
            guard let shown = text.shown, !text.isHeld else { return false }
            context.stderr.write(Self.erasure + lines + shown)
            return true
        }
    }

    private func hold(_ isHeld: Bool) {
        text.withLockedValue { text in
            text.isHeld = isHeld
            guard let shown = text.shown else { return }
            context.stderr.write(Self.erasure + (isHeld ? "" : shown))
        }
    }
}
