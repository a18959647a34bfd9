package import CompanionWire

/// A line of JSON about a turn, as docs/json.md describes it.
package struct TurnLine: Encodable {
    private let event: TurnEvent
    private let chatID: String

    package init(event: TurnEvent, chatID: String) {
        (self.event, self.chatID) = (event, chatID)
    }

    private enum Key: String, CodingKey {
        case type, text, toolName, toolCallId, success, details, usage, files, chatId, turnId, answer, recovered
        case approvalId, title, kind, state, chosen, decidedBy, expiresAt, mode, steps, locations, changes, asked
        case mimeType, size, data
    }

    package func encode(to encoder: any Encoder) throws {
        var line = encoder.container(keyedBy: Key.self)
        try line.encode(type, forKey: .type)
        switch event {
        case .begun(let turnID):
            try line.encode(chatID, forKey: .chatId)
            try line.encode(turnID, forKey: .turnId)
        case .text(let text), .status(let text), .thought(let text), .recovering(let text):
            try line.encode(text, forKey: .text)
        case .toolStart(let name, let id):
            try line.encode(name, forKey: .toolName)
            try line.encodeIfPresent(id, forKey: .toolCallId)
        case .toolComplete(let name, let id, let success, let details):
            try line.encode(name, forKey: .toolName)
            try line.encodeIfPresent(id, forKey: .toolCallId)
            try line.encode(success, forKey: .success)
            try line.encodeIfPresent(details, forKey: .details)
        case .usage(let usage): try line.encode(usage, forKey: .usage)
        case .done, .failed: try line.encodeIfPresent(event.changedFiles, forKey: .files)
        case .mode(let mode): try line.encode(mode.name, forKey: .text)
        case .question(let notice):
            try line.encode(notice.id, forKey: .approvalId)
            try line.encode(notice.title, forKey: .title)
            try line.encode(notice.kind, forKey: .kind)
            try line.encode(notice.state.rawValue, forKey: .state)
            try line.encodeIfPresent(notice.answer, forKey: .chosen)
            try line.encodeIfPresent(notice.decidedBy, forKey: .decidedBy)
            try line.encodeIfPresent(notice.expiresAt, forKey: .expiresAt)
            try line.encodeIfPresent(notice.mode, forKey: .mode)
        case .plan(let steps): try line.encode(steps, forKey: .steps)
        case .tool(let tool):
            try line.encode(tool.id, forKey: .toolCallId)
            try line.encode(tool.title, forKey: .title)
            try line.encode(tool.kind, forKey: .kind)
            try line.encode(tool.status.rawValue, forKey: .state)
            try line.encode(tool.locations, forKey: .locations)
            try line.encode(tool.changes, forKey: .changes)
            try line.encodeIfPresent(tool.asked, forKey: .asked)
        case .media(let media):
            try line.encode(media.mimeType, forKey: .mimeType)
            try line.encode(media.size, forKey: .size)
            try line.encodeIfPresent(media.data, forKey: .data)
        case .finished(let turn):
            try line.encode(chatID, forKey: .chatId)
            try line.encode(turn.answer, forKey: .answer)
            try line.encode(turn.wasRecovered, forKey: .recovered)
        case .acp, .unknown: break
        }
    }

    private var type: String {
        switch event {
        case .begun: "turn"
        case .text: "text"
        case .status: "status"
        case .toolStart: "tool_start"
        case .toolComplete: "tool_complete"
        case .usage: "usage"
        case .done, .failed: "changed"
        case .mode: "mode"
        case .question(let notice): notice.phase.rawValue
        case .thought: "thought"
        case .plan: "plan"
        case .tool: "tool"
        case .media: "media"
        case .acp: "acp"
        case .recovering: "recovering"
        case .finished: "finished"
        case .unknown(let type): type
        }
    }
}
