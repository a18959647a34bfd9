import FoundationEssentials

/// Writes the frames of an answer as deployed hosts do: one line `data: {json}` and a blank line. They are read by the
/// `Decodable` of ``TurnEvent``, below.
package enum TurnFrames {
    /// The frame that ends an answer.
    package static let end = "data: [DONE]\n\n"

    /// The most UTF-16 units that the `details` of a tool may have.
    package static let maximumDetails = 280

    /// Writes an event that a host sends. `type` comes first, `toolCallID` of a finished tool is written as `null` when
    /// there is none.
    package static func encode(_ event: TurnEvent) -> String {
        switch event {
        case .status(let label): frame("status", fields: [("label", quoted(label))])
        case .text(let text): frame("text", fields: [("text", quoted(text))])
        case .toolStart(let name, let id):
            frame("tool_start", fields: [("toolName", quoted(name)), ("toolCallID", id.map(quoted))])
        case .toolComplete(let name, let id, let success, let details):
            frame(
                "tool_complete",
                fields: [
                    ("toolName", quoted(name)), ("toolCallID", id.map(quoted) ?? "null"),
                    ("success", success ? "true" : "false"),
                    ("details", details.map { quoted(truncated($0)) }),
                ]
            )
        case .usage(let usage):
            frame(
                "usage",
                fields: [
                    ("inputTokens", usage.inputTokens.map(String.init)),
                    ("outputTokens", usage.outputTokens.map(String.init)),
                    ("totalTokens", usage.totalTokens.map(String.init)),
                    ("model", usage.model.map(quoted)), ("raw", "{}"),
                ]
            )
        case .mode(let mode): frame("agent_mode", fields: [("name", quoted(mode))])
        case .question(let notice):
            frame(
                notice.phase.rawValue,
                fields: [
                    ("approvalId", quoted(notice.id)), ("title", quoted(notice.title)), ("kind", quoted(notice.kind)),
                    ("state", quoted(notice.state.rawValue)), ("answer", notice.answer.map(quoted)),
                    ("decidedBy", notice.decidedBy.map(quoted)),
                    ("expiresAt", notice.expiresAt.map { quoted(CompanionTimestamp.string(from: $0)) }),
                    ("mode", notice.mode.map(quoted)),
                ]
            )
        case .thought(let text): frame("agent_thought", fields: [("text", quoted(text))])
        case .plan(let steps): frame("agent_plan", fields: [("steps", quoted(steps))])
        case .tool(let tool):
            frame(
                "agent_tool",
                fields: [
                    ("toolCallID", quoted(tool.id)), ("title", quoted(tool.title)),
                    ("kind", quoted(tool.kind)), ("status", quoted(tool.status)),
                    ("locations", quoted(tool.locations)), ("changes", quoted(tool.changes)),
                    ("asked", tool.asked.map { $0 ? "true" : "false" }),
                ]
            )
        case .media(let media):
            frame(
                "agent_media",
                fields: [
                    ("mimeType", quoted(media.mimeType)), ("size", "\(media.size)"), ("data", media.data.map(quoted)),
                ]
            )
        case .acp(let words):
            frame(
                ACPFrame.type,
                fields: [
                    ("update", words.update.map(text)), ("request", words.request.map(quoted)),
                    ("answer", words.answer.map(text)), ("isCut", words.content == .cut ? "true" : nil),
                ]
            )
        case .done(let files): frame("done", fields: [("filesChanged", files.map(String.init))])
        case .failed(let failure):
            frame(
                "error",
                fields: [
                    ("error", quoted(failure.text)),
                    ("code", (failure.code?.rawValue).map(quoted)),
                    ("filesChanged", failure.files.map(String.init)),
                ]
            )
        case .unknown(let type): frame(type, fields: [])
        case .begun, .recovering, .finished: preconditionFailure("an event of the client alone has no frame")
        }
    }

    /// The longest prefix of at most ``maximumDetails`` UTF-16 units that splits no character.
    package static func truncated(_ details: String) -> String {
        guard details.utf16.count > maximumDetails else { return details }
        var units = 0
        var end = details.startIndex
        while end < details.endIndex {
            units += details[end].utf16.count
            guard units <= maximumDetails else { break }
            end = details.index(after: end)
        }
        return String(details[..<end])
    }

    private static func frame(_ type: String, fields: [(name: String, json: String?)]) -> String {
        let rest = fields.compactMap { field in field.json.map { ",\"\(field.name)\":\($0)" } }.joined()
        return "data: {\"type\":\(quoted(type))\(rest)}\n\n"
    }

    private static func text(_ value: JSONValue) -> String { String(decoding: value.json, as: UTF8.self) }

    private static func quoted(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        // Texts, and values that are made of them, always encode.
        return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
    }
}

extension TurnEvent: Decodable {
    private enum CodingKeys: String, CodingKey {
        case type, label, text, toolName, toolCallID, success, details, code
        case inputTokens, outputTokens, totalTokens, model, error, filesChanged, name
        case approvalId, title, kind, state, answer, decidedBy, expiresAt, steps, mode
    }

    /// Reads the JSON of a frame. A type that is not known here, or a question without its id, is ``unknown(type:)``.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func string(_ key: CodingKeys) -> String? { try? container.decodeIfPresent(String.self, forKey: key) }
        func integer(_ key: CodingKeys) -> Int? { try? container.decodeIfPresent(Int.self, forKey: key) }
        switch string(.type) {
        case "status": self = .status(string(.label) ?? "")
        case "text": self = .text(string(.text) ?? "")
        case "tool_start": self = .toolStart(name: string(.toolName) ?? "", id: string(.toolCallID))
        case "tool_complete":
            let success = try? container.decodeIfPresent(Bool.self, forKey: .success)
            self = .toolComplete(
                name: string(.toolName) ?? "",
                id: string(.toolCallID),
                success: success ?? true,
                details: string(.details)
            )
        case "usage":
            self = .usage(
                TurnUsage(
                    inputTokens: integer(.inputTokens),
                    outputTokens: integer(.outputTokens),
                    totalTokens: integer(.totalTokens),
                    model: string(.model)
                )
            )
        case "agent_mode": self = string(.name).flatMap { AgentMode($0) }.map(Self.mode) ?? .unknown(type: "agent_mode")
        case "agent_thought": self = .thought(string(.text) ?? "")
        case "agent_plan": self = try .plan(container.decode([AgentPlanStep].self, forKey: .steps))
        case "agent_tool": self = try .tool(ToolReport(from: decoder))
        case "agent_media": self = try .media(AgentMedia(from: decoder))
        case ACPFrame.type: self = try .acp(ACPFrame(from: decoder))
        case "done": self = .done(files: integer(.filesChanged).map { max($0, 0) })
        case "error":
            let code = string(.code).map { CompanionErrorCode(rawValue: $0) }
            self = .failed(
                TurnFailure(
                    string(.error) ?? "unknown error",
                    files: integer(.filesChanged).map { max($0, 0) },
                    code: code?.isOfAgent == true ? code : nil
                )
            )
        case let type:
            if let phase = type.flatMap(ApprovalNotice.Phase.init), let id = string(.approvalId) {
                let notice = ApprovalNotice(
                    phase,
                    id: id,
                    title: string(.title) ?? "",
                    kind: string(.kind) ?? "",
                    state: string(.state).flatMap { Approval.State(ofHost: $0) }
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
                self = .failed(TurnFailure(error))
            } else {
                self = .unknown(type: type ?? "")
            }
        }
    }
}
