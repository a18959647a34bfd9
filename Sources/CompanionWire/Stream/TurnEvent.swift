/// An event of a turn, from the agent over the host and its frames to the screen.
///
/// A new kind of event is a case here, its JSON in ``TurnFrames``, and its line on the screen.
package enum TurnEvent: Sendable, Hashable {
    /// The work of the host at this moment, for people.
    case status(String)
    /// A piece of the answer, to be appended to what came before.
    case text(String)
    /// A tool begins, for readers that do not know ``tool(_:)``.
    case toolStart(name: String, id: String?)
    /// A tool has ended. `details`: at most 280 UTF-16 units in a frame.
    case toolComplete(name: String, id: String?, success: Bool, details: String?)
    case usage(TurnUsage)
    /// How freely the agent works from now on, in its words. Readers of before ignore it and the next ones.
    case mode(AgentMode)
    /// A question of the agent was asked or decided, or the agent went on after it.
    case question(ApprovalNotice)
    /// A piece of what the agent thinks, to be appended to what came before.
    case thought(String)
    /// All steps of the agent's plan, in place of those of an earlier one.
    case plan([AgentPlanStep])
    /// A call of a tool, as far as it is.
    case tool(ToolReport)
    /// A picture or a sound of the answer.
    case media(AgentMedia)
    /// The same in the agent's own words, in turns that were asked for so (`content` of `chat.send`).
    case acp(ACPFrame)
    /// The model has finished. **Not the end**: text may follow it. `files`: how many files the agent has changed; nil
    /// for none, and where they were not counted.
    case done(files: Int?)
    /// The turn failed; the stream ends without `[DONE]`.
    case failed(TurnFailure)
    /// A frame of a type that this version does not know, or one that does not decode.
    case unknown(type: String)

    // Of the client alone: there are no frames for these.

    /// The host runs the turn under this id, whether or not anyone keeps reading.
    case begun(turnID: String)
    /// The stream broke, and the rest of the answer is looked for. The text is a notice for the user.
    case recovering(String)
    /// The last event.
    case finished(FinishedTurn)
}

/// The result of a turn.
package struct FinishedTurn: Sendable, Hashable {
    /// The whole answer.
    package var answer: String
    /// The tokens of the answer; nil if the host did not count them.
    package var usage: TurnUsage?
    /// Whether the end of the answer came over another connection, or was read from the history.
    package var wasRecovered: Bool

    package init(answer: String, usage: TurnUsage?, wasRecovered: Bool) {
        self.answer = answer
        self.usage = usage
        self.wasRecovered = wasRecovered
    }
}

/// The reason why a turn failed.
package struct TurnFailure: Sendable, Hashable {
    /// For people.
    package var text: String
    /// How many files the agent has changed until then; nil for none, and where they were not counted.
    package var files: Int?
    /// Why the host's agent answers nobody: ``CompanionErrorCode/isOfAgent``. nil for all else.
    package var code: CompanionErrorCode?

    package init(_ text: String, files: Int? = nil, code: CompanionErrorCode? = nil) {
        self.text = text
        self.files = files
        self.code = code
    }
}

/// The count of an answer's tokens.
package struct TurnUsage: Codable, Sendable, Hashable {
    /// The tokens of the prompt; nil if the host does not tell them.
    package var inputTokens: Int?
    /// The tokens of the answer; nil if the host does not tell them.
    package var outputTokens: Int?
    /// The sum as the host counts it; nil if it does not tell it.
    package var totalTokens: Int?
    /// The id of the model that answered; nil if the host does not tell it.
    package var model: String?

    package init(inputTokens: Int? = nil, outputTokens: Int? = nil, totalTokens: Int? = nil, model: String? = nil) {
        self.inputTokens = inputTokens
        self.outputTokens = outputTokens
        self.totalTokens = totalTokens
        self.model = model
    }

    /// The sum of two counts of tokens; one of them alone where the other is nil. Nil where both are, and where the sum
    /// is too large.
    package static func sum(_ a: Int?, _ b: Int?) -> Int? {
        guard let a, let b else { return a ?? b }
        let (sum, isTooLarge) = a.addingReportingOverflow(b)
        return isTooLarge ? nil : sum
    }
}

extension TurnEvent {
    /// How many files the turn has changed, where this is its end and they were counted.
    package var changedFiles: Int? {
        switch self {
        case .done(let files): files
        case .failed(let failure): failure.files
        default: nil
        }
    }

    /// Bytes of its frame, about, where it tells of the agent's work beside the answer; nil for other events.
    package var reportSize: Int? {
        /// Room for what JSON has around a text.
        let frame = 64
        switch self {
        case .thought(let text): return frame + text.utf8.count
        case .plan(let steps): return steps.reduce(frame) { $0 + frame + $1.text.utf8.count }
        case .tool(let tool):
            let places = tool.locations.reduce(frame + tool.title.utf8.count) { $0 + frame + $1.path.utf8.count }
            return tool.changes.reduce(places) { $0 + frame + $1.path.utf8.count + $1.diff.utf8.count }
        case .media(let media): return frame + (media.data?.utf8.count ?? 0)
        // Each of these is bounded elsewhere. A new case says here how large it can be.
        case .status, .text, .toolStart, .toolComplete, .usage, .mode, .question, .acp, .done, .failed, .unknown,
            .begun, .recovering, .finished:
            return nil
        }
    }

    /// - Returns: The same with other texts for people, but for those of the answer.
    package func mappingTexts(_ change: (String) -> String) -> TurnEvent {
        switch self {
        case .status(let label): return .status(change(label))
        case .toolStart(let name, let id): return .toolStart(name: change(name), id: id)
        case .toolComplete(let name, let id, let success, let details):
            return .toolComplete(name: change(name), id: id, success: success, details: details.map(change))
        case .mode(let mode): return AgentMode(change(mode.name)).map(TurnEvent.mode) ?? self
        case .question(let notice): return .question(notice.mappingTexts(change))
        case .thought(let text): return .thought(change(text))
        case .plan(let steps): return .plan(steps.map { AgentPlanStep(text: change($0.text), status: $0.status) })
        case .tool(let tool): return .tool(tool.mappingTexts(change))
        case .failed(var failure):
            failure.text = change(failure.text)
            return .failed(failure)
        case .text, .usage, .media, .acp, .done, .unknown, .begun, .recovering, .finished: return self
        }
    }
}

extension ApprovalNotice {
    fileprivate func mappingTexts(_ change: (String) -> String) -> ApprovalNotice {
        var notice = self
        notice.title = change(title)
        notice.kind = change(kind)
        notice.answer = answer.map(change)
        notice.decidedBy = decidedBy.map(change)
        notice.mode = mode.flatMap { AgentMode(change($0.name)) }
        return notice
    }
}
