internal import Dispatch
internal import Glibc
internal import Synchronization

/// Reads lines from a terminal with editing and a history (emacs keys).
///
/// From the first line until ``release()``, nothing that is typed is echoed by the terminal: what is
/// typed between two lines is kept for the next one. Reading blocks a thread of its own, not the caller's.
package final class LineEditor: @unchecked Sendable {
    // Safe because what changes (`state` and the variables after it) is used on `queue` alone, one block
    // at a time; the rest is constant, atomic or locked.

    /// The result of reading a line.
    package enum Input: Sendable, Hashable {
        /// A line, without its end. It may contain line feeds.
        case line(String)
        /// The text is to be changed in an editor and then given to ``readLine(_:)``.
        case edit(String)
        /// Ctrl-C: what was typed is dropped.
        case dropped(wasEmpty: Bool)
        /// The input has ended (Ctrl-D on an empty line).
        case end
        /// A signal came.
        case interrupted
    }

    /// Finds the possible replacements of the word before the cursor; nil for none.
    package typealias Completer = @Sendable (CompletionRequest) async -> Completion?

    /// More is not kept of what is typed between two lines.
    private static let mostTypedAhead = 64 << 20

    private let queue = DispatchQueue(label: "pairtool.line-editor")
    private let mode: TerminalMode
    private let input: TerminalInput
    private let wakeWriter: Int32
    private let prompt: String
    private let rule: Glyph.Rule
    private let reflows: Bool
    private let completer: Completer?
    /// Whether what is typed is to be kept while no line is read.
    private let keepsTyped = Atomic(false)
    /// Lines for the history, until the next line begins.
    private let remembered = Mutex<[String]>([])
    private let completed = Mutex<[(request: CompletionRequest, completion: Completion)]>([])
    private let front = Mutex<Bool?>(nil)

    private var state: LineState
    private var renderer: LineRenderer
    private var typed: [UInt8] = []
    private var hasEnded = false
    private var reports = FocusReports()
    /// Whether this terminal has ever reported who has the focus.
    private var hasReports = false
    /// How many of the next bytes the terminal had taken in its original mode, which turns Enter into a line feed.
    private var earlier = 0
    /// The candidates that were asked for. Keys wait for them, so that what is typed next follows what is inserted.
    private var pending: CompletionRequest?
    /// Whether this process stopped itself, so that being continued is no news.
    private var expectsContinue = false

    /// - Parameters:
    ///   - prompt: What stands before the line.
    ///   - history: Earlier lines, oldest first.
    ///   - reflows: Whether the terminal breaks rows that are too long when its window gets narrower.
    ///   - interruptDescriptor: Becomes readable when a signal came; reading then ends.
    ///   - rule: What the terminal shows for a character.
    /// - Returns: nil where the terminal cannot be used.
    package init?(
        prompt: String,
        history: [String] = [],
        reflows: Bool = true,
        interruptDescriptor: Int32,
        rule: @escaping Glyph.Rule,
        completer: Completer? = nil
    ) {
        guard let mode = TerminalMode() else { return nil }
        let wake = WakePipe.make()
        (self.mode, self.prompt, self.rule, self.reflows, self.completer) = (mode, prompt, rule, reflows, completer)
        wakeWriter = wake.writer
        input = TerminalInput(interruptDescriptor: interruptDescriptor, wakeDescriptor: wake.reader)
        state = LineState(history: history)
        renderer = LineRenderer(prompt: prompt, size: TerminalOutput.size, reflows: reflows, rule: rule)
    }

    deinit {
        mode.restore()
        Glibc.close(input.wakeDescriptor)
        Glibc.close(wakeWriter)
    }

    /// Whether the terminal's window has the keyboard's focus; nil if the terminal has not said so, or was given back.
    package var isInFront: Bool? { mode.isSet ? front.withLock(\.self) : nil }

    /// Puts a line into the history; Arrow-Up brings it back.
    package func remember(_ line: String) {
        remembered.withLock { $0.append(line) }
    }

    /// Reads a line. One call at a time. From then on, what is typed is kept for the next line.
    ///
    /// - Parameter text: What is in the line at first; nil leaves what was typed.
    package func readLine(_ text: String? = nil) async -> Input {
        stopKeeping()
        return await withCheckedContinuation { continuation in
            queue.async { [self] in
                if let text { state.replace(text) }
                let result = edit()
                startKeeping()
                continuation.resume(returning: result)
            }
        }
    }

    /// Reads a single line, and gives the terminal back. Blocks; one call at a time.
    ///
    /// - Parameter text: What is in the line at first.
    package func readOnce(_ text: String) -> Input {
        queue.sync {
            state.replace(text)
            defer {
                mode.restore()
                TerminalSignals.remove()
            }
            return edit()
        }
    }

    /// Gives the terminal back, so that something else can read from it.
    ///
    /// - Returns: Whether this editor had it. Then ``hold()`` or the next line takes it again.
    @discardableResult
    package func release() -> Bool {
        guard stopKeeping() else { return false }
        queue.sync {
            mode.restore()
            TerminalSignals.remove()
        }
        return true
    }

    /// Takes the terminal again: what is typed is kept for the next line.
    package func hold() {
        stopKeeping()
        queue.sync { startKeeping() }
    }

    /// Runs a body that may read from the terminal, and takes the terminal again if this editor had it. Blocks.
    package func released<R>(_ body: () throws -> R) rethrows -> R {
        let hadTerminal = release()
        defer { if hadTerminal { hold() } }
        return try body()
    }

    /// Restores the terminal's mode at once. May be called on any thread, also when the process is about to end.
    package func restore() {
        mode.restore()
    }

    /// - Returns: Whether what is typed was kept.
    @discardableResult
    private func stopKeeping() -> Bool {
        let wasKeeping = keepsTyped.exchange(false, ordering: .sequentiallyConsistent)
        if wasKeeping { WakePipe.write(0, to: wakeWriter) }
        return wasKeeping
    }
}

// MARK: On the queue

extension LineEditor {
    private func startKeeping() {
        enter(.holding)
        keepsTyped.store(true, ordering: .sequentiallyConsistent)
        queue.async { [self] in keepTyped() }
    }

    /// Keeps what is typed for the next line, until something else is to be done.
    private func keepTyped() {
        while keepsTyped.load(ordering: .sequentiallyConsistent) {
            // At the end of the input, only the caller ends the wait.
            let events = input.wait(reads: !hasEnded, endsWithInterrupt: false)
            _ = take(events.signals, mode: .holding)
            if events.isReadable { readTyped() }
        }
    }

    private func readTyped() {
        guard var bytes = TerminalInput.read() else {
            hasEnded = true
            return
        }
        for index in bytes.indices.prefix(earlier) where bytes[index] == UInt8(ascii: "\n") {
            bytes[index] = UInt8(ascii: "\r")
        }
        earlier -= min(earlier, bytes.count)
        if let isFront = reports.take(bytes) {
            hasReports = true
            front.withLock { $0 = isFront }
        } else if hasReports {
            // The user types here. A terminal that reports focus would have said if they had left.
            front.withLock { $0 = $0 ?? true }
        }
        if typed.count < Self.mostTypedAhead { typed += bytes }
    }

    private func enter(_ kind: TerminalMode.Kind) {
        TerminalSignals.install()
        guard let earlier = mode.set(kind) else { return }
        self.earlier = earlier
        front.withLock { $0 = nil }
    }

    /// Stops until the process is continued.
    ///
    /// - Parameter group: Whether to stop all of the foreground job.
    private func stop(group: Bool, then kind: TerminalMode.Kind) {
        mode.restore()
        expectsContinue = true
        TerminalSignals.stop(group: group)
        enter(kind)
    }

    /// - Returns: Whether the screen may show something else now.
    private func take(_ signals: Set<Int32>, mode kind: TerminalMode.Kind) -> Bool {
        if signals.contains(SIGQUIT) {
            mode.restore()
            TerminalSignals.quit()
        }
        if signals.contains(SIGTSTP) {
            if kind == .editing { finish() }
            stop(group: false, then: kind)
            return true
        }
        guard signals.contains(SIGCONT) else { return false }
        defer { expectsContinue = false }
        guard !expectsContinue else { return false }
        // The signal that stopped it cannot be caught, and the shell has set the terminal for itself since.
        mode.restore()
        enter(kind)
        return true
    }

    private func makeRenderer() -> LineRenderer {
        LineRenderer(prompt: prompt, size: TerminalOutput.size, reflows: reflows, rule: rule)
    }

    /// Reads until there is a line.
    private func edit() -> Input {
        enter(.editing)
        state.begin()
        pending = nil
        for line in remembered.withLock({ lines in
            defer { lines = [] }
            return lines
        }) { state.remember(line) }
        renderer = makeRenderer()
        while true {
            for answer in takeCompletions() where answer.request == pending {
                pending = nil
                _ = perform(state.complete(answer.request, with: answer.completion))
            }
            if let result = takeTyped() { return result }
            // While more is there to be read, drawing would be lost work.
            if hasEnded || TerminalInput.available == 0 {
                renderer.resize(TerminalOutput.size)
                TerminalOutput.write(renderer.draw(state))
            }
            if hasEnded { return over(.end) }
            let events = input.wait(state.limit, endsWithInterrupt: true)
            if events.isInterrupted { return over(.interrupted) }
            if take(events.signals, mode: .editing) { renderer = makeRenderer() }
            if events.isReadable { readTyped() }
            if events.isTimeOut, let result = perform(state.endWait()) { return result }
        }
    }

    /// The answers that have come. Those to earlier requests may come late.
    private func takeCompletions() -> [(request: CompletionRequest, completion: Completion)] {
        completed.withLock { answers in
            defer { answers = [] }
            return answers
        }
    }

    private func takeTyped() -> Input? {
        // Ctrl-C does not wait for candidates.
        if typed.contains(0x03) { pending = nil }
        guard pending == nil else { return nil }
        var rest = typed[...]
        defer { typed = Array(rest) }
        while pending == nil, let action = state.take(&rest) {
            if let result = perform(action) { return result }
        }
        return nil
    }

    private func finish() {
        renderer.resize(TerminalOutput.size)
        TerminalOutput.write(renderer.finish(state))
    }

    private func over(_ input: Input) -> Input {
        finish()
        return input
    }

    /// - Returns: The end of the line, if it is one.
    private func perform(_ action: LineState.Action?) -> Input? {
        switch action {
        case nil: return nil
        case .accept(let text): return over(.line(text))
        case .edit(let text): return over(.edit(text))
        case .drop(let wasEmpty): return over(.dropped(wasEmpty: wasEmpty))
        case .end: return over(.end)
        case .complete(let request): complete(request)
        case .clearScreen: TerminalOutput.write(renderer.clearScreen())
        case .suspend:
            finish()
            stop(group: true, then: .editing)
        case .bell: TerminalOutput.write("\u{7}")
        }
        return nil
    }

    /// Asks for candidates; the answer ends the wait for the next key.
    private func complete(_ request: CompletionRequest) {
        guard let completer else { return TerminalOutput.write("\u{7}") }
        pending = request
        Task {
            let completion = await completer(request) ?? Completion(word: "", candidates: [])
            completed.withLock { $0.append((request, completion)) }
            WakePipe.write(0, to: wakeWriter)
        }
    }
}
