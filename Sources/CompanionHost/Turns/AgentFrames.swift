import CompanionWire
import FoundationEssentials

/// Makes frames of what an agent says, as clients of both versions show them.
struct AgentFrames: Sendable {
    /// What was said of each tool that has not ended.
    private var tools: [ByteText: String] = [:]
    /// What was last reported of each of them.
    private var reports: [ByteText: ToolReport] = [:]
    private var ended: Set<ByteText> = []
    private var lastLabel: String?
    private(set) var mode: AgentMode?
    /// Whether the answer's text has a line to be ended.
    private var isInLine = false
    /// Questions that were answered since the agent said anything.
    private var answered: [HostQuestion] = []

    mutating func take(_ event: AgentEvent) -> [TurnEvent] {
        switch event {
        case .question(let question): self.question(question)
        // Neither a count nor a sign of life is work: they also come at the end of a turn that failed.
        case .usage, .signOfLife: said(event)
        default: finish() + said(event)
        }
    }

    /// What there is to say at the end of a turn that ended well.
    mutating func finish() -> [TurnEvent] {
        defer { answered = [] }
        return answered.map { .question(QuestionNotice(.continued, $0)) }
    }

    private mutating func said(_ event: AgentEvent) -> [TurnEvent] {
        switch event {
        case .thought(let text):
            return status("Thinking") + (text.isEmpty ? [] : Self.pieces(of: text).map { .thought($0) })
        case .signOfLife, .question: return []
        case .status(let label): return status(label)
        case .text(let text):
            lastLabel = nil
            if !text.isEmpty { isInLine = !text.ends(with: "\n") }
            return Self.pieces(of: text).map { .text($0) }
        case .notice(let text):
            defer { isInLine = false }
            return [.text("\(isInLine ? "\n\n" : "")> \(text)\n\n")]
        case .media(let media): return [.media(media)]
        case .plan(let steps): return plan(steps) + [.plan(steps)]
        case .tool(let call): return tool(call)
        case .mode(let name):
            guard let named = AgentMode(name), mode?.name.isSame(as: named.name) != true else { return [] }
            mode = named
            return status("Mode: \(named.name)") + [.mode(named)]
        case .usage(let usage): return [.usage(usage)]
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

    /// With a status line, for clients that do not know questions.
    private mutating func question(_ question: HostQuestion) -> [TurnEvent] {
        lastLabel = nil
        let label: String
        switch question.state {
        case .open: return status("Waiting for an answer: \(question.title)") + [.question(.init(.asked, question))]
        case .cancelled: return [.question(QuestionNotice(.decided, question))]
        case .approved, .rejected:
            let person = question.decidedBy ?? "Someone"
            let state = question.state.rawValue
            let answer = question.chosen.map { "said “\(AgentOption.shown($0))” (\(state))" }
            label = "\(person) \(answer ?? "\(state) it")"
        case .expired, .interrupted: label = "Nobody answered within \(question.time): rejected"
        }
        answered.append(question)
        return status(label) + [.question(QuestionNotice(.decided, question))]
    }

    /// The same twice in a row is said once.
    private mutating func status(_ label: String) -> [TurnEvent] {
        guard lastLabel?.isSame(as: label) != true else { return [] }
        lastLabel = label
        return [.status(label)]
    }

    private mutating func plan(_ steps: [AgentPlanStep]) -> [TurnEvent] {
        guard !steps.isEmpty else { return [] }
        let done = steps.count { $0.status == .completed }
        let next = steps.first { $0.status == .inProgress } ?? steps.first { $0.status == .pending }
        let step = next.map { ": \($0.text)" } ?? ""
        return status("Plan, \(done) of \(steps.count) done\(step)")
    }

    private mutating func tool(_ call: AgentToolCall) -> [TurnEvent] {
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

    private static func report(of call: AgentToolCall) -> ToolReport {
        var left = changesSize
        let changes = (call.hasEnded ? call.diffs : []).compactMap { diff -> ToolReport.Change? in
            // A scalar has up to four bytes.
            guard left >= 4 else { return nil }
            let text = pieces(of: diff.unified, size: left)[0]
            left -= text.utf8.count
            return ToolReport.Change(path: diff.path, diff: text)
        }
        return ToolReport(
            id: call.id,
            title: call.title,
            kind: call.kind,
            status: call.status,
            locations: call.locations,
            changes: changes,
            asked: call.wasAsked
        )
    }

    /// What became of a tool, in a line or two: where it worked, what it changed, what it gave.
    private static func details(of call: AgentToolCall) -> String? {
        var parts = call.diffs.map { diff in
            let (added, removed) = diff.counts
            return "\(diff.path) +\(added) −\(removed)"
        }
        if parts.isEmpty {
            parts = call.locations.map { $0.path + ($0.line.map { ":\($0)" } ?? "") }
        }
        if let output = call.output, !output.isEmpty { parts.append(output) }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }
}

extension AgentToolCall {
    /// Whether nothing more is done for it.
    var hasEnded: Bool { status == .completed || status == .failed }
}

extension HostQuestion {
    /// How long it could be answered.
    fileprivate var time: String {
        let seconds = Int(expiresAt.timeIntervalSince(askedAt).rounded())
        return seconds % 60 == 0 && seconds > 60 ? "\(seconds / 60) min" : "\(seconds) s"
    }
}
