import CompanionClient
import CompanionWire
import FoundationEssentials
import Testing

@Suite struct AICLIFrameTests {
    private func frame(_ text: String) throws -> AICLIFrame {
        try #require(AICLIFrame(json: Array(text.utf8)))
    }

    private func event(_ type: String, _ data: String) throws -> AICLIEvent {
        AICLIEvent(try frame(#"{"type":"\#(type)","requestId":null,"data":\#(data)}"#))
    }

    @Test(
        "What is no frame is none",
        arguments: [
            "", "null", "[1]", "{", #"{"type":""}"#, #"{"type":7}"#, #"{"data":{}}"#, "\"welcome\"", "{\"type\":\"x\"",
        ]
    )
    func garbage(_ text: String) {
        #expect(AICLIFrame(json: Array(text.utf8)) == nil)
    }

    @Test("Bytes that are not UTF-8 and deep nesting are no frame, and crash nothing")
    func hostileBytes() {
        #expect(AICLIFrame(json: [0xFF, 0xFE, 0x7B]) == nil)
        let deep = String(repeating: #"{"a":"#, count: 100_000)
        #expect(AICLIFrame(json: Array(deep.utf8)) == nil)
    }

    @Test("Times are read as ISO text, as milliseconds, and as milliseconds in a text")
    func dates() throws {
        let expected = Date(timeIntervalSince1970: 1_795_253_400.5)
        for text in [#""2026-11-21T09:30:00.500Z""#, "1795253400500", #""1795253400500""#] {
            #expect(try frame(#"{"type":"x","timestamp":\#(text)}"#).timestamp == expected, "\(text)")
        }
        for text in ["-5", "1e300", #""soon""#, "{}", "null"] {
            #expect(try frame(#"{"type":"x","timestamp":\#(text)}"#).timestamp == nil, "\(text)")
        }
    }

    @Test("An error stands beside the data, or in it")
    func errors() throws {
        let beside = try frame(#"{"type":"error","requestId":"r","error":{"code":"INVALID_SESSION","message":"gone"}}"#)
        #expect(beside.error == AICLIServerError(.invalidSession, message: "gone"))
        let inside = try frame(#"{"type":"error","requestId":"r","data":{"code":"ASK_FAILED","message":"no"}}"#)
        #expect(inside.error == AICLIServerError(.ask, message: "no"))
        let plain = try frame(#"{"type":"error","error":"boom"}"#)
        #expect(plain.error == AICLIServerError(.init(rawValue: "UNKNOWN"), message: "boom"))
    }

    @Test("A kept message says how late it is, and is known again whatever its time of delivery")
    func kept() throws {
        let one = try frame(
            #"{"type":"streamChunk","timestamp":"2026-11-21T09:40:00.000Z","_queued":true,"_queuedAt":1795253400000,"#
                + #""_originalTimestamp":1795253400000,"data":{"sessionId":"s","n":1}}"#
        )
        let again = try frame(
            #"{"type":"streamChunk","timestamp":"2026-11-21T09:50:00.000Z","_queued":true,"#
                + #""_originalTimestamp":"2026-11-21T09:30:00.000Z","data":{"n":1,"sessionId":"s"}}"#
        )
        let live = try frame(
            #"{"type":"streamChunk","timestamp":"2026-11-21T09:30:00.000Z","data":{"sessionId":"s","n":1}}"#
        )
        let other = try frame(
            #"{"type":"streamChunk","timestamp":"2026-11-21T09:30:00.000Z","data":{"sessionId":"s","n":2}}"#
        )
        #expect(one.delay(now: Date(timeIntervalSince1970: 1_795_253_700)) == .seconds(300))
        #expect(live.delay(now: Date(timeIntervalSince1970: 1_795_253_700)) == nil)
        #expect(one.identity == again.identity && one.identity == live.identity)
        #expect(one.identity != other.identity)
        // What was seen is kept on the disk: it is still known by another version.
        #expect(one.identity == "170495e7f028cfa3")
        // A clock that is behind makes no negative delay.
        #expect(one.delay(now: Date(timeIntervalSince1970: 0)) == .zero)
    }

    @Test("Empty chunks and tools without a name say nothing")
    func dropped() throws {
        for chunk in [
            #"{"chunk":{"type":"text","content":""}}"#, #"{"chunk":{"type":"text","content":" \n "}}"#,
            #"{"chunk":{"type":"complete","content":"","isFinal":true}}"#,
            #"{"chunk":{"type":"divider","content":""}}"#,
            #"{"chunk":{"type":"text","content":7}}"#, #"{"chunk":{"type":"tool_use","content":"x"}}"#,
            #"{"chunk":{"type":"tool_use","metadata":{"toolName":"  "}}}"#, "{}", "7", "null",
        ] {
            #expect(try event("streamChunk", chunk) == .nothing, "\(chunk)")
        }
        #expect(try event("assistantMessage", #"{"type":"tool_use","input":{}}"#) == .nothing)
        #expect(try event("permissionRequired", #"{"sessionId":"s","options":["y"]}"#) == .nothing)
    }

    @Test("Chunks keep their kind: headings, code and lists are shown as what they are")
    func chunks() throws {
        #expect(
            try event("streamChunk", #"{"chunk":{"type":"header","content":"Plan","level":2}}"#) == .text("## Plan")
        )
        #expect(
            try event("streamChunk", #"{"chunk":{"type":"code","content":"let a = 1","language":"swift"}}"#)
                == .text("```swift\nlet a = 1\n```")
        )
        #expect(try event("streamChunk", #"{"chunk":{"type":"list","content":"- a"}}"#) == .text("- a"))
        #expect(
            try event("streamChunk", #"{"chunk":{"type":"tool_use","content":"","metadata":{"toolName":"Read"}}}"#)
                == .tool(name: "Read", id: nil)
        )
    }

    @Test(
        "Chunks of a type that is no text of the assistant are not shown, whatever they hold",
        arguments: ["session_id", "status", "progress", "system", "thinking", "Text", "text\u{301}", "", "unheard-of"]
    )
    func otherChunks(_ type: String) throws {
        #expect(try event("streamChunk", #"{"chunk":{"type":"\#(type)","content":"0f1e2d3c"}}"#) == .nothing)
    }

    @Test("A chunk without a type, and the types that the servers have for text, are text")
    func textChunks() throws {
        for type in ["text", "paragraph", "section", "list"] {
            #expect(try event("streamChunk", #"{"chunk":{"type":"\#(type)","content":"a"}}"#) == .text("a"))
        }
        #expect(try event("streamChunk", #"{"chunk":{"content":"a"}}"#) == .text("a"))
    }

    @Test("Tools that stand in the blocks of a message are tools, and the text beside them is text, in order")
    func blocks() throws {
        let tool = #"{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"a"}}"#
        #expect(
            try event("assistantMessage", #"{"type":"tool_use","content":[\#(tool)]}"#) == .tool(name: "Read", id: "t1")
        )
        let text = #"{"type":"text","text":"I look."}"#
        let other = #"{"type":"tool_use","name":"Bash"}"#
        for type in ["tool_use", "assistant_response", "assistant"] {
            let data =
                #"{"type":"\#(type)","content":[\#(text),\#(tool),\#(other),\#(text),\#(text),{"type":"thinking"}]}"#
            let found = try event("assistantMessage", data)
            let expected: [AICLIEvent] = [
                .text("I look."), .tool(name: "Read", id: "t1"), .tool(name: "Bash", id: nil),
                .text("I look.\n\nI look."),
            ]
            #expect(found == .several(expected))
        }
        #expect(try event("assistantMessage", #"{"type":"tool_use","content":[{"type":"tool_use"}]}"#) == .nothing)
    }

    @Test("Numbers without end make no heading without end")
    func levels() throws {
        #expect(
            try event("streamChunk", #"{"chunk":{"type":"header","content":"A","level":1000000000}}"#)
                == .text("###### A")
        )
        #expect(try event("streamChunk", #"{"chunk":{"type":"header","content":"A","level":-3}}"#) == .text("# A"))
        let usage = #"{"success":true,"usage":{"input_tokens":9007199254740991,"output_tokens":1e300}}"#
        guard case .result(true, let read?) = try event("conversationResult", usage) else {
            Issue.record("no result")
            return
        }
        #expect(read.inputTokens == 9_007_199_254_740_991 && read.outputTokens == nil)
    }

    @Test("Every code of the server has a meaning, and others are shown as they are")
    func codes() {
        let expected: [(AICLIServerError.Code, CompanionClientError.Code)] = [
            (.invalidSession, .notFound), (.sessionLimit, .busy), (.permissionDenied, .forbidden),
            (.routing, .unsupportedVersion), (.handler, .server), (.streamStart, .hostError), (.streamSend, .hostError),
            (.command, .hostError), (.ask, .hostError), (.permission, .hostError), (.setDirectory, .badRequest),
        ]
        for (code, meaning) in expected {
            let error = AICLIServerError(code, message: "why").clientError
            #expect(error.code == meaning && error.hostText == "why", "\(code)")
        }
        let other = AICLIServerError(.init(rawValue: "TEAPOT"), message: "short and stout").clientError
        #expect(other.code == .hostError && other.description.contains("TEAPOT") && other.description.contains("stout"))
        let full = AICLIServerError(.streamStart, message: "Maximum number of sessions (10) reached")
        #expect(full.isSessionLimit && full.clientError.code == .busy)
    }

    @Test("A tool that is allowed covers a question that names it, and no other")
    func permissions() {
        let bash = AICLIPermissionRequest(prompt: "Run Read now?", tool: "Bash")
        #expect(bash.isCovered(by: ["bash"]) && bash.isCovered(by: nil))
        #expect(!bash.isCovered(by: ["Read"]) && !bash.isCovered(by: []))
        #expect(!AICLIPermissionRequest(prompt: "Run Read?").isCovered(by: ["Read"]))
        // Servers that do not name it beside the question leave it to the question's own words.
        let asked = AICLIPermissionRequest(prompt: "May I use the Bash tool to run ls?")
        #expect(asked.isCovered(by: ["Bash"]) && !asked.isCovered(by: ["Read"]) && asked.isCovered(by: nil))
        for text in [
            "May I delete it all? Read the plan first.", "May I use Bash and Write?", "May I use the Sudo tool? Bash!",
            "Use Bash, then use Sudo?", "use bash?", "May I rm -rf /?", "",
            "May I use the Read tool, then the shell tool?", "Use the Read tool and call write?",
            "May I use the Read tool, or any other tool?",
        ] {
            #expect(!AICLIPermissionRequest(prompt: text).isCovered(by: ["Bash", "Read"]), "\(text)")
        }
        #expect(AICLIPermissionRequest(prompt: "May I use Bash and Write?").isCovered(by: ["write", "bash"]))
        let odd = AICLIPermissionRequest(prompt: "?", options: ["Allow", "Deny"])
        #expect(odd.allowing == "Allow" && odd.denying == "Deny")
        #expect(odd.approval.options?.map(\.kind) == [ApprovalOption.Kind.allowOnce, .rejectOnce])
        #expect(odd.word(for: .allow(always: false)) == "Allow")
        #expect(odd.word(for: .reject(always: false, reason: nil)) == "Deny")
        let branches = AICLIPermissionRequest(prompt: "?", options: ["main", "develop"])
        #expect(branches.approval.options?.map(\.kind) == [ApprovalOption.Kind.other, .other])
        #expect(branches.word(for: .option("develop")) == "develop" && branches.word(for: .allow(always: false)) == nil)
    }

    @Test("A question shows all that the request has, its first line before the rest")
    func wholeQuestion() throws {
        let asked = try event(
            "permissionRequired",
            #"{"sessionId":"s","prompt":"Run it?\nrm -r build","message":"and push","options":["y","n"],"#
                + #""default":"n","toolName":"Bash","input":{"command":"rm -r build"},"text":"Run it?\nrm -r build"}"#
        )
        guard case .permission(let request) = asked else {
            Issue.record("\(asked)")
            return
        }
        let approval = request.approval
        #expect(approval.title == "Run it?" && approval.kind == "Bash")
        #expect(approval.arguments == "rm -r build\ninput: {\"command\":\"rm -r build\"}\nmessage: and push")
        #expect(AICLIPermissionRequest(prompt: "Go on?").approval.arguments == nil)
    }
}
