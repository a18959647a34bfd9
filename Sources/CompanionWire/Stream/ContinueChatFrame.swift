import FoundationEssentials

/// Writes the frames of an answer as deployed hosts do: one line `data: {json}` and a blank line.
package enum ContinueChatFrame {
    /// The frame that ends an answer.
    package static let end = "data: [DONE]\n\n"

    /// The most UTF-16 units that the `details` of a tool may have.
    package static let maximumDetails = 280

    /// Writes an event. `type` comes first, `toolCallID` of a finished tool is written as `null` when there is none.
    package static func encode(_ event: ContinueChatEvent) -> String {
        switch event {
        case .status(let label): frame("status", [("label", quoted(label))])
        case .text(let text): frame("text", [("text", quoted(text))])
        case .toolStart(let name, let id):
            frame("tool_start", [("toolName", quoted(name)), ("toolCallID", id.map(quoted))])
        case .toolComplete(let name, let id, let success, let details):
            frame(
                "tool_complete",
                [
                    ("toolName", quoted(name)), ("toolCallID", id.map(quoted) ?? "null"),
                    ("success", success ? "true" : "false"),
                    ("details", details.map { quoted(truncated($0)) }),
                ]
            )
        case .usage(let usage):
            frame(
                "usage",
                [
                    ("inputTokens", usage.inputTokens.map(String.init)),
                    ("outputTokens", usage.outputTokens.map(String.init)),
                    ("totalTokens", usage.totalTokens.map(String.init)),
                    ("model", usage.model.map(quoted)), ("raw", "{}"),
                ]
            )
        case .mode(let mode): frame("agent_mode", [("name", quoted(mode))])
        case .question(let notice):
            frame(
                notice.phase.rawValue,
                [
                    ("approvalId", quoted(notice.id)), ("title", quoted(notice.title)), ("kind", quoted(notice.kind)),
                    ("state", quoted(notice.state.rawValue)), ("answer", notice.answer.map(quoted)),
                    ("decidedBy", notice.decidedBy.map(quoted)),
                    ("expiresAt", notice.expiresAt.map { quoted(CompanionTimestamp.string(from: $0)) }),
                    ("mode", notice.mode.map(quoted)),
                ]
            )
        case .activity(.thought(let text)): frame("agent_thought", [("text", quoted(text))])
        case .activity(.plan(let steps)): frame("agent_plan", [("steps", quoted(steps))])
        case .activity(.tool(let tool)):
            frame(
                "agent_tool",
                [
                    ("toolCallID", quoted(tool.toolCallID)), ("title", quoted(tool.title)),
                    ("kind", quoted(tool.kind)), ("status", quoted(tool.status)),
                    ("locations", quoted(tool.locations)), ("changes", quoted(tool.changes)),
                    ("asked", tool.asked.map { $0 ? "true" : "false" }),
                ]
            )
        case .activity(.media(let media)):
            frame(
                "agent_media",
                [
                    ("mimeType", quoted(media.mimeType)), ("size", "\(media.size)"), ("data", media.data.map(quoted)),
                ]
            )
        case .done: frame("done", [])
        case .doneWithChanges(let files): frame("done", [("filesChanged", "\(files)")])
        case .error(let text): frame("error", [("error", quoted(text))])
        case .errorWithChanges(let text, let files):
            frame("error", [("error", quoted(text)), ("filesChanged", "\(files)")])
        case .unavailable(let text, let files):
            frame(
                "error",
                [
                    ("error", quoted(text)), ("code", quoted(CompanionErrorCode.hostAgentUnavailable.rawValue)),
                    ("filesChanged", files.map(String.init)),
                ]
            )
        case .unknown(let type): frame(type, [])
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

    private static func frame(_ type: String, _ fields: [(name: String, json: String?)]) -> String {
        let rest = fields.compactMap { field in field.json.map { ",\"\(field.name)\":\($0)" } }.joined()
        return "data: {\"type\":\(quoted(type))\(rest)}\n\n"
    }

    private static func quoted(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        // Texts, and values that are made of them, always encode.
        return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
    }
}
