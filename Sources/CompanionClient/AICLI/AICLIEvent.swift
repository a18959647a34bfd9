package import CompanionWire

/// What a frame means to a turn.
package enum AICLIEvent: Sendable, Hashable {
    /// The first frame of a server that a turn can be had with.
    case welcome
    /// The first frame of the newest servers, which send answers elsewhere.
    case connected
    case pong
    case failure(AICLIServerError)
    /// The reply to `streamStart`, with the id that the session really has.
    case sessionStarted(sessionID: String)
    /// A piece of the answer, as it is to be shown.
    case text(String)
    case tool(name: String, id: String?)
    case toolResult(name: String, id: String?, success: Bool, details: String?)
    case permission(AICLIPermissionRequest)
    /// The answer to a prompt, whole.
    case answer(content: String, success: Bool, error: String?)
    case result(success: Bool, usage: ContinueChatUsage?)
    /// What the host is doing, for people.
    case status(String)
    /// Says nothing: an empty chunk, a tool without a name, an acknowledgement.
    case nothing
    /// A type that this version does not know.
    case unknown(String)

    package init(_ frame: AICLIFrame) {
        let data = frame.data
        switch frame.type {
        case "welcome": self = .welcome
        case "connected": self = .connected
        case "pong": self = .pong
        case "error": self = frame.error.map(AICLIEvent.failure) ?? .nothing
        case "streamStart", "streamStarted":
            self = data["sessionId"]?.text.map { .sessionStarted(sessionID: $0) } ?? .nothing
        case "streamChunk": self = Self.chunk(data["chunk"] ?? data)
        case "assistantMessage": self = Self.message(data)
        case "toolUse": self = Self.tool(data)
        case "toolResult": self = Self.toolResult(data)
        case "permissionRequired": self = Self.permission(data)
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
            "systemInit", "streamData", "commandProgress", "sessionStatus", "registerDevice", "client_backgrounding":
            self = .nothing
        default: self = .unknown(frame.type)
        }
    }

    /// Chunks are paragraphs, headings, lists and code without what stood around them.
    private static func chunk(_ chunk: AICLIValue) -> AICLIEvent {
        let type = chunk["type"]?.string ?? "text"
        if ["tool_use", "toolUse"].contains(type) { return tool(chunk) }
        if ["tool_result", "toolResult"].contains(type) { return toolResult(chunk) }
        guard let content = chunk["content"]?.text else { return .nothing }
        switch type {
        case "header":
            let level = min(max(chunk["level"]?.integer ?? chunk["metadata"]?["level"]?.integer ?? 1, 1), 6)
            return .text(String(repeating: "#", count: level) + " " + content)
        case "code":
            let language = chunk.text("language") ?? chunk["metadata"]?.text("language") ?? ""
            return .text("```\(language)\n\(content)\n```")
        default: return .text(content)
        }
    }

    private static func message(_ data: AICLIValue) -> AICLIEvent {
        switch data["type"]?.string {
        case "tool_use": return tool(data)
        case "tool_result": return toolResult(data)
        case "permission_request": return permission(data)
        default:
            if let text = data.text("text", "content") { return .text(text) }
            let blocks = data["content"]?.array ?? data["message"]?["content"]?.array ?? []
            let texts = blocks.compactMap { $0["type"]?.string == "text" ? $0.text("text") : nil }
            if !texts.isEmpty { return .text(texts.joined(separator: "\n\n")) }
            return blocks.first { $0["type"]?.string == "tool_use" }.map(tool) ?? .nothing
        }
    }

    private static func toolName(_ data: AICLIValue) -> String? {
        data.text("toolName", "tool_name", "name") ?? data["metadata"]?.text("toolName", "tool_name", "name")
    }

    private static func toolID(_ data: AICLIValue) -> String? {
        data.text("toolId", "tool_id", "toolUseId", "tool_use_id", "id")
    }

    private static func tool(_ data: AICLIValue) -> AICLIEvent {
        toolName(data).map { .tool(name: $0, id: toolID(data)) } ?? .nothing
    }

    private static func toolResult(_ data: AICLIValue) -> AICLIEvent {
        guard let name = toolName(data) else { return .nothing }
        let failed = data["is_error"]?.bool ?? data["isError"]?.bool ?? false
        return .toolResult(name: name, id: toolID(data), success: !failed, details: data.text("error"))
    }

    private static func permission(_ data: AICLIValue) -> AICLIEvent {
        AICLIPermissionRequest(data, tool: toolName(data)).map(AICLIEvent.permission) ?? .nothing
    }

    private static func usage(_ value: AICLIValue?) -> ContinueChatUsage? {
        guard let value, case .object = value else { return nil }
        let input = (value["inputTokens"] ?? value["input_tokens"])?.integer
        let output = (value["outputTokens"] ?? value["output_tokens"])?.integer
        guard input != nil || output != nil else { return nil }
        let (total, overflow) = (input ?? 0).addingReportingOverflow(output ?? 0)
        return ContinueChatUsage(inputTokens: input, outputTokens: output, totalTokens: overflow ? nil : total)
    }
}
