import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import Identity
import Terminal

/// Shows a turn while it runs: the answer on standard output, tools and status on standard error; or both at a terminal
/// that shows Markdown.
struct TurnWriter: TurnDisplay {
    let output: Output
    let chatID: String
    /// The host to name in messages about its connection; nil shows its address.
    private let host: PairedHost?
    private var endsLine = true
    private var wroteText = false
    /// The last message about a lost connection. Every retry repeats it, but it is shown once.
    private var lastNotice: String?
    /// Since when the agent thinks.
    private var thinkingSince: Date?
    /// Whether the user has answered the last question here, and its tool has not ended.
    private var hasAnswered = false
    /// The steps of the plan that was shown last.
    private var lastPlan: [String] = []
    private let screen: LiveText<TurnProgress>?
    private let allowed: AllowedTools
    /// The kinds of tools that a line has named as neither allowed nor asked about.
    private var unaskedKinds: Set<ByteText> = []

    /// - Parameter allowedTools: The tools that the agent may use unasked; nil for all.
    init(output: Output, chatID: String, host: PairedHost? = nil, allowedTools: [String]? = nil) {
        self.output = output
        self.chatID = chatID
        self.host = host
        allowed = AllowedTools(allowedTools)
        screen = output.markdown.map { LiveText(TurnProgress(), context: output.context, options: $0) }
    }

    /// Runs the turn. At a terminal, a line shows that it runs.
    func run<R>(_ body: () async throws -> R) async throws -> R {
        guard let screen else { return try await body() }
        return try await screen.run(body)
    }

    mutating func write(_ event: TurnEvent) {
        var event = event
        if case .recovering(let notice) = event, let host { event = .recovering(host.naming(notice)) }
        switch output.format {
        case .json: output.json(TurnLine(event: event, chatID: chatID))
        case .quiet: break
        case .text: if let screen { show(event, on: screen) } else { writeText(event) }
        }
    }

    private mutating func show(_ event: TurnEvent, on screen: LiveText<TurnProgress>) {
        if let since = thinkingSince, event.endsThinking {
            thinkingSince = nil
            let time = Duration.seconds(Int64(max(0, output.context.now().timeIntervalSince(since))))
            screen.note("✻ Thought for \(time.roughly)")
        }
        switch event {
        case .text(let text):
            guard !text.isEmpty else { return }
            lastNotice = nil
            screen.write(text)
        case .status(let label): screen.update { $0.status = label }
        case .toolStart(let name, let id): screen.update { $0.begin(name, id: id) }
        case .toolComplete(let name, let id, let success, let details):
            screen.update { $0.end(name, id: id) }
            screen.note(Self.end(of: name, success: success, details: details))
        case .usage(let usage): screen.update { $0.count(usage) }
        case .mode(let mode): screen.update { $0.mode = mode }
        case .question(let notice):
            switch notice.phase {
            case .asked: screen.update { $0.status = "waits for an answer: \(notice.title)" }
            case .decided:
                screen.update { $0.status = nil }
                // Who answered by a key has seen the answer, and what the tool would do.
                hasAnswered = output.context.answers.has(notice.answer, to: notice.id)
                if !hasAnswered { screen.note(notice.ending) }
            case .continued: screen.note("The agent continues.")
            }
        // Folded: how long it thought is shown, and what it thought is in the JSON.
        case .thought: thinkingSince = thinkingSince ?? output.context.now()
        case .plan(let steps): show(steps, on: screen)
        case .tool(let tool): show(tool, on: screen)
        case .done, .failed: if let files = event.changedFiles { screen.update { $0.changedFiles = files } }
        case .recovering(let notice):
            guard notice != lastNotice else { return }
            lastNotice = notice
            screen.note(notice)
        case .finished:
            screen.end()
            if let summary = screen.progress.summary(elapsed: screen.elapsed) {
                output.context.stderr.write(output.faintMessage(summary) + "\n")
            }
        // The answer has the place of a picture.
        case .begun, .media, .acp, .unknown: break
        }
    }

    /// Rows of a tool's changes, and steps of a plan, that are shown.
    private static let mostRows = 20
    /// Scalars of one of them.
    private static let rowLength = 200

    private mutating func show(_ plan: [AgentPlanStep], on screen: LiveText<TurnProgress>) {
        let texts = plan.map(\.text)
        // How far it is stands in the line below the answer.
        guard !lastPlan.elementsEqual(texts, by: { $0.isSame(as: $1) }) else { return }
        lastPlan = texts
        for step in plan.prefix(Self.mostRows) {
            let mark = step.status == .completed ? "☑" : "☐"
            screen.note("\(mark) \(step.text.scalars(atMost: Self.rowLength))")
        }
        if plan.count > Self.mostRows { screen.note("… \(plan.count - Self.mostRows) more steps") }
    }

    private mutating func show(_ tool: ToolReport, on screen: LiveText<TurnProgress>) {
        // The line of the tool names the files.
        let wasSeen = hasAnswered && tool.asked == true
        if tool.hasEnded { hasAnswered = false }
        let rows = wasSeen ? [] : tool.changes.flatMap { $0.diff.parts("\n").dropFirst(2) }
        for row in rows.prefix(Self.mostRows) { screen.note("  \(row.scalars(atMost: Self.rowLength))") }
        if rows.count > Self.mostRows {
            screen.note("  … \(rows.count - Self.mostRows) more lines: pairtool changes \(chatID.shortID)")
        }
        if let line = unasked(tool) { screen.note(line) }
    }

    /// The line about a tool that ran, and was neither allowed nor asked about; nil for another tool, and for the later
    /// ones of a kind in this turn.
    private mutating func unasked(_ tool: ToolReport) -> String? {
        guard tool.asked == false, tool.hasEnded, !allowed.covers(kind: tool.kind, title: tool.title),
            unaskedKinds.insert(ByteText(tool.kind)).inserted
        else { return nil }
        let kind = tool.kind.isEmpty ? "" : " (\(tool.kind))"
        return "Neither allowed nor asked about: \(tool.title)\(kind). The agent decides what it asks about."
    }

    private static func end(of tool: String, success: Bool, details: String?) -> String {
        "⚙ \(tool) \(success ? "done" : "failed")" + (details.map { ": \($0)" } ?? "")
    }

    private mutating func writeText(_ event: TurnEvent) {
        switch event {
        case .text(let text):
            guard !text.isEmpty else { return }
            lastNotice = nil
            output.context.stdout.write(TerminalText.block(text))
            endsLine = text.ends(with: "\n")
            wroteText = true
        case .status(let label): note(label)
        case .toolStart(let name, _): note("⚙ \(name) …")
        case .toolComplete(let name, _, let success, let details):
            note(Self.end(of: name, success: success, details: details))
        case .tool(let tool): if let line = unasked(tool) { note(line) }
        case .done, .failed: if let files = event.changedFiles { note(TurnProgress.changed(files)) }
        case .question(let notice):
            // The host's status lines tell the rest.
            if notice.phase == .continued { note("The agent continues.") }
        case .recovering(let notice):
            guard notice != lastNotice else { return }
            lastNotice = notice
            note(notice)
        case .finished: endLine()
        // The host's status line tells the mode.
        case .begun, .usage, .mode, .thought, .plan, .media, .acp, .unknown: break
        }
    }

    /// Ends a line of the answer that has no line break yet.
    mutating func endLine() {
        screen?.end()
        guard output.format == .text, !endsLine else { return }
        output.context.stdout.write("\n")
        endsLine = true
    }

    private mutating func note(_ text: String) {
        let text = TerminalText.line(text)
        guard !text.isEmpty else { return }
        // If both streams share the terminal, a message must not start in the middle of a line of the answer.
        if output.context.stdoutIsTerminal, output.context.stderrIsTerminal, wroteText, !endsLine {
            output.context.stderr.write("\n")
            endsLine = true
        }
        output.context.stderr.write(text + "\n")
    }
}

extension Output {
    /// How this output shows turns.
    var turnView: TurnView {
        TurnView(asksUser: format == .text) { chatID, host, allowedTools in
            TurnWriter(output: self, chatID: chatID, host: host, allowedTools: allowedTools)
        }
    }
}

extension TurnEvent {
    /// Whether the agent does something else than think.
    fileprivate var endsThinking: Bool {
        switch self {
        case .begun, .status, .usage, .done, .failed, .mode, .thought, .unknown: false
        default: true
        }
    }
}

extension ApprovalNotice {
    /// The outcome of a question, as text for users.
    var ending: String {
        let person = decidedBy ?? "Someone"
        if let formVerb { return "\(person) \(formVerb) it" }
        return switch state {
        case .approved, .rejected:
            answer.map { "\(person) answered “\(ApprovalOption.shown($0))” (\(state.rawValue))" }
                ?? "\(person) \(state.rawValue) it"
        case .expired: "Nobody answered in time: rejected"
        default: "The question no longer needs an answer"
        }
    }
}
