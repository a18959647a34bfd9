import CompanionClient
import CompanionTestSupport
import CompanionWire
import Testing

@Suite struct StreamTests {
    /// The events of one turn.
    private func events(
        of turn: FakeMacTurn,
        _ configuration: CompanionClientConfiguration = .patient
    ) async throws -> (events: [TurnEvent], error: CompanionClientError?) {
        try await withPeers(.turn(turn), configuration) { mac, client async throws in
            var events: [TurnEvent] = []
            var caught: CompanionClientError?
            do {
                for try await event in client.continueChat(chatID: "c-login", request: .prompt("Hi")) {
                    events.append(event)
                }
            } catch let error as CompanionClientError {
                caught = error
            }
            #expect(mac.prompts == 1)
            return (events, caught)
        }
    }

    private func text(_ events: [TurnEvent]) -> String {
        events.reduce(into: "") { if case .text(let text) = $1 { $0 += text } }
    }

    @Test(arguments: ["text", "frames", "bytes"])
    func `an answer without an end is not read for ever`(_ limit: String) async throws {
        var configuration = CompanionClientConfiguration.patient
        switch limit {
        case "text": configuration.limits.text = 1000
        case "frames": configuration.limits.frames = 100
        default: configuration.limits.answer = 10_000
        }
        let prelude = limit == "frames" ? Array(repeating: #"{"type":"status","label":"Thinking"}"#, count: 200) : []
        let result = try await events(
            of: .answering(String(repeating: "a", count: 5000), unitsPerFrame: 1, prelude: prelude),
            configuration
        )
        #expect(result.error?.code == .tooLarge)
        #expect(text(result.events).utf8.count <= 1000 && result.events.count <= 1000)
    }

    static let answers: [String] = [
        "short", "", "🚀 to the moon 👩‍👩‍👧‍👦", String(repeating: "🚀é\u{0}\u{1b}[31m\r\n", count: 200),
        String(repeating: "a", count: 256) + "b",
    ]

    @Test(arguments: answers, [1, 3, 64])
    func `an answer arrives whole, its tail after done and its characters uncut`(_ answer: String, _ cut: Int)
        async throws
    {
        let result = try await events(of: .answering(answer, unitsPerFrame: cut))
        #expect(result.error == nil)
        #expect(text(result.events) == answer)
        #expect(result.events.contains(.done(files: nil)))
        if !answer.isEmpty { #expect(result.events.last != .done(files: nil)) }
    }

    @Test func `frames become events, unknown ones included`() async throws {
        let prelude = [
            #"{"type":"status","label":"Thinking"}"#,
            #"{"type":"tool_start","toolName":"grep","toolCallID":"t1"}"#,
            #"{"type":"tool_complete","toolName":"grep","toolCallID":null,"success":false,"details":"no\u001b[2J"}"#,
            #"{"type":"usage","inputTokens":3,"outputTokens":4,"totalTokens":7,"model":"m","raw":{"x":[1]}}"#,
            #"{"type":"telepathy","x":1}"#,
            "not JSON",
        ]
        let result = try await events(of: .answering("ok", prelude: prelude))
        #expect(
            result.events == [
                .status("Thinking"),
                .toolStart(name: "grep", id: "t1"),
                .toolComplete(name: "grep", id: nil, success: false, details: "no\u{1b}[2J"),
                .usage(TurnUsage(inputTokens: 3, outputTokens: 4, totalTokens: 7, model: "m")),
                .unknown(type: "telepathy"), .unknown(type: ""), .done(files: nil), .text("ok"),
            ]
        )
    }

    @Test(arguments: [#"{"type":"error","error":"boom"}"#, #"{"error":"boom"}"#], [true, false])
    func `an error frame is an event, and the end without DONE is none`(_ frame: String, _ chunked: Bool) async throws {
        var turn = FakeMacTurn(steps: [.frame(FakeMacTurn.text("half")), .frame(frame), .finish])
        turn.isChunked = chunked
        let result = try await events(of: turn)
        #expect(result.events == [.text("half"), .failed(TurnFailure("boom"))])
        #expect(result.error == nil)
    }

    @Test(arguments: [true, false])
    func `an end without DONE is an interruption`(_ chunked: Bool) async throws {
        var turn = FakeMacTurn(steps: [.frame(FakeMacTurn.text("half")), .frame(#"{"type":"done"}"#), .finish])
        turn.isChunked = chunked
        let result = try await events(of: turn)
        #expect(text(result.events) == "half")
        #expect(result.error?.code == .streamInterrupted)
        #expect(result.error?.delivery == .answered)
    }

    @Test func `a reset in mid-frame is an interruption`() async throws {
        let steps: [FakeMacTurn.Step] = [
            .frame(FakeMacTurn.text("half")), .raw(Array(#"data: {"type":"te"#.utf8)), .hold("shown"), .reset,
        ]
        try await withPeers(.turn(FakeMacTurn(steps: steps))) { mac, client async throws in
            var seen = ""
            let error = try await clientError {
                for try await event in client.continueChat(chatID: "c", request: .prompt("Hi")) {
                    if case .text(let text) = event { seen += text }
                    mac.release("shown")
                }
            }
            #expect(seen == "half")
            #expect(error.code == .streamInterrupted)
        }
    }

    @Test func `silence that is too long is an interruption`() async throws {
        let turn = FakeMacTurn(steps: [.frame(FakeMacTurn.text("half")), .hold("never")])
        let result = try await events(of: turn, .init(timeouts: .init(idle: .seconds(10))))
        #expect(text(result.events) == "half")
        #expect(result.error?.code == .streamInterrupted)
        #expect((result.error?.underlying as? CompanionClientError)?.code == .timedOut)
    }

    @Test func `frames that drip byte by byte are frames`() async throws {
        let turn = FakeMacTurn(steps: [.drip(FakeMacTurn.text("slow 🐌")), .end])
        #expect(try await events(of: turn).events == [.text("slow 🐌")])
    }

    @Test func `a frame without end is refused at its limit`() async throws {
        let turn = FakeMacTurn(steps: [.raw([UInt8](repeating: 0x61, count: 200_000)), .hold("never")])
        let result = try await events(of: turn, .init(limits: .init(frame: 100_000)))
        #expect(result.error?.code == .tooLarge)
    }

    @Test func `an answer without end is refused at its limit`() async throws {
        let frame = FakeMacTurn.Step.frame(FakeMacTurn.text(String(repeating: "a", count: 1000)))
        let turn = FakeMacTurn(steps: Array(repeating: frame, count: 200) + [.hold("never")])
        let result = try await events(of: turn, .init(limits: .init(answer: 100_000)))
        #expect(result.error?.code == .tooLarge)
    }

    @Test func `bytes behind DONE do not count`() async throws {
        let turn = FakeMacTurn(steps: [
            .raw(Array("data: \(FakeMacTurn.text("a"))\n\ndata: [DONE]\n\ndata: \(FakeMacTurn.text("b"))\n\n".utf8)),
            .end,
        ])
        #expect(try await events(of: turn).events == [.text("a")])
    }

    @Test func `without a model the answer is one error frame`() async throws {
        try await withPeers { mac, client async throws in
            var request = ContinueChatRequest.prompt("Hi")
            request.model = nil
            var events: [TurnEvent] = []
            for try await event in client.continueChat(chatID: "c-login", request: request) { events.append(event) }
            #expect(events == [.failed(TurnFailure("Model is required"))])
            #expect(mac.messages(of: "c-login").map(\.text) == ["Hi"])
        }
    }

    @Test func `the request carries prompt, path, model and the denial of tools`() async throws {
        try await withPeers { mac, client async throws in
            for try await _ in client.continueChat(chatID: "c/1", request: .prompt("Hi")) {}
            let request = try #require(mac.requests.first)
            #expect(request.path == "/companion/chats/c%2F1/continue")
            for part in [
                #""prompt":"Hi""#, #""projectPath":"/Users/ada/web""#, #""model":"gpt-test""#, #""allowedTools":[]"#,
            ] {
                #expect(request.text.contains(part))
            }
        }
    }

    @Test(arguments: [
        (FakeMacFault.Kind.page(status: 200), CompanionClientError.Code.notACompanion),
        (.json(status: 200, #"{"ok":true}"#), .badAnswer),
        (.json(status: 400, #"{"ok":false,"error":"Prompt is required"}"#), .badRequest),
        (.json(status: 403, #"{"ok":false,"error":"No paired companion device connected"}"#), .notPaired),
        (.json(status: 401, #"{"ok":false,"error":"Copilot auth is required on Mac host"}"#), .hostSignedOut),
        (.redirect(to: "/elsewhere"), .redirected),
        (.garbage(Array("220 ftp\r\n".utf8)), .notACompanion),
        (.close, .unreachable), (.reset, .unreachable),
    ])
    func `what is no stream has its error, and is not tried again`(
        _ fault: (kind: FakeMacFault.Kind, code: CompanionClientError.Code)
    ) async throws {
        try await withPeers(.with { $0.faults = [FakeMacFault(fault.kind)] }) { mac, client async throws in
            let error = try await clientError {
                for try await event in client.continueChat(chatID: "c", request: .prompt("Hi")) {
                    Issue.record("\(event)")
                }
            }
            #expect(error.code == fault.code, "\(error.debugDescription)")
            #expect(mac.prompts == 1)
        }
    }

    @Test func `nothing is sent until the first event is asked for`() async throws {
        try await withPeers { mac, client async throws in
            var iterator = client.continueChat(chatID: "c-login", request: .prompt("Hi")).makeAsyncIterator()
            _ = try await client.health()
            #expect(mac.prompts == 0)
            while try await iterator.next() != nil {}
            #expect(mac.prompts == 1)
        }
    }

    @Test func `cancelling ends the wait, not the turn`() async throws {
        let turn = FakeMacTurn(steps: [.frame(FakeMacTurn.text("a")), .hold("on"), .store, .end], answer: "ab")
        try await withPeers(.turn(turn)) { mac, client async throws in
            let task = Task {
                for try await _ in client.continueChat(chatID: "c-login", request: .prompt("Hi")) {}
            }
            try await mac.reached("on")
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            mac.release("on")
            while mac.messages(of: "c-login").last?.text != "ab" { await Task.yield() }
        }
    }
}
