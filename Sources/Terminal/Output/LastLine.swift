import NIOConcurrencyHelpers

/// A line at the end of a terminal's output that changes. Messages of others are written above it.
package final class LastLine: Sendable {
    private let context: TerminalContext
    private struct State {
        /// The line that is shown; nil if there is none.
        var shown: String?
        /// Whether somebody else uses the terminal.
        var isHeld = false
        var hasEnded = false
    }

    private let text = NIOLockedValueBox(State())

    /// Takes a line away, and leaves the cursor at its beginning.
    static let erasure = "\r\u{1B}[K"

    /// Becomes the drawing of the context.
    package init(_ context: TerminalContext) {
        self.context = context
        context.drawing.set(
            TerminalDrawing.Control(
                insert: { [weak self] in self?.insert($0) ?? false },
                hold: { [weak self] in self?.hold($0) }
            )
        )
    }

    /// Shows a line in place of the one before.
    ///
    /// - Parameter line: Sanitised by the caller, and narrower than the window.
    package func show(_ line: String) {
        text.withLockedValue { text in
            guard !text.hasEnded else { return }
            text.shown = line
            if !text.isHeld { context.stderr.write(Self.erasure + line) }
        }
    }

    /// Takes the line away until it is shown again.
    package func clear() {
        text.withLockedValue(clear)
    }

    /// Takes the line away for good.
    package func end() {
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
