import CompanionWire
import Markdown
import NIOConcurrencyHelpers

/// Lines at the end of a terminal's output that change. Messages of others are written above them.
package final class LiveBlock: Sendable {
    private struct State {
        var region: LiveRegion
        var shown: [String] = []
        /// Whether the shell has the terminal; and how often the process had been continued at the last drawing.
        var isInBackground = false
        var continuations = TerminalEcho.continuations
        /// Whether somebody else uses the terminal.
        var isHeld = false
        var hasEnded = false
    }

    private let context: TerminalContext
    private let state: NIOLockedValueBox<State>

    /// Becomes the drawing of the context.
    package init(_ context: TerminalContext) {
        self.context = context
        state = NIOLockedValueBox(State(region: LiveRegion(breaksRows: context.reflows)))
        context.drawing.set(
            TerminalDrawing.Control(
                insert: { [weak self] in self?.insert($0) ?? false },
                hold: { [weak self] in self?.hold($0) }
            )
        )
    }

    /// Shows lines in place of those before. Where the window has no room for all, those at the top are left out.
    ///
    /// - Parameter lines: Sanitised by the caller. One that is wider than the window is cut, unless it has colours. None:
    ///   the block is empty.
    package func show(_ lines: [String]) {
        state.withLockedValue { state in
            guard !state.hasEnded else { return }
            state.shown = lines
            draw(&state)
        }
    }

    /// Takes the lines away for good.
    package func end() {
        state.withLockedValue { state in
            (state.shown, state.hasEnded) = ([], true)
            draw(&state)
        }
        // Last: until the lines are gone, messages of others are written above them.
        context.drawing.set(nil)
    }

    private func insert(_ lines: String) -> Bool {
        state.withLockedValue { state in
            guard !state.shown.isEmpty, !state.isHeld else { return false }
            draw(&state, below: lines)
            return true
        }
    }

    private func hold(_ isHeld: Bool) {
        state.withLockedValue { state in
            state.isHeld = isHeld
            draw(&state)
        }
    }

    private func draw(_ state: inout State, below lines: String = "") {
        // Nothing is drawn into the line that is typed for the shell.
        let (wasInBackground, continuations) = (state.isInBackground, state.continuations)
        (state.isInBackground, state.continuations) = (TerminalEcho.isInBackground, TerminalEcho.continuations)
        guard !state.isInBackground else { return context.stderr.write(lines) }
        if wasInBackground || continuations != state.continuations {
            // Others have written below what was drawn.
            state.region = LiveRegion(breaksRows: context.reflows)
        }
        let window = context.windowSize() ?? TerminalContext.WindowSize(columns: 80, rows: 24)
        let out = state.region.show(
            finished: Array(lines.utf8),
            open: (state.isHeld ? [] : state.shown).map { line in
                Array((line.has("\u{1B}") ? line : DisplayWidth.cut(line, to: window.columns)).utf8)
            },
            columns: window.columns,
            most: window.rows
        )
        // In one write: a half-drawn block would flicker.
        out.withUnsafeBytes { if !$0.isEmpty { context.stderr.write($0) } }
    }
}
