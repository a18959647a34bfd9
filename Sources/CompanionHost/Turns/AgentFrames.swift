import CompanionWire

/// Turns the events of an agent into frames that clients of both versions can show.
struct AgentFrames: Sendable {
    /// The names under which the tools that have not ended were shown.
    private var tools: [ByteText: String] = [:]
    /// The last report of each of them.
    private var reports: [ByteText: ToolReport] = [:]
    private var ended: Set<ByteText> = []
    private var lastLabel: String?
    private(set) var mode: AgentMode?
    /// Whether the answer's text so far ends within a line.
    private var isInLine = false
    /// Questions that were answered since the agent said anything.
    private var answered: [ApprovalNotice] = []

    mutating func take(_ event: TurnEvent) -> [TurnEvent] {
        switch event {
        case .question(let notice): question(notice)
        // A count is no work: it also comes at the end of a turn that failed.
        case .usage: [event]
        // The other events say when it goes on.
        case .acp: [event]
        default: finish() + frames(of: event)
        }
    }

    /// Something that people have to know of the conversation itself, as a paragraph of the answer.
    mutating func notice(_ text: String) -> [TurnEvent] {
        defer { isInLine = false }
        return finish() + [.text("\(isInLine ? "\n\n" : "")> \(text)\n\n")]
    }

    /// Returns the frames that are due when the agent goes on, or when its turn ends well: one for each answered
    /// question.
    mutating func finish() -> [TurnEvent] {
        defer { answered = [] }
        return answered.map { notice -> TurnEvent in
            var notice = notice
            notice.phase = .continued
            notice.openFor = nil
            return .question(notice)
        }
    }

    private mutating func frames(of event: TurnEvent) -> [TurnEvent] {
        switch event {
        case .thought(let text):
            return status("Thinking") + (text.isEmpty ? [] : Self.pieces(of: text).map { .thought($0) })
        case .status(let label): return status(label)
        case .text(let text):
            lastLabel = nil
            if !text.isEmpty { isInLine = !text.ends(with: "\n") }
            return Self.pieces(of: text).map { .text($0) }
        case .plan(let steps): return progress(of: steps) + [event]
        case .tool(let call): return tool(call)
        case .toolStart(let name, let id):
            return tool(ToolReport(id: id ?? name, title: name, status: .inProgress))
        case .toolComplete(let name, let id, let success, let details):
            let status = success ? ToolReport.Status.completed : .failed
            return tool(ToolReport(id: id ?? name, title: name, status: status, output: details))
        case .mode(let named):
            guard mode?.name.isSame(as: named.name) != true else { return [] }
            mode = named
            return status("Mode: \(named.name)") + [event]
        // How the turn ended is not the agent's to say, and the last ones are the client's.
        case .done, .failed, .unknown, .begun, .recovering, .finished, .acp: return []
        case .usage, .question, .media: return [event]
        }
    }

    /// Bytes of text in one frame: clients bound the length of a line.
    private static let pieceSize = 16 << 10

    /// A text in pieces of at most so many bytes, which split no scalar.
    private static func pieces(of text: String, size: Int = pieceSize) -> [String] {
        var text = text
        guard text.utf8.count > size else { return [text] }
        return text.withUTF8 { bytes in
            var pieces: [String] = []
            var start = 0
            while start < bytes.count {
                var end = min(start + size, bytes.count)
                while end < bytes.count, bytes[end] & 0xC0 == 0x80 { end -= 1 }
                pieces.append(String(decoding: bytes[start..<end], as: UTF8.self))
                start = end
            }
            return pieces
        }
    }

    /// The frames of a question's notice, with a status line for clients that do not know questions.
    private mutating func question(_ notice: ApprovalNotice) -> [TurnEvent] {
        lastLabel = nil
        let label: String
        switch notice.state {
        case .open: return status("Waiting for an answer: \(notice.title)") + [.question(notice)]
        case .cancelled: return [.question(notice)]
        case .approved, .rejected:
            let person = notice.decidedBy ?? "Someone"
            let state = notice.state.rawValue
            let answer = notice.answer.map { "said “\(ApprovalOption.shown($0))” (\(state))" }
            label = "\(person) \(notice.formVerb.map { "\($0) it" } ?? answer ?? "\(state) it")"
        default: label = "Nobody answered within \(Self.time(notice.openFor ?? 0)): rejected"
        }
        answered.append(notice)
        return status(label) + [.question(notice)]
    }

    /// How long a question could be answered.
    private static func time(_ seconds: Double) -> String {
        let seconds = Int(seconds.rounded())
        return seconds % 60 == 0 && seconds > 60 ? "\(seconds / 60) min" : "\(seconds) s"
    }

    /// The frame of a status; none if it repeats the last one.
    private mutating func status(_ label: String) -> [TurnEvent] {
        guard lastLabel?.isSame(as: label) != true else { return [] }
        lastLabel = label
        return [.status(label)]
    }

    private mutating func progress(of steps: [AgentPlanStep]) -> [TurnEvent] {
        guard !steps.isEmpty else { return [] }
        let done = steps.count { $0.status == .completed }
        let next = steps.first { $0.status == .inProgress } ?? steps.first { $0.status == .pending }
        let step = next.map { ": \($0.text)" } ?? ""
        return status("Plan, \(done) of \(steps.count) done\(step)")
    }

    private mutating func tool(_ call: ToolReport) -> [TurnEvent] {
        let id = ByteText(call.id)
        if ended.contains(id) {
            // It may tell more of a tool that has ended. One that is at work is another call with the same id.
            guard !call.hasEnded else { return [] }
            ended.remove(id)
        }
        var frames: [TurnEvent] = []
        lastLabel = nil
        if tools[id] == nil { frames.append(.toolStart(name: call.title, id: call.id)) }
        let name = tools[id] ?? call.title
        switch call.status {
        case .completed, .failed:
            tools[id] = nil
            ended.insert(id)
            let isDone = call.status == .completed
            frames.append(
                .toolComplete(name: name, id: call.id, success: isDone, details: Self.details(of: call))
            )
        case .pending, .inProgress: tools[id] = name
        }
        let report = Self.report(of: call)
        let saysMore =
            !report.kind.isEmpty || !report.locations.isEmpty || !report.changes.isEmpty
            || report.asked == false && call.hasEnded
        if saysMore, reports[id] != report { frames.append(.tool(report)) }
        reports[id] = ended.contains(id) ? nil : report
        return frames
    }

    /// Bytes of a tool's changes that readers get; `pairtool changes` has all of them.
    private static let changesSize = 64 << 10

    /// The report as its frame has it.
    private static func report(of call: ToolReport) -> ToolReport {
        var report = call
        report.output = nil
        var left = changesSize
        report.changes = (call.hasEnded ? call.changes : []).compactMap { change -> ToolReport.Change? in
            // A scalar has up to four bytes.
            guard left >= 4 else { return nil }
            let text = pieces(of: change.diff, size: left)[0]
            left -= text.utf8.count
            return ToolReport.Change(path: change.path, diff: text)
        }
        return report
    }

    /// A short text about a tool that has ended: its changes, else the places where it worked, and its output. nil for
    /// none.
    private static func details(of call: ToolReport) -> String? {
        var parts = call.changes.map { change in
            let (added, removed) = change.counts
            return "\(change.shownPath) +\(added) −\(removed)"
        }
        if parts.isEmpty {
            parts = call.locations.map { $0.path + ($0.line.map { ":\($0)" } ?? "") }
        }
        if let output = call.output, !output.isEmpty { parts.append(output) }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }
}
