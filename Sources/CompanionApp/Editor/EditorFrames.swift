import CompanionWire

/// Says the events of a turn in the words of the Agent Client Protocol, for hosts whose agents do not speak it.
struct EditorFrames: Sendable {
    /// Tools that were told of, and those of them that are at work.
    private var known: Set<ByteText> = []
    private var open: Set<ByteText> = []

    /// - Returns: The updates that an editor gets.
    mutating func take(_ event: TurnEvent) -> [JSONValue] {
        switch event {
        case .text(let text): return [Self.chunk("agent_message_chunk", text)]
        case .thought(let text): return [Self.chunk("agent_thought_chunk", text)]
        case .plan(let steps):
            let entries = steps.map { step -> JSONValue in
                ["content": .string(step.text), "priority": "medium", "status": .string(step.status.rawValue)]
            }
            return [["sessionUpdate": "plan", "entries": .array(entries)]]
        case .toolStart(let name, let id):
            return [tool(id ?? name, title: name, status: "in_progress", more: [:])]
        case .toolComplete(let name, let id, let success, let details):
            var more: [String: JSONValue] = [:]
            if let details, !details.isEmpty { more["content"] = [Self.content(details)] }
            return [tool(id ?? name, title: name, status: success ? "completed" : "failed", more: more)]
        case .tool(let report): return [tool(report)]
        case .media(let media):
            guard let data = media.data, media.mimeType.begins(with: "image/") else { return [] }
            let block: JSONValue = ["type": "image", "mimeType": .string(media.mimeType), "data": .string(data)]
            return [["sessionUpdate": "agent_message_chunk", "content": block]]
        default: return []
        }
    }

    /// Tools that are still at work when their turn has ended.
    mutating func finish() -> [JSONValue] {
        defer { open = [] }
        return open.map { id in
            ["sessionUpdate": "tool_call_update", "toolCallId": .string(id.text), "status": "failed"]
        }
    }

    private mutating func tool(_ report: ToolReport) -> JSONValue {
        var more: [String: JSONValue] = [:]
        if !report.kind.isEmpty { more["kind"] = .string(report.kind) }
        if !report.locations.isEmpty {
            more["locations"] = .array(
                report.locations.map { place in
                    var members: [String: JSONValue] = ["path": .string(place.path)]
                    members["line"] = place.line.map { .integer(Int64($0)) }
                    return .object(members)
                }
            )
        }
        // Only the difference is known, not the files: editors show it as text.
        if !report.changes.isEmpty {
            more["content"] = .array(report.changes.map { Self.content(CodeFence.around($0.diff, language: "diff")) })
        }
        return tool(report.id, title: report.title, status: report.status.rawValue, more: more)
    }

    private mutating func tool(
        _ id: String,
        title: String,
        status: String,
        more: [String: JSONValue]
    ) -> JSONValue {
        let isNew = known.insert(ByteText(id)).inserted
        if ["completed", "failed"].contains(where: { status.isSame(as: $0) }) {
            open.remove(ByteText(id))
        } else {
            open.insert(ByteText(id))
        }
        var members = more
        members["sessionUpdate"] = isNew ? "tool_call" : "tool_call_update"
        members["toolCallId"] = .string(id)
        members["status"] = .string(status)
        if isNew {
            members["title"] = .string(title)
            members["kind"] = members["kind"] ?? "other"
        }
        return .object(members)
    }

    static func chunk(_ kind: String, _ text: String, message: String? = nil) -> JSONValue {
        var members: [String: JSONValue] = [
            "sessionUpdate": .string(kind), "content": ["type": "text", "text": .string(text)],
        ]
        members["messageId"] = message.map { .string($0) }
        return .object(members)
    }

    private static func content(_ text: String) -> JSONValue {
        ["type": "content", "content": ["type": "text", "text": .string(text)]]
    }

    /// The pictures of a prompt, for hosts that take them beside its text.
    static func images(_ blocks: [JSONValue]) -> [TurnImage] {
        blocks.compactMap { block in
            guard block["type"]?.string == "image", let bytes = block["data"]?.string.flatMap(Base64.decode) else {
                return nil
            }
            return TurnImage(file: bytes)
        }
    }
}
