/// What the tokens of an answer were counted as.
package struct ContinueChatUsage: Codable, Sendable, Hashable {
    package var inputTokens: Int?
    package var outputTokens: Int?
    package var totalTokens: Int?
    package var model: String?

    package init(inputTokens: Int? = nil, outputTokens: Int? = nil, totalTokens: Int? = nil, model: String? = nil) {
        self.inputTokens = inputTokens
        self.outputTokens = outputTokens
        self.totalTokens = totalTokens
        self.model = model
    }
}

extension ContinueChatUsage {
    /// The sum of two counts of tokens; one of them alone where the other is nil. Nil where both are, and where the sum
    /// is too large.
    package static func sum(_ a: Int?, _ b: Int?) -> Int? {
        guard let a, let b else { return a ?? b }
        let (sum, isTooLarge) = a.addingReportingOverflow(b)
        return isTooLarge ? nil : sum
    }
}

/// A frame of the answer to `POST /companion/chats/:id/continue`.
package enum ContinueChatEvent: Sendable, Hashable {
    /// What the host is doing, for people.
    case status(label: String)
    /// A piece of the answer, to be appended to what came before.
    case text(String)
    case toolStart(toolName: String, toolCallID: String?)
    /// `details`: at most 280 UTF-16 units.
    case toolComplete(toolName: String, toolCallID: String?, success: Bool, details: String?)
    case usage(ContinueChatUsage)
    /// How freely the agent works from now on, in its words. Readers of before ignore it.
    case mode(AgentMode)
    /// A question of the agent was asked or decided, or the agent went on after it. Readers of before ignore it.
    case question(QuestionNotice)
    /// What the agent tells of its work. Readers of before ignore it.
    case activity(AgentActivity)
    /// The model has finished. **Not the end**: text may follow it.
    case done
    /// The same from a host that has counted the files that the agent has changed. Older clients read the other one.
    case doneWithChanges(files: Int)
    /// The turn failed; the stream ends without `[DONE]`.
    case error(String)
    /// The same, with how many files the agent has changed until then. Older clients read the other one.
    case errorWithChanges(String, files: Int)
    /// The turn failed because the host's agent asks to sign in, or does not start. Older clients read an error.
    case unavailable(String, files: Int?)
    /// A frame of a type that this version does not know, or one that does not decode.
    case unknown(type: String)
}

extension ContinueChatEvent: Decodable {
    private enum CodingKeys: String, CodingKey {
        case type, label, text, toolName, toolCallID, success, details, code
        case inputTokens, outputTokens, totalTokens, model, error, filesChanged, name
        case approvalId, title, kind, state, answer, decidedBy, expiresAt, steps, mode
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func string(_ key: CodingKeys) -> String? { try? container.decodeIfPresent(String.self, forKey: key) }
        func integer(_ key: CodingKeys) -> Int? { try? container.decodeIfPresent(Int.self, forKey: key) }
        switch string(.type) {
        case "status": self = .status(label: string(.label) ?? "")
        case "text": self = .text(string(.text) ?? "")
        case "tool_start": self = .toolStart(toolName: string(.toolName) ?? "", toolCallID: string(.toolCallID))
        case "tool_complete":
            let success = try? container.decodeIfPresent(Bool.self, forKey: .success)
            self = .toolComplete(
                toolName: string(.toolName) ?? "",
                toolCallID: string(.toolCallID),
                success: success ?? true,
                details: string(.details)
            )
        case "usage":
            self = .usage(
                ContinueChatUsage(
                    inputTokens: integer(.inputTokens),
                    outputTokens: integer(.outputTokens),
                    totalTokens: integer(.totalTokens),
                    model: string(.model)
                )
            )
        case "agent_mode": self = string(.name).flatMap { AgentMode($0) }.map(Self.mode) ?? .unknown(type: "agent_mode")
        case "agent_thought": self = .activity(.thought(string(.text) ?? ""))
        case "agent_plan": self = try .activity(.plan(container.decode([AgentPlanStep].self, forKey: .steps)))
        case "agent_tool": self = try .activity(.tool(AgentToolReport(from: decoder)))
        case "agent_media": self = try .activity(.media(AgentMedia(from: decoder)))
        case "done": self = integer(.filesChanged).map { .doneWithChanges(files: max($0, 0)) } ?? .done
        case "error":
            let text = string(.error) ?? "unknown error"
            let files = integer(.filesChanged).map { max($0, 0) }
            if string(.code)?.isSame(as: CompanionErrorCode.hostAgentUnavailable.rawValue) == true {
                self = .unavailable(text, files: files)
            } else {
                self = files.map { .errorWithChanges(text, files: $0) } ?? .error(text)
            }
        case let type:
            if let phase = type.flatMap(QuestionNotice.Phase.init), let id = string(.approvalId) {
                let notice = QuestionNotice(
                    phase,
                    id: id,
                    title: string(.title) ?? "",
                    kind: string(.kind) ?? "",
                    state: string(.state).flatMap(HostQuestion.State.init)
                        ?? (phase == .asked ? .open : .interrupted),
                    answer: string(.answer),
                    decidedBy: string(.decidedBy),
                    expiresAt: string(.expiresAt).flatMap(CompanionTimestamp.date),
                    mode: string(.mode).flatMap { AgentMode($0) }
                )
                self = .question(notice)
                return
            }
            // Deployed hosts send some errors without a `type`.
            if type == nil, let error = string(.error) {
                self = .error(error)
            } else {
                self = .unknown(type: type ?? "")
            }
        }
    }
}
