import CompanionWire
import FoundationEssentials

/// The content of one notification. Without ``title`` it has no content: no prompt, no path, no name of a tool.
struct NotifyMessage: Sendable, Hashable, Encodable {
    enum Kind: String, Encodable {
        /// An agent waits for an answer.
        case asked
        /// It has one, or needs none any more.
        case answered
        /// A turn that took long has ended.
        case finished
        case test
    }

    let kind: Kind
    /// The name of the host.
    let host: String
    let at: Date
    /// A sentence for people.
    let message: String
    /// The id of the question.
    var questionId: String?
    /// A short description of the action that the agent wants to take.
    var title: String?
    /// How the question or the turn has ended.
    var outcome: String?

    private enum CodingKeys: String, CodingKey {
        case kind = "event"
        case host, at, message, questionId, title, outcome
    }

    private init(_ kind: Kind, at host: String, now: Date, _ message: String) {
        (self.kind, self.host, self.at, self.message) = (kind, host, now, message)
    }

    static func asked(_ question: Approval, detail: NotifySettings.Detail, at host: String, now: Date) -> NotifyMessage
    {
        let title = detail == .title ? TerminalText.line(question.title.oneLine(atMost: 200)) : nil
        var message = NotifyMessage(
            .asked,
            at: host,
            now: now,
            "An agent at \(host) asks" + (title.map { ": \($0)" } ?? "")
        )
        (message.questionId, message.title) = (question.id, title)
        return message
    }

    static func answered(_ question: Approval, at host: String, now: Date) -> NotifyMessage {
        let what =
            switch question.state {
            case .approved: "was approved"
            case .rejected: "was rejected"
            case .expired: "was not answered in time"
            default: "needs no answer any more"
            }
        var message = NotifyMessage(.answered, at: host, now: now, "The question of an agent at \(host) \(what)")
        (message.questionId, message.outcome) = (question.id, question.state.rawValue)
        return message
    }

    static func finished(_ state: TurnState, at host: String, now: Date) -> NotifyMessage {
        let what =
            switch state {
            case .finished: "is done"
            case .cancelled: "was cancelled"
            default: "failed"
            }
        var message = NotifyMessage(.finished, at: host, now: now, "A turn at \(host) \(what)")
        message.outcome = state.rawValue
        return message
    }

    static func test(at host: String, now: Date) -> NotifyMessage {
        NotifyMessage(.test, at: host, now: now, "This is a test from \(host)")
    }

    // MARK: Bodies

    /// The body of a request, in JSON.
    func body(for service: NotifyTarget.Service) throws -> [UInt8] {
        let encoder = CompanionJSON.encoder(sorted: true)
        guard case .ntfy(let topic, let click) = service else { return Array(try encoder.encode(self)) }
        let (tag, priority) =
            switch kind {
            case .asked: ("question", 4)
            case .answered: (outcome == Approval.State.approved.rawValue ? "heavy_check_mark" : "x", 2)
            case .finished: ("checkered_flag", 3)
            case .test: ("bell", 3)
            }
        let ntfy = NtfyMessage(
            topic: topic,
            title: "pairtool",
            message: message,
            tags: [tag],
            priority: priority,
            click: click
        )
        return Array(try encoder.encode(ntfy))
    }

    /// A message as ntfy takes it. Priorities go from 1 (lowest) to 5.
    private struct NtfyMessage: Encodable {
        var topic: String
        var title: String
        var message: String
        var tags: [String]
        var priority: Int
        var click: String?
    }
}
