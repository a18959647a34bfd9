import Testing

/// What an agent wrote for a prompt, and when it read a line: `initialize`, `session/new`, `session/prompt` and the answer to
/// its question.
struct RecordedSession: Sendable {
    var name: String
    /// An empty line is one that it read.
    var lines: [String]
    /// So many lines end with its question.
    var asked: Int
    var answer: String

    /// Written by hand: it also replays what was said before, and thinks.
    static let written = RecordedSession(
        name: "written",
        lines: [
            "",
            #"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}"#,
            "",
            update(#""sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"of before"}"#),
            #"{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s-1"}}"#,
            "",
            update(#""sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"Hm"}"#),
            update(#""sessionUpdate":"tool_call","toolCallId":"t","title":"Run it","status":"pending""#),
            update(#""sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"One, "}"#),
            #"{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s-1","toolCall":{"toolCallId":"t"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]}}"#,
            "",
            update(#""sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed""#),
            update(#""sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"two."}"#),
            #"{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}"#,
        ],
        asked: 10,
        answer: "One, two."
    )

    private static func update(_ members: String) -> String {
        #"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{\#(members)}}}"#
    }

    /// pydantic-acp 1.10.0 with a model that calls its tool once, as recorded; only its ids have other words.
    static let pydantic = RecordedSession(
        name: "pydantic-acp",
        lines: [
            "",
            #"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"promptCapabilities":{"image":true,"audio":true,"embeddedContext":true},"mcpCapabilities":{},"sessionCapabilities":{"list":{},"additionalDirectories":{},"fork":{},"resume":{},"close":{}}},"authMethods":[],"agentInfo":{"name":"test","title":"Pydantic ACP","version":"1.10.0"}}}"#,
            "",
            #"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"recorded-session","update":{"availableCommands":[{"name":"tools","description":"List the tools currently registered on the active agent."},{"name":"hooks","description":"List the registered Hooks capability callbacks visible on the active agent."},{"name":"mcp-servers","description":"List MCP servers extracted from the active agent and session metadata."}],"sessionUpdate":"available_commands_update"}}}"#,
            #"{"jsonrpc":"2.0","id":1,"result":{"sessionId":"recorded-session"}}"#,
            "",
            #"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"recorded-session","update":{"toolCallId":"pyd_ai_tool_call_id__delete_file","title":"delete_file","kind":"delete","status":"in_progress","locations":[{"path":"a"}],"rawInput":{"path":"a"},"sessionUpdate":"tool_call"}}}"#,
            #"{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"recorded-session","toolCall":{"toolCallId":"pyd_ai_tool_call_id__delete_file","kind":"delete","status":"pending","title":"delete_file","locations":[{"path":"a"}],"rawInput":{"path":"a"}},"options":[{"optionId":"allow_once","name":"Allow","kind":"allow_once"},{"optionId":"allow_always","name":"Always Allow","kind":"allow_always"},{"optionId":"reject_once","name":"Deny","kind":"reject_once"},{"optionId":"reject_always","name":"Always Deny","kind":"reject_always"}]}}"#,
            "",
            #"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"recorded-session","update":{"toolCallId":"pyd_ai_tool_call_id__delete_file","kind":"delete","status":"completed","title":"delete_file","locations":[{"path":"a"}],"rawOutput":"deleted","sessionUpdate":"tool_call_update"}}}"#,
            #"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"recorded-session","update":{"content":{"text":"{\"delete_fil","type":"text"},"messageId":"message-1","sessionUpdate":"agent_message_chunk"}}}"#,
            #"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"recorded-session","update":{"content":{"text":"e\":\"deleted\"}","type":"text"},"messageId":"message-1","sessionUpdate":"agent_message_chunk"}}}"#,
            #"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"recorded-session","update":{"title":"delete it","updatedAt":"2026-11-25T11:09:48.440418+00:00","sessionUpdate":"session_info_update"}}}"#,
            #"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"recorded-session","update":{"availableCommands":[{"name":"tools","description":"List the tools currently registered on the active agent."},{"name":"hooks","description":"List the registered Hooks capability callbacks visible on the active agent."},{"name":"mcp-servers","description":"List MCP servers extracted from the active agent and session metadata."}],"sessionUpdate":"available_commands_update"}}}"#,
            #"{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn","usage":{"totalTokens":63,"inputTokens":53,"outputTokens":10}}}"#,
        ],
        asked: 8,
        answer: #"{"delete_file":"deleted"}"#
    )
}
