import CompanionClient
import CompanionTestSupport
import CompanionWire
import NIOConcurrencyHelpers
import Testing

@Suite struct ChatTurnTests {
    struct Result {
        var outputs: [TurnEvent] = []
        var error: CompanionClientError?
        /// The end of the chat's history before a turn that ended well.
        var position: HistoryPosition?

        var text: String { outputs.reduce(into: "") { if case .text(let text) = $1 { $0 += text } } }

        var notices: Int { outputs.count { if case .recovering = $0 { true } else { false } } }

        var summary: FinishedTurn? { if case .finished(let summary) = outputs.last { summary } else { nil } }
    }

    /// Runs a turn in a chat of 250 messages. Time passes at once.
    private func run(
        _ script: FakeMacScript,
        configuration: CompanionClientConfiguration = .patient,
        onOutput: (FakeMac, TurnEvent) -> Void = { _, _ in },
        check: (FakeMac) -> Void
    ) async throws -> Result {
        var script = script
        if script.messages.isEmpty { script.fill("c-login", count: 250) }
        return try await withPeers(script, configuration) { mac, client async throws in
            var result = Result()
            let position = NIOLockedValueBox<HistoryPosition?>(nil)
            let turn = ChatTurn(
                client: client,
                chatID: "c-login",
                request: .prompt("Hi"),
                clock: ImmediateClock(),
                finished: { found in position.withLockedValue { $0 = found } }
            )
            do {
                for try await output in turn.run() {
                    result.outputs.append(output)
                    onOutput(mac, output)
                }
            } catch let error as CompanionClientError {
                result.error = error
            }
            check(mac)
            result.position = position.withLockedValue { $0 }
            return result
        }
    }

    private func run(_ script: FakeMacScript) async throws -> Result {
        try await run(script) { _ in }
    }

    @Test func `a turn gives tools, usage and text, and a summary at its end`() async throws {
        let answer = String(repeating: "🚀 long ", count: 100)
        let prelude = [
            #"{"type":"status","label":"Thinking"}"#, #"{"type":"tool_start","toolName":"view"}"#,
            #"{"type":"usage","totalTokens":9}"#,
        ]
        let result = try await run(.turn(.answering(answer, prelude: prelude))) { #expect($0.prompts == 1) }
        #expect(
            Array(result.outputs.prefix(2)) == [.status("Thinking"), .toolStart(name: "view", id: nil)]
        )
        #expect(result.text == answer)
        #expect(result.summary?.answer == answer)
        #expect(result.summary?.usage?.totalTokens == 9)
        #expect(result.summary?.wasRecovered == false)
        #expect(result.position?.cursor == "200")
        #expect(result.position?.identifiers.last == "m-249")
        #expect(result.error == nil)
    }

    static let breaks: [(name: String, last: FakeMacTurn.Step)] = [("end of file", .eof), ("reset", .reset)]

    @Test(arguments: breaks.indices, [1, 2, 5])
    func `a broken stream is completed from the history, and the prompt is sent once`(
        _ index: Int,
        _ reads: Int
    ) async throws {
        let frame = FakeMacTurn.text("The answer ")
        var turn = FakeMacTurn(
            steps: [.frame(frame), .raw(Array("data: {\"ty".utf8)), .hold("shown"), Self.breaks[index].last],
            answer: "The answer is 42"
        )
        turn.storedAtRead = reads
        let result = try await run(.turn(turn), onOutput: { mac, _ in mac.release("shown") }) { mac in
            #expect(mac.prompts == 1)
            let polls = mac.requests("GET", "/companion/chats/c-login/messages").count - 2
            #expect(polls == reads)
        }
        #expect(result.error == nil)
        #expect(result.text == "The answer is 42")
        #expect(result.notices == 1)
        #expect(result.outputs.contains(.text("is 42")))
        #expect(result.summary?.wasRecovered == true)
    }

    @Test func `a character that broke in two is not shown in halves`() async throws {
        let units = Array("🚀".utf16)
        var turn = FakeMacTurn(
            steps: [.frame(FakeMacTurn.text("go ")), .frame(FakeMacTurn.text(units[..<1])), .eof],
            answer: "go 🚀!"
        )
        turn.storedAtRead = 2
        let result = try await run(.turn(turn))
        #expect(result.text == "go 🚀!")
    }

    @Test func `silence is a break, too`() async throws {
        var turn = FakeMacTurn(steps: [.frame(FakeMacTurn.text("a")), .hold("never")], answer: "ab")
        turn.storedAtRead = 1
        let result = try await run(.turn(turn), configuration: .init(timeouts: .init(idle: .seconds(10)))) {
            #expect($0.prompts == 1)
        }
        #expect(result.text == "ab")
        #expect(result.summary?.wasRecovered == true)
    }

    @Test func `a connection that broke before the answer, with the prompt taken, is followed up`() async throws {
        var turn = FakeMacTurn(steps: [], answer: "late")
        turn.resetsBeforeHead = true
        turn.storedAtRead = 4
        let result = try await run(.turn(turn)) { #expect($0.prompts == 1) }
        #expect(result.text == "late")
        #expect(result.error == nil)
    }

    @Test func `a prompt that was not taken is an error, and not sent again`() async throws {
        var turn = FakeMacTurn(steps: [])
        turn.resetsBeforeHead = true
        turn.storesPrompt = false
        let result = try await run(.turn(turn)) { mac in
            #expect(mac.prompts == 1)
            #expect(mac.messages(of: "c-login").count == 250)
        }
        #expect(result.error?.code == .unreachable)
        #expect(result.error?.delivery == .notSent)
        #expect(result.summary == nil)
    }

    @Test func `an answer that never comes is an interruption`() async throws {
        let turn = FakeMacTurn(steps: [.frame(FakeMacTurn.text("half")), .finish])
        let result = try await run(.turn(turn)) { #expect($0.prompts == 1) }
        #expect(result.text == "half")
        #expect(result.error?.code == .streamInterrupted)
    }

    @Test(arguments: [#"{"type":"error","error":"boom"}"#, #"{"error":"boom"}"#])
    func `an error frame fails the turn at once, and the text before it counts`(_ frame: String) async throws {
        let turn = FakeMacTurn(steps: [.frame(FakeMacTurn.text("half")), .frame(frame), .finish])
        let result = try await run(.turn(turn)) { mac in
            #expect(mac.requests("GET", "/companion/chats/c-login/messages").count == 2)
        }
        #expect(result.text == "half")
        #expect(result.error?.code == .hostError)
        #expect(result.error?.hostText == "boom")
        #expect(result.notices == 0)
    }

    @Test func `a host that fails while it is asked is asked on`() async throws {
        var turn = FakeMacTurn(steps: [.frame(FakeMacTurn.text("a")), .hold("shown"), .eof], answer: "ab")
        turn.storedAtRead = 1
        let play: (FakeMac, TurnEvent) -> Void = { mac, output in
            guard output == .text("a") else { return }
            mac.change {
                let path = "/companion/chats/c-login/messages"
                $0.faults = [
                    FakeMacFault(.reset, on: path, times: 2),
                    FakeMacFault(
                        .json(status: 401, #"{"ok":false,"error":"Copilot auth is required on Mac host"}"#),
                        on: path,
                        times: 1
                    ),
                ]
            }
            mac.release("shown")
        }
        let result = try await run(.turn(turn), onOutput: play) { #expect($0.prompts == 1) }
        #expect(result.text == "ab")
    }

    @Test func `an old answer to the same prompt is not taken for the new one`() async throws {
        var script = FakeMacScript()
        script.messages["c-login"] = [
            CompanionMessage(id: "1", role: .user, text: "Hi", createdAt: nil),
            CompanionMessage(id: "2", role: .assistant, text: "old answer", createdAt: nil),
        ]
        var turn = FakeMacTurn(steps: [.eof], answer: "new answer")
        turn.storedAtRead = 3
        script.turns = [turn]
        #expect(try await run(script).text == "new answer")
    }

    @Test func `messages that were imported meanwhile do no harm`() async throws {
        var turn = FakeMacTurn(steps: [.frame(FakeMacTurn.text("a")), .hold("shown"), .eof], answer: "ab")
        turn.storedAtRead = 1
        let play: (FakeMac, TurnEvent) -> Void = { mac, output in
            guard output == .text("a") else { return }
            mac.change { script in
                let old = (0..<300).flatMap { index in
                    [
                        CompanionMessage(id: "old-\(index)", role: .user, text: "Hi", createdAt: nil),
                        CompanionMessage(id: "old-a-\(index)", role: .assistant, text: "a wrong one", createdAt: nil),
                    ]
                }
                script.messages["c-login"]?.insert(contentsOf: old, at: 0)
            }
            mac.release("shown")
        }
        let result = try await run(.turn(turn), onOutput: play) { #expect($0.prompts == 1) }
        #expect(result.text == "ab")
    }

    @Test func `messages that were removed meanwhile do no harm`() async throws {
        var turn = FakeMacTurn(steps: [.frame(FakeMacTurn.text("a")), .hold("shown"), .eof], answer: "ab")
        turn.storedAtRead = 1
        let play: (FakeMac, TurnEvent) -> Void = { mac, output in
            guard output == .text("a") else { return }
            mac.change { $0.messages["c-login"]?.removeFirst(150) }
            mac.release("shown")
        }
        let result = try await run(.turn(turn), onOutput: play) { #expect($0.prompts == 1) }
        #expect(result.text == "ab")
    }

    @Test func `a new chat is recovered as well`() async throws {
        var script = FakeMacScript.turn(FakeMacTurn(steps: [.eof], answer: "made"))
        script.turns[0].storedAtRead = 2
        script.messages["other"] = []
        #expect(try await run(script).text == "made")
    }

    @Test func `a gate that is closed stops the turn before the prompt is sent`() async throws {
        let result = try await run(.with { $0.isPaired = false }) { #expect($0.prompts == 0) }
        #expect(result.error?.code == .notPaired)
    }

    @Test func `an answer that takes longer than a silent host may is waited for`() async throws {
        var turn = FakeMacTurn(steps: [.frame(FakeMacTurn.text("a")), .eof], answer: "ab")
        // A question every 5 s: a quarter of an hour.
        turn.storedAtRead = 180
        // A Mac would have ended it.
        var script = FakeMacScript.turn(turn)
        script.service = "pairtool-host"
        let result = try await run(script) { #expect($0.prompts == 1) }
        #expect(result.text == "ab")
        #expect(result.error == nil)
    }

    @Test func `an earlier position saves the way through the chat`() async throws {
        try await withPeers(.with { $0.fill("c-login", count: 1000) }) { mac, client async throws in
            let first = try await client.historyPosition(chatID: "c-login")
            #expect(first.cursor == "800")
            let walked = mac.requests.count
            let turn = ChatTurn(client: client, chatID: "c-login", request: .prompt("Hi"), position: first)
            for try await _ in turn.run() {}
            let more = mac.requests.dropFirst(walked).map { "\($0.method) \($0.path)" }
            let chat = "/companion/chats/c-login"
            #expect(more == ["GET \(chat)/messages", "GET /health", "POST \(chat)/continue"])
        }
    }
}
