import CompanionWire
import FoundationEssentials
import Markdown
import NIOConcurrencyHelpers

/// Shows an answer at a terminal while it comes: its Markdown, and a line below it that shows that the turn runs.
///
/// It is the only one that writes to the terminal meanwhile.
final class AnswerScreen: Sendable {
    private struct State {
        var stream: MarkdownStream
        var region: LiveRegion
        var progress = TurnProgress()
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

    private let context: CommandContext
    private let begin: Date
    private let state: NIOLockedValueBox<State>

    /// The shortest time between two drawings.
    private static let pause = 1.0 / 30
    /// More finished text than this is drawn at once.
    private static let mostFinished = 64 << 10

    init(context: CommandContext, options: MarkdownOptions) {
        self.context = context
        begin = context.now()
        // xterm cuts rows that are too wide for a narrower window, others break them.
        let breaksRows = context.environment["XTERM_VERSION"] == nil
        state = NIOLockedValueBox(State(stream: MarkdownStream(options), region: LiveRegion(breaksRows: breaksRows)))
        context.drawing.set(
            TerminalDrawing.Control(
                insert: { [weak self] in self?.insert($0) ?? false },
                hold: { [weak self] in self?.hold($0) }
            )
        )
    }

    /// Runs a body while the line below the answer moves on.
    func run<R>(_ body: () async throws -> R) async throws -> R {
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

    /// Appends a piece of the answer.
    func write(_ text: String) {
        state.withLockedValue { state in
            state.stream.feed(text)
            (state.isDirty, state.hasText) = (true, true)
            draw(&state)
        }
    }

    /// Changes what the line below the answer says.
    func update(_ change: (inout TurnProgress) -> Void) {
        state.withLockedValue { state in
            change(&state.progress)
            state.isDirty = true
            draw(&state)
        }
    }

    /// Ends the open block of the answer, and writes a line below it.
    func note(_ text: String) {
        state.withLockedValue { state in
            state.stream.endBlock()
            let columns = context.windowSize()?.columns
            insert(IndentedText.of(TerminalText.line(text), first: 0, columns: columns) + "\n", in: &state)
        }
    }

    /// Writes lines of somebody else, which are safe to show, above the open block.
    ///
    /// - Returns: Whether the answer has not ended.
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

    /// Ends the answer: everything is written, and the line below is gone.
    func end() {
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

    /// A summary of the turn, once it has ended: time, tools, changed files, tokens and mode.
    var summary: String {
        state.withLockedValue { $0.progress.summary(elapsed: context.now().timeIntervalSince(begin)) }
    }

    private func draw(_ state: inout State, isForced: Bool = false, showsProgress: Bool = true) {
        guard !state.hasEnded, !state.isHeld else { return }
        let now = context.now()
        let since = now.timeIntervalSince(state.hasText ? state.lastText : state.lastDrawing)
        state.finished += state.stream.takeRows()
        // A text that takes long to draw is drawn less often.
        let isDue = since < 0 || since >= max(Self.pause, 4 * state.cost)
        guard isForced || isDue || state.finished.count > Self.mostFinished else { return }
        let progress = TurnProgress.frame(elapsed: now.timeIntervalSince(begin))
        guard isForced || state.isDirty || progress != state.progress.lastFrame else { return }
        state.progress.lastFrame = progress
        let window = context.windowSize() ?? CommandContext.WindowSize(columns: 80, rows: 24)
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
            rows: window.rows
        )
        state.cost = (ContinuousClock.now - clock) / .seconds(1)
        out.withUnsafeBytes { if !$0.isEmpty { context.stdout.write($0) } }
        state.finished.removeAll(keepingCapacity: true)
        if state.hasText { state.lastText = now }
        (state.lastDrawing, state.isDirty, state.hasText) = (now, false, false)
    }
}

/// The progress of a running turn, as far as the host reports it.
struct TurnProgress: Sendable {
    /// The host's own words for its current work; nil if it gave none, or if a tool has begun since.
    var status: String?
    /// The tools that run, the last one at the end, by their ids.
    private var running: [(id: String?, name: String)] = []
    /// How often each tool ran, in the order of their first runs.
    private var tools: [(name: String, count: Int)] = []
    private var tokens: Int?
    /// How many files the agent has changed, where the host has said it.
    var changedFiles: Int?
    /// How freely the agent works, where the host has said it.
    var mode: AgentMode?
    var lastFrame = ""

    private static let frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]

    mutating func begin(_ tool: String, id: String?) {
        running.append((id, tool))
        status = nil
        if let index = tools.firstIndex(where: { $0.name.isSame(as: tool) }) {
            tools[index].count += 1
        } else {
            tools.append((tool, 1))
        }
    }

    mutating func end(_ tool: String, id: String?) {
        let index = running.lastIndex { running in
            id.map { running.id?.isSame(as: $0) ?? false } ?? running.name.isSame(as: tool)
        }
        if let index { running.remove(at: index) }
    }

    mutating func count(_ usage: TurnUsage) {
        tokens = usage.totalTokens ?? TurnUsage.sum(usage.inputTokens, usage.outputTokens) ?? tokens
    }

    /// The moving part, and the time: they change even if nothing else does.
    static func frame(elapsed: Double) -> String {
        frames[Int(max(0, elapsed) * 10) % frames.count] + " " + time(max(0, elapsed))
    }

    func line(elapsed: Double, columns: Int) -> String {
        let doing = status ?? running.last.map { "⚙ \($0.name)" }
        let parts = [Self.frame(elapsed: elapsed), doing, tokens.map(Self.tokens), mode?.text]
        return DisplayWidth.cut(TerminalText.line(parts.compactMap(\.self).joined(separator: " · ")), to: columns)
    }

    func summary(elapsed: Double) -> String {
        let names = tools.map { $0.count == 1 ? $0.name : "\($0.name) ×\($0.count)" }
        let used = names.isEmpty ? nil : "tools: " + names.joined(separator: ", ")
        return [
            Self.time(elapsed), used, changedFiles.map(Self.changed), tokens.map(Self.tokens),
            mode.map { TerminalText.line($0.text) },
        ].compactMap(\.self).joined(separator: " · ")
    }

    static func changed(_ files: Int) -> String {
        files == 1 ? "1 file changed" : "\(files) files changed"
    }

    private static func tokens(_ count: Int) -> String {
        count == 1 ? "1 token" : "\(count) tokens"
    }

    /// Whole seconds, which do not make the line jump.
    private static func time(_ seconds: Double) -> String {
        let seconds = Int(seconds)
        return seconds < 60 ? "\(seconds) s" : TimeText.span(Double(seconds))
    }
}
