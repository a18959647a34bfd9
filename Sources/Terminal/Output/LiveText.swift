import CompanionWire
import FoundationEssentials
package import Markdown
import NIOConcurrencyHelpers

/// The line below a text that comes.
package protocol LiveLine: Sendable {
    /// The moving part: it changes even if nothing else does.
    ///
    /// - Parameter elapsed: The seconds since the text began.
    static func frame(elapsed: Double) -> String
    /// The whole line, safe to show, at most as wide as the window.
    func line(elapsed: Double, columns: Int) -> String
}

/// Shows a text at a terminal while it comes: its Markdown, and a line below it that shows that more comes.
///
/// It is the only one that writes to the terminal meanwhile.
package final class LiveText<Progress: LiveLine>: Sendable {
    private struct State {
        var stream: MarkdownStream
        var region: LiveRegion
        var progress: Progress
        var lastFrame = ""
        /// Finished rows that are not written yet.
        var finished: [UInt8] = []
        var isDirty = true
        /// Whether text has come since the last drawing.
        var hasText = false
        var hasEnded = false
        /// Whether somebody else uses the terminal.
        var isHeld = false
        var lastDrawing = Date.distantPast
        /// The last drawing with new text. Text that comes after a pause does not wait for the line below it.
        var lastText = Date.distantPast
        /// How long the last drawing took.
        var cost = 0.0
    }

    private let context: TerminalContext
    private let begin: Date
    private let state: NIOLockedValueBox<State>

    /// The shortest time between two drawings.
    private static var pause: Double { 1.0 / 30 }
    /// More finished text than this is drawn at once.
    private static var mostFinished: Int { 64 << 10 }

    /// Becomes the drawing of the context.
    ///
    /// - Parameter progress: What the line below the text says first.
    package init(_ progress: Progress, context: TerminalContext, options: MarkdownOptions) {
        self.context = context
        begin = context.now()
        let region = LiveRegion(breaksRows: context.reflows)
        state = NIOLockedValueBox(State(stream: MarkdownStream(options), region: region, progress: progress))
        context.drawing.set(
            TerminalDrawing.Control(
                insert: { [weak self] in self?.insert($0) ?? false },
                hold: { [weak self] in self?.hold($0) }
            )
        )
    }

    /// Runs a body while the line below the text moves on.
    package func run<R>(_ body: () async throws -> R) async throws -> R {
        echo(false)
        defer { end() }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                while true {
                    try await context.clock.sleep(for: .seconds(Self.pause))
                    state.withLockedValue { draw(&$0) }
                }
            }
            defer { group.cancelAll() }
            return try await body()
        }
    }

    /// Appends a piece of the text.
    package func write(_ text: String) {
        state.withLockedValue { state in
            state.stream.feed(text)
            (state.isDirty, state.hasText) = (true, true)
            draw(&state)
        }
    }

    /// Changes what the line below the text says.
    package func update(_ change: (inout Progress) -> Void) {
        state.withLockedValue { state in
            change(&state.progress)
            state.isDirty = true
            draw(&state)
        }
    }

    /// Ends the open block of the text, and writes a line below it.
    package func note(_ text: String) {
        state.withLockedValue { state in
            state.stream.endBlock()
            let columns = context.windowSize()?.columns
            insert(IndentedText.of(TerminalText.line(text), first: 0, columns: columns) + "\n", in: &state)
        }
    }

    /// Writes lines of somebody else, which are safe to show, above the open block.
    ///
    /// - Returns: Whether the text has not ended.
    private func insert(_ lines: String) -> Bool {
        state.withLockedValue { state in
            guard !state.hasEnded else { return false }
            insert(lines, in: &state)
            return true
        }
    }

    /// Takes the drawing away while somebody else uses the terminal, or brings it back.
    private func hold(_ isHeld: Bool) {
        state.withLockedValue { state in
            guard !state.hasEnded else { return }
            if isHeld {
                state.stream.endBlock()
                draw(&state, isForced: true, showsProgress: false)
            }
            state.isHeld = isHeld
            state.isDirty = true
            draw(&state, isForced: true)
            echo(isHeld)
        }
    }

    /// Has the terminal show what is typed, or not.
    private func echo(_ isOn: Bool) {
        guard context.stdinIsTerminal, context.editsLines else { return }
        if isOn { TerminalEcho.restore() } else { TerminalEcho.turnOff() }
    }

    private func insert(_ lines: String, in state: inout State) {
        state.finished += state.stream.takeRows()
        if context.stderrIsTerminal {
            state.finished += lines.utf8
        } else {
            context.stderr.write(lines)
        }
        draw(&state, isForced: true)
    }

    /// Ends the text: everything is written, and the line below is gone.
    package func end() {
        state.withLockedValue { state in
            guard !state.hasEnded else { return }
            state.stream.finish()
            state.isHeld = false
            draw(&state, isForced: true, showsProgress: false)
            state.hasEnded = true
        }
        echo(true)
        // Last: until the drawing is gone, messages of others are written above it.
        context.drawing.set(nil)
    }

    /// The content of the line below the text, now or at the end.
    package var progress: Progress { state.withLockedValue(\.progress) }

    /// The seconds since the text began.
    package var elapsed: Double { context.now().timeIntervalSince(begin) }

    private func draw(_ state: inout State, isForced: Bool = false, showsProgress: Bool = true) {
        guard !state.hasEnded, !state.isHeld else { return }
        let now = context.now()
        let since = now.timeIntervalSince(state.hasText ? state.lastText : state.lastDrawing)
        state.finished += state.stream.takeRows()
        // A text that takes long to draw is drawn less often.
        let isDue = since < 0 || since >= max(Self.pause, 4 * state.cost)
        guard isForced || isDue || state.finished.count > Self.mostFinished else { return }
        let frame = Progress.frame(elapsed: now.timeIntervalSince(begin))
        guard isForced || state.isDirty || frame != state.lastFrame else { return }
        state.lastFrame = frame
        let window = context.windowSize() ?? TerminalContext.WindowSize(columns: 80, rows: 24)
        if context.reflows, window.columns < state.stream.options.columns {
            // tmux may have moved rows out of reach: those of a paragraph stay as it has broken them.
            state.stream.finishRows()
            state.finished += state.stream.takeRows()
        }
        state.stream.options.columns = window.columns
        let clock = ContinuousClock.now
        // Somebody else may use the terminal now: an unfinished line of code comes back below what is written there.
        var open = showsProgress ? state.stream.openRows() : []
        if showsProgress {
            let line = state.progress.line(elapsed: now.timeIntervalSince(begin), columns: window.columns)
            // An empty row between them, if there is a text.
            open += (open.isEmpty || window.rows < 4 ? [] : [[]]) + [Array("\u{1B}[2m\(line)\u{1B}[0m".utf8)]
        }
        let out = state.region.show(
            finished: state.finished,
            open: open,
            columns: window.columns,
            // Room for a row of what is finished.
            most: max(1, window.rows - 1)
        )
        state.cost = (ContinuousClock.now - clock) / .seconds(1)
        out.withUnsafeBytes { if !$0.isEmpty { context.stdout.write($0) } }
        state.finished.removeAll(keepingCapacity: true)
        if state.hasText { state.lastText = now }
        (state.lastDrawing, state.isDirty, state.hasText) = (now, false, false)
    }
}
