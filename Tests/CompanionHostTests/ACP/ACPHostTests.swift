import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Testing

@testable import CompanionHost

/// An agent of the Agent Client Protocol behind a whole host.
@Suite("A host with an agent of the Agent Client Protocol", .timeLimit(.minutes(15)))
struct ACPHostTests {
    private func withHost<R: Sendable>(
        _ options: String...,
        in directory: String,
        timeout: Duration = .seconds(60),
        _ body: (TestHost) async throws -> R
    ) async throws -> R {
        let command = try FakeACPAgent.command(in: directory) + options
        return try await CompanionHostTests.withHost(in: directory) {
            $0.agent = .acp(ACPLaunch(id: "fake", name: "Fake", command: command))
            $0.turnTimeout = timeout
        } _: { (host: TestHost) async throws in
            try await host.pair()
            return try await body(host)
        }
    }

    @Test("Clients of version 1 get what they understand, and the chat keeps the answer")
    func frames() async throws {
        try await withTemporaryDirectory { directory in
            try await withHost("modes", in: directory) { (host: TestHost) async throws in
                let models = try await host.get("/models").decoded(CompanionModelsResponse.self).models.elements
                #expect(models.map(\.id) == ["fake"] && models.map(\.name) == ["Fake"])
                let reply = try await host.ask("think", model: "fake")
                #expect(
                    reply.frames == [
                        .status("Starting Fake"), .status("Mode: Ask first"), .status("Thinking"),
                        .status("Plan, 1 of 2 done: Do it"),
                        .toolStart(name: "Read a file", id: "t"),
                        .toolComplete(
                            name: "Read a file",
                            id: "t",
                            success: true,
                            details: "a.txt:3; 2 lines"
                        ),
                        .text("Done."),
                        .usage(TurnUsage(inputTokens: 5, outputTokens: 6, totalTokens: 11)), .done(files: nil),
                    ]
                )
            }
        }
    }

    @Test("A tool ends once, whatever the agent says of it later")
    func endTwice() async throws {
        try await withTemporaryDirectory { directory in
            try await withHost(in: directory) { (host: TestHost) async throws in
                let frames = try await host.ask("end-twice", model: "fake").frames
                let tools = frames.filter { frame in
                    switch frame {
                    case .toolStart, .toolComplete: true
                    default: false
                    }
                }
                #expect(tools.count == 2, "\(frames)")
            }
        }
    }

    @Test(
        "The session goes on after a restart, or a line in the chat says that a new one began",
        arguments: [true, false]
    )
    func restart(loads: Bool) async throws {
        try await withTemporaryDirectory { directory in
            try await withHost(loads ? "load" : "none", in: directory) { (host: TestHost) async throws in
                #expect(try await host.ask("say one", model: "fake").answer == "one")
            }
            try await withHost(loads ? "load" : "none", in: directory) { (host: TestHost) async throws in
                let notice = """
                    > Fake could not resume its session: this is a new session without the earlier messages.


                    """
                #expect(try await host.ask("recall", model: "fake").answer == (loads ? "say one" : notice))
                let page = try await host.get("/companion/chats/chat-1/messages").decoded(
                    CompanionMessagesPageResponse.self
                )
                #expect(page.messages.elements.last?.text == (loads ? "say one" : notice))
            }
        }
    }

    @Test("Chats whose agent waits for an answer hold up no other chat")
    func manyQuestions() async throws {
        try await withTemporaryDirectory { directory in
            try await withHost(in: directory) { (host: TestHost) async throws in
                var questions: [String] = []
                for number in 0..<20 {
                    try await leave(host, chat: "asks-\(number)", after: "Waiting for an answer")
                    questions.append(
                        try await host.event { event in
                            if case .questionAsked(let question) = event { question.id } else { nil }
                        }
                    )
                }
                #expect(try await host.ask("say hello", chat: "other", model: "fake").answer == "hello")
                for id in questions {
                    var request = AdminRequest(.answer)
                    request.question = id
                    request.approve = true
                    #expect(await host.server.administration.answer(request).questions?.first?.state == .approved)
                }
                for _ in 0...questions.count {
                    #expect(try await host.event(\.turnEnd) == .finished)
                }
            }
        }
    }

    /// Sends a prompt with a question of the agent's, waits for a text in its answer, and goes away.
    private func leave(_ host: TestHost, chat: String, after text: String) async throws {
        let port = host.port
        try await blocking {
            let body = #"{"prompt":"ask","model":"fake"}"#
            let connection = try RawConnection(port: port)
            try connection.send(
                "POST /companion/chats/\(chat)/continue HTTP/1.1\r\nHost: localhost\r\n"
                    + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
            )
            let answer = connection.read(until: text)
            guard answer.contains(text) else { throw TestFailure(answer) }
        }
    }

    @Test("The owner approves a question, while the limit of silence does not count")
    func approve() async throws {
        try await withTemporaryDirectory { directory in
            try await withHost(in: directory, timeout: .seconds(15)) { (host: TestHost) async throws in
                async let reply = host.ask("ask", model: "fake")
                let id = try await host.event { event -> String? in
                    switch event {
                    case .questionAsked(let question): question.id
                    case .turnFinished: ""
                    default: nil
                    }
                }
                guard !id.isEmpty else { throw TestFailure("the agent did not ask") }
                // Longer than the agent may be silent: another chat's turn ends of that meanwhile.
                let silent = try await host.ask("wait", chat: "chat-2", model: "fake")
                guard case .failed = silent.frames.last else { throw TestFailure("silence had no end") }
                var request = AdminRequest(.answer)
                request.question = id
                request.approve = true
                let answer = await host.server.administration.answer(request)
                #expect(answer.questions?.first?.state == .approved)
                let again = await host.server.administration.answer(request)
                #expect(again.error?.code == .approvalDecided)
                #expect(again.error?.message == "The owner answered first: the question was approved")
                let frames = try await reply.frames
                #expect(try await reply.answer == "chosen: y")
                #expect(frames.contains(.status("Waiting for an answer: Run it")))
                #expect(frames.contains(.status("The owner said “Yes” (approved)")))
                #expect(!frames.contains { if case .question = $0 { true } else { false } }, "version 1 has none")
                #expect(try await !reply.body.contains("approval_"))
            }
        }
    }

    @Test("A message of megabytes comes in pieces that clients take")
    func long() async throws {
        try await withTemporaryDirectory { directory in
            try await withHost(in: directory) { (host: TestHost) async throws in
                let reply = try await host.ask("long", model: "fake")
                #expect(reply.frames.last == .done(files: nil))
                #expect(reply.answer == String(repeating: "é", count: 5 << 19))
                let sizes = reply.frames.map { if case .text(let text) = $0 { text.utf8.count } else { 0 } }
                #expect(sizes.allSatisfy { $0 <= 16 << 10 })
            }
        }
    }

    @Test("An agent that says nothing for too long has its own words")
    func silence() async throws {
        try await withTemporaryDirectory { directory in
            try await withHost(in: directory, timeout: .seconds(15)) { (host: TestHost) async throws in
                let reply = try await host.ask("wait", model: "fake")
                #expect(
                    reply.frames.last
                        == .failed(
                            TurnFailure(
                                "Fake did not respond for 15 s, so the turn was ended. To allow more time: pairtool host --turn-timeout"
                            )
                        )
                )
                #expect(try await host.ask("say on", model: "fake").answer == "on", "its prompt was cancelled")
            }
        }
    }
}
