package import CompanionWire

/// The meaning of a frame for a turn.
package indirect enum AICLIEvent: Sendable, Hashable {
    /// The first frame of a server that can run turns.
    case welcome
    /// The first frame of the newest servers, which do not send answers over the WebSocket.
    case connected
    case pong
    case failure(AICLIServerError)
    /// The reply to `streamStart`, with the actual id of the session.
    ///
    /// - Parameter endsWithResult: True for builds of late July. They do not reply to a prompt: the agent's text comes
    ///   as messages, and the conversation's result ends the turn.
    case sessionStarted(sessionID: String, endsWithResult: Bool)
    /// A piece of the answer, as it should be shown.
    case text(String)
    case tool(name: String, id: String?)
    case toolResult(name: String, id: String?, success: Bool, details: String?)
    case permission(AICLIPermissionRequest)
    /// The complete answer to a prompt.
    case answer(content: String, success: Bool, error: String?)
    case result(success: Bool, usage: TurnUsage?)
    /// The host's current activity, as text for the user.
    case status(String)
    /// The events of one message with several blocks, in order.
    case several([AICLIEvent])
    /// No event: an empty chunk, a tool without a name, an acknowledgement.
    case nothing
    /// A type that this version does not know.
    case unknown(String)

    /// Whether the agent is at work on a prompt, or was.
    var isOfAnswer: Bool {
        switch self {
        case .text, .tool, .toolResult, .permission, .answer, .result: true
        case .several(let events): events.contains(where: \.isOfAnswer)
        case .welcome, .connected, .pong, .failure, .sessionStarted, .status, .nothing, .unknown: false
        }
    }

    /// Interprets a frame. A type that is not known becomes ``unknown(_:)``.
    package init(_ frame: AICLIFrame) {
        let data = frame.data
        switch frame.type {
        case "welcome": self = .welcome
        case "connected": self = .connected
        case "pong": self = .pong
        case "error": self = frame.error.map(AICLIEvent.failure) ?? .nothing
        case "streamStart", "streamStarted":
            let isEarly = frame.type == "streamStarted"
            self = data["sessionId"]?.text.map { .sessionStarted(sessionID: $0, endsWithResult: isEarly) } ?? .nothing
        case "streamChunk": self = Self.chunk(data["chunk"] ?? data)
        case "assistantMessage": self = Self.message(data)
        case "toolUse": self = Self.tool(data)
        case "toolResult": self = Self.toolResult(data)
        case "permissionRequired", "permissionRequest": self = Self.permission(data)
        case "claudeResponse", "aicliResponse":
            self = .answer(
                content: data["content"]?.string ?? data.text("result", "response") ?? "",
                success: data["success"]?.bool ?? true,
                error: data.text("error") ?? data["error"]?.text("message")
            )
        case "conversationResult":
            self = .result(success: data["success"]?.bool ?? true, usage: Self.usage(data["usage"]))
        case "processStart": self = .status("The assistant has started")
        case "processExit":
            let code = data["exitCode"]?.integer ?? data["code"]?.integer ?? 0
            self = code == 0 ? .nothing : .status("The assistant's process ended with code \(code)")
        case "streamError": self = .status(data.text("error", "message") ?? "The assistant reports an error")
        case "ask", "streamSend", "streamClose", "permission", "subscribe", "setWorkingDirectory", "processStderr",
            "systemInit", "streamData", "commandProgress", "sessionStatus", "registerDevice", "client_backgrounding",
            "subscribed", "streamClosed", "streamComplete", "permissionHandled", "progress":
            self = .nothing
        default: self = .unknown(frame.type)
        }
    }

    /// Chunks are paragraphs, headings, lists and code without their Markdown markup. Chunks of other types are not the
    /// assistant's text: `session_id` contains an id, `status` a line of the program's output.
    private static func chunk(_ chunk: JSONValue) -> AICLIEvent {
        let type = chunk["type"]?.string ?? "text"
        if ["tool_use", "toolUse"].contains(type) { return tool(chunk) }
        if ["tool_result", "toolResult"].contains(type) { return toolResult(chunk) }
        guard let content = chunk["content"]?.text else { return .nothing }
        switch type {
        case "text", "paragraph", "section", "list": return .text(content)
        case "header":
            let level = min(max(chunk["level"]?.integer ?? chunk["metadata"]?["level"]?.integer ?? 1, 1), 6)
            return .text(String(repeating: "#", count: Int(level)) + " " + content)
        case "code":
            let language = chunk.text("language") ?? chunk["metadata"]?.text("language") ?? ""
            return .text("```\(language)\n\(content)\n```")
        default: return .nothing
        }
    }

    private static func message(_ data: JSONValue) -> AICLIEvent {
        let blocks = data["content"]?.array ?? data["message"]?["content"]?.array ?? []
        switch data["type"]?.string {
        case "tool_use" where toolName(data) != nil: return tool(data)
        case "tool_result" where toolName(data) != nil: return toolResult(data)
        // The question also comes as a separate message; the blocks repeat it in other words.
        case "permission_request": return permission(data)
        // A message without blocks contains a tool's text, not the assistant's.
        case "tool_use" where blocks.isEmpty, "tool_result" where blocks.isEmpty: return .nothing
        default:
            if let text = data.text("text", "content") { return .text(text) }
            return all(blocks.compactMap(block))
        }
    }

    /// A block of a message (`content[]`): text of the assistant, or a tool call.
    private static func block(_ block: JSONValue) -> AICLIEvent? {
        let event: AICLIEvent? =
            switch block["type"]?.string {
            case "text": block.text("text").map { .text($0) }
            case "tool_use": tool(block)
            case "tool_result": toolResult(block)
            default: nil
            }
        return event == .nothing ? nil : event
    }

    /// Joins adjacent texts.
    private static func all(_ events: [AICLIEvent]) -> AICLIEvent {
        var joined: [AICLIEvent] = []
        for event in events {
            if case .text(let text) = event, case .text(let before)? = joined.last {
                joined[joined.count - 1] = .text(before + "\n\n" + text)
            } else {
                joined.append(event)
            }
        }
        return joined.count > 1 ? .several(joined) : joined.first ?? .nothing
    }

    private static func toolName(_ data: JSONValue) -> String? {
        data.text("toolName", "tool_name", "name") ?? data["metadata"]?.text("toolName", "tool_name", "name")
    }

    private static func toolID(_ data: JSONValue) -> String? {
        data.text("toolId", "tool_id", "toolUseId", "tool_use_id", "id")
    }

    private static func tool(_ data: JSONValue) -> AICLIEvent {
        toolName(data).map { .tool(name: $0, id: toolID(data)) } ?? .nothing
    }

    private static func toolResult(_ data: JSONValue) -> AICLIEvent {
        guard let name = toolName(data) else { return .nothing }
        let failed = data["is_error"]?.bool ?? data["isError"]?.bool ?? false
        return .toolResult(name: name, id: toolID(data), success: !failed, details: data.text("error"))
    }

    private static func permission(_ data: JSONValue) -> AICLIEvent {
        AICLIPermissionRequest(data, tool: toolName(data)).map(AICLIEvent.permission) ?? .nothing
    }

    private static func usage(_ value: JSONValue?) -> TurnUsage? {
        guard let value, case .object = value else { return nil }
        let input: Int? = (value["inputTokens"] ?? value["input_tokens"])?.integer.map { Int($0) }
        let output: Int? = (value["outputTokens"] ?? value["output_tokens"])?.integer.map { Int($0) }
        guard input != nil || output != nil else { return nil }
        let total = TurnUsage.sum(input, output)
        return TurnUsage(inputTokens: input, outputTokens: output, totalTokens: total)
    }
}
