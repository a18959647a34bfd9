import CompanionWire
import Testing

@Suite struct StreamTests {
    private typealias Output = ContinueChatStreamDecoder.Output

    private func decode(_ text: String, pieces: Int) throws -> [Output] {
        var decoder = ContinueChatStreamDecoder()
        let bytes = Array(text.utf8)
        var outputs: [Output] = []
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            outputs += try decoder.feed(bytes[start..<min(start + pieces, bytes.count)])
        }
        return outputs + decoder.finish()
    }

    private func text(_ outputs: [Output]) -> String {
        outputs.map { if case .event(.text(let text)) = $0 { text } else { "" } }.joined()
    }

    static let everyFrame = """
        data: {"type":"status","label":"Thinking"}

        data: {"type":"tool_start","toolName":"read_file","toolCallID":"c1"}

        data: {"type":"tool_complete","toolName":"read_file","toolCallID":null,"success":false,"details":"no"}

        data: {"type":"usage","inputTokens":3,"model":"m","raw":{"x":[1]}}

        data: {"type":"text","text":"a"}

        data: {"type":"done"}

        data: {"type":"text","text":"b"}

        data: {"type":"later","x":1}

        data: {"error":"no type"}

        data: [DONE]

        data: {"type":"text","text":"after the end"}


        """

    @Test("Every frame is read, however the bytes are cut", arguments: [1, 2, 3, 7, 64, 10_000])
    func everyFrameIsRead(pieces: Int) throws {
        #expect(
            try decode(Self.everyFrame, pieces: pieces) == [
                .event(.status("Thinking")),
                .event(.toolStart(name: "read_file", id: "c1")),
                .event(.toolComplete(name: "read_file", id: nil, success: false, details: "no")),
                .event(.usage(TurnUsage(inputTokens: 3, model: "m"))),
                .event(.text("a")), .event(.done(files: nil)), .event(.text("b")), .event(.unknown(type: "later")),
                .event(.failed(TurnFailure("no type"))), .end,
            ]
        )
    }

    @Test("Lines may end in LF, CR or CR LF", arguments: ["\n", "\r", "\r\n"])
    func lineEnds(end: String) throws {
        let stream = #"data: {"type":"text","text":"x"}"# + end + end + "data: [DONE]" + end + end
        #expect(try decode(stream, pieces: 1) == [.event(.text("x")), .end])
    }

    @Test("A surrogate pair that two frames share becomes one character")
    func splitSurrogates() throws {
        let stream = #"""
            data: {"type":"text","text":"go \ud83d"}

            data: {"type":"status","label":"s"}

            data: {"type":"text","text":""}

            data: {"type":"text","text":"\ude80 up"}

            data: [DONE]


            """#
        #expect(text(try decode(stream, pieces: 5)) == "go 🚀 up")
    }

    @Test(
        "Halves without a partner become U+FFFD and never fail the stream",
        arguments: [
            (#"\ud83d"#, "x", "\u{FFFD}x"), (#"\ude80"#, "x", "\u{FFFD}x"), (#"\ud83d\ud83d"#, #"\ude80"#, "\u{FFFD}🚀"),
            ("a", #"\ud83d"#, "a\u{FFFD}"), (#"\\ud83d"#, "x", #"\ud83dx"#), (#"\uD83D\uDE80"#, "x", "🚀x"),
        ]
    )
    func loneSurrogates(first: String, second: String, expected: String) throws {
        let stream =
            #"data: {"type":"text","text":"\#(first)"}"# + "\n\n" + #"data: {"type":"text","text":"\#(second)"}"#
            + "\n\ndata: [DONE]\n\n"
        #expect(text(try decode(stream, pieces: 4)) == expected)
    }

    @Test("Frames that do not decode are unknown, not errors", arguments: ["{", "[]", "null", #"{"type":7}"#, "\u{1}"])
    func garbage(frame: String) throws {
        #expect(try decode("data: \(frame)\n\ndata: [DONE]\n\n", pieces: 3) == [.event(.unknown(type: "")), .end])
    }

    @Test("Bytes that are not UTF-8 are replaced")
    func invalidUTF8() throws {
        var decoder = ContinueChatStreamDecoder()
        let frame = Array(#"data: {"type":"text","text":"a"#.utf8) + [0xff] + Array("b\"}\n\n".utf8)
        #expect(try decoder.feed(frame) == [.event(.text("a\u{FFFD}b"))])
    }

    @Test("An event over the limit ends the stream with an error that names the limit")
    func limit() {
        var decoder = ContinueChatStreamDecoder(maximumEventSize: 100)
        #expect(throws: StreamLimitError.self) { try decoder.feed([UInt8](repeating: 0x61, count: 101)) }
    }

    @Test("An event that no blank line ends is not delivered")
    func unfinishedEvent() throws {
        #expect(try decode(#"data: {"type":"text","text":"x"}"# + "\n", pieces: 9).isEmpty)
    }

    @Test("What the host writes, the client reads")
    func roundTrip() throws {
        let tool = ToolReport(
            id: "t",
            title: "Edit",
            kind: "edit",
            status: .completed,
            locations: [AgentLocation(path: "a", line: 3), AgentLocation(path: "b")],
            changes: [ToolReport.Change(path: "a", diff: "--- a\n+++ a\n")]
        )
        let mode = try #require(AgentMode("a\"b"))
        let events: [TurnEvent] = [
            .status("a\nb\"c\\"), .text("ü 🚀 \u{0} \u{2028}"), .toolStart(name: "t", id: nil),
            .toolComplete(name: "t", id: nil, success: true, details: nil), .done(files: nil),
            .failed(TurnFailure("e")),
            .usage(TurnUsage(inputTokens: 1, outputTokens: 2, totalTokens: 3, model: "m")),
            .mode(mode), .done(files: 3), .failed(TurnFailure("e", files: 2)),
            .thought("hm\n"), .plan([AgentPlanStep(text: "\"", status: .inProgress)]),
            .tool(tool), .media(AgentMedia(mimeType: "image/png", size: 3, data: "AAAA")),
            .media(AgentMedia(mimeType: "", size: 9, data: nil)),
        ]
        let stream = events.map(TurnFrames.encode).joined() + TurnFrames.end
        #expect(try decode(stream, pieces: 1) == events.map(Output.event) + [.end])
    }

    @Test("A finished tool without an id is written with null, as deployed hosts do")
    func nullToolCallID() {
        let frame = TurnFrames.encode(.toolComplete(name: "t", id: nil, success: true, details: nil))
        #expect(
            frame == "data: {\"type\":\"tool_complete\",\"toolName\":\"t\",\"toolCallID\":null,\"success\":true}\n\n"
        )
    }

    @Test("Details are cut to 280 UTF-16 units without splitting a character")
    func details() {
        let cut = TurnFrames.truncated("a" + String(repeating: "🚀", count: 200))
        #expect(cut.utf16.count == 279)
        #expect(!cut.contains("\u{FFFD}"))
    }
}
