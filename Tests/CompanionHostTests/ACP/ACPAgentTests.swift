import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Glibc
import Logging
import NIOConcurrencyHelpers
import Testing

@testable import CompanionHost

/// The driver over a real process, whose every word a test decides.
@Suite("An agent of the Agent Client Protocol", .timeLimit(.minutes(15)))
struct ACPAgentTests {
    /// Sessions as the database keeps them.
    final class Sessions: AgentSessionStore {
        let records = NIOLockedValueBox<[String: AgentSessionRecord]>([:])
        func session(chatID: String) async throws -> AgentSessionRecord? { records.withLockedValue { $0[chatID] } }
        func keep(_ session: AgentSessionRecord) async throws {
            records.withLockedValue { $0[session.chatID] = session }
        }
    }

    /// An agent at work, in a directory of its own.
    struct Bench: Sendable {
        let agent: ACPAgent
        let directory: String
        let events = NIOLockedValueBox<[TurnEvent]>([])
        let notices = NIOLockedValueBox<[String]>([])
        let reports: NIOLockedValueBox<[AgentReport]>
        /// Doors that open with each report, by its number.
        let told: Gates
        let questions = NIOLockedValueBox<[ProposedTool]>([])
        let forms = NIOLockedValueBox<[ProposedForm]>([])

        /// Waits until the owner has been told so often.
        func reported(_ count: Int) async throws { try await told.pass("\(count)") }

        /// Sends a prompt, and returns the text of the answer.
        @discardableResult
        func send(
            _ prompt: String,
            chat: String = "c",
            emit: @escaping @Sendable (TurnEvent) -> Void = { _ in },
            ask: @escaping @Sendable (ProposedTool) async -> ApprovalAnswer = { $0.rejection },
            fill: @escaping @Sendable (ProposedForm) async -> ApprovalAnswer = { _ in .dismissed }
        ) async throws -> String {
            let text = NIOLockedValueBox("")
            let turn = AgentTurn(chatID: chat, prompt: prompt, directory: directory)
            let conversation = AgentConversation(
                emit: { event in
                    events.withLockedValue { $0.append(event) }
                    if case .text(let piece) = event { text.withLockedValue { $0 += piece } }
                    emit(event)
                },
                notice: { text in notices.withLockedValue { $0.append(text) } },
                keepAlive: {},
                ask: { question in
                    switch question {
                    case .tool(let tool):
                        questions.withLockedValue { $0.append(tool) }
                        return await ask(tool)
                    case .form(let form):
                        forms.withLockedValue { $0.append(form) }
                        return await fill(form)
                    }
                }
            )
            try await agent.answer(turn, conversation: conversation)
            return text.withLockedValue { $0 }
        }

        /// What a prompt fails with.
        func failure(_ prompt: String, chat: String = "c") async -> String {
            do {
                return "no failure: \(try await send(prompt, chat: chat))"
            } catch {
                return "\(error)"
            }
        }

        /// Sends a prompt, and cancels it once it has said something.
        func cancel(_ prompt: String, chat: String = "c") async throws -> String {
            let (words, word) = AsyncStream.makeStream(of: Void.self)
            let text = NIOLockedValueBox("")
            let task = Task {
                try await send(prompt, chat: chat) { event in
                    guard case .text(let piece) = event else { return }
                    text.withLockedValue { $0 += piece }
                    word.yield()
                }
            }
            for await _ in words { break }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            return text.withLockedValue { $0 }
        }

        func file(_ name: String) -> String? { try? String(contentsOfFile: "\(directory)/\(name)", encoding: .utf8) }
    }

    private func withAgent<R: Sendable>(
        _ options: String...,
        in directory: String? = nil,
        sessions: Sessions = Sessions(),
        signInMethod: String? = nil,
        allowsBypass: Bool = false,
        environment: AgentEnvironment = AgentEnvironment(),
        limits: ACPConnection.Limits = .init(),
        _ body: @escaping @Sendable (Bench) async throws -> R
    ) async throws -> R {
        var launch = ACPLaunch(name: "Fake", command: options)
        launch.signInHint = "run fake login"
        launch.signInMethod = signInMethod
        launch.allowsBypass = allowsBypass
        launch.environment = environment
        let start = { (directory: String) in
            var launch = launch
            launch.command = try FakeACPAgent.command(in: directory) + launch.command
            return try await Self.run(launch, directory, sessions, limits, body)
        }
        guard let directory else { return try await withTemporaryDirectory(start) }
        return try await start(directory)
    }

    /// Runs an agent while a body works with it.
    static func run<R: Sendable>(
        _ launch: ACPLaunch,
        _ directory: String,
        _ sessions: Sessions,
        _ limits: ACPConnection.Limits = .init(),
        _ body: @escaping @Sendable (Bench) async throws -> R
    ) async throws -> R {
        // As a host does: an agent's end closes the pipe that a prompt is written to.
        signal(SIGPIPE, SIG_IGN)
        let reports = NIOLockedValueBox<[AgentReport]>([])
        let told = Gates()
        let agent = try ACPAgent(
            launch,
            sessions: sessions,
            limits: limits,
            logPath: directory + "/agent.log",
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            report: { report in
                let count = reports.withLockedValue { reports in
                    reports.append(report)
                    return reports.count
                }
                told.open("\(count)")
            }
        )
        let bench = Bench(agent: agent, directory: directory, reports: reports, told: told)
        return try await withThrowingTaskGroup(of: R?.self) { group in
            group.addTask {
                await agent.run()
                return nil
            }
            group.addTask { try await body(bench) }
            var result: R?
            while let next = try await group.next() {
                if let next {
                    result = next
                    group.cancelAll()
                }
            }
            guard let result else { throw TestFailure("no result") }
            return result
        }
    }

    @Test("One process answers all prompts, and remembers what was said in each chat")
    func memory() async throws {
        try await withAgent("greets") { (bench: Bench) async throws in
            #expect(try await bench.send("say Grüße 🚀") == "Grüße 🚀")
            #expect(try await bench.send("say two", chat: "d") == "two")
            #expect(try await bench.send("recall") == "say Grüße 🚀")
            #expect(try await bench.send("recall", chat: "d") == "say two")
            #expect(try await bench.send("where") == bench.directory)
            let starts = bench.events.withLockedValue { $0.count { $0 == .status("Starting Fake") } }
            #expect(starts == 1)
            #expect(bench.reports.withLockedValue { $0.isEmpty })
        }
    }

    @Test("Thoughts, plans, tools and usage are events of their own")
    func events() async throws {
        try await withAgent { (bench: Bench) async throws in
            #expect(try await bench.send("think") == "Done.")
            let events = bench.events.withLockedValue { $0 }
            var call = ToolReport(
                id: "t",
                title: "Read a file",
                kind: "read",
                locations: [.init(path: "a.txt", line: 3)]
            )
            call.asked = false
            var calls = [call]
            call.status = .inProgress
            calls.append(call)
            call.status = .completed
            call.output = "2 lines"
            calls.append(call)
            let plan = [AgentPlanStep(text: "Look", status: .completed), .init(text: "Do it", status: .inProgress)]
            let expected: [TurnEvent] =
                [.status("Starting Fake"), .thought("Let me "), .thought("see."), .plan(plan)]
                + calls.map(TurnEvent.tool)
                + [.text("Done."), .usage(.init(inputTokens: 5, outputTokens: 6, totalTokens: 11))]
            #expect(events == expected)
        }
    }

    @Test("A question waits for its answer, whichever of the four it is", arguments: ["y", "Y", "n", "N"])
    func permission(_ option: String) async throws {
        try await withAgent("string-ids") { (bench: Bench) async throws in
            #expect(try await bench.send("ask", ask: { _ in .option(option) }) == "chosen: \(option)")
            let question = try #require(bench.questions.withLockedValue { $0.first })
            #expect(question.call.title == "Run it" && question.call.kind == "execute")
            #expect(question.arguments == "rm -r build\n{\n  \"cwd\" : \"/x\"\n}\n")
            #expect(question.options.map(\.kind) == [.allowOnce, .allowAlways, .rejectOnce, .rejectAlways])
            #expect(question.rejection == .option("n"))
        }
    }

    @Test(
        "What a tool would do is shown in full, whatever it is",
        arguments: [
            (#"["a", 1]"#, ["\"a\"", "1"]), ("7", ["7"]), ("true", ["true"]), (#""text""#, ["text"]),
            (#"{"command": "ls", "cmd": "rm -r x"}"#, ["ls", "\"cmd\" : \"rm -r x\""]),
            (#"{"command": ["rm", 5, {"a": 1}]}"#, ["\"rm\"", "5", "\"a\" : 1"]),
            (#"{"command": ["git", "log"], "limit": 3}"#, ["git log\n", "\"limit\" : 3"]),
        ]
    )
    func arguments(_ input: String, _ shown: [String]) async throws {
        try await withAgent { (bench: Bench) async throws in
            _ = try await bench.send("ask-raw \(input)", ask: { _ in .option("n") })
            let question = try #require(bench.questions.withLockedValue { $0.first })
            for part in shown { #expect(question.arguments.contains(part), "\(question.arguments)") }
        }
    }

    @Test("An agent that begins no session is replaced")
    func hung() async throws {
        var limits = ACPConnection.Limits()
        limits.session = .seconds(4)
        try await withAgent("no-session", limits: limits) { (bench: Bench) async throws in
            await #expect(throws: AgentError.self) { try await bench.send("say one") }
            #expect(try await bench.send("say two") == "two")
            #expect(bench.events.withLockedValue { $0.count { $0 == .status("Starting Fake") } } == 2)
        }
    }

    @Test("A turn that was ended for a reason says so, also when the agent goes on")
    func disobedient() async throws {
        var limits = ACPConnection.Limits()
        limits.cancel = .milliseconds(200)
        try await withAgent("modes", "deaf-yolo", limits: limits) { (bench: Bench) async throws in
            let error = await #expect(throws: AgentError.self) { try await bench.send("go-yolo") }
            #expect(error?.message.contains("asks nothing") == true)
        }
    }

    @Test("Ten chats at once do not mix")
    func ten() async throws {
        try await withAgent { (bench: Bench) async throws in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<10 {
                    group.addTask {
                        for word in ["one", "two"] {
                            let answer = try await bench.send("say \(word) \(number)", chat: "chat-\(number)")
                            #expect(answer == "\(word) \(number)")
                        }
                        let asked = try await bench.send("ask", chat: "chat-\(number)", ask: { _ in .option("y") })
                        #expect(asked == "chosen: y")
                        let all = try await bench.send("recall", chat: "chat-\(number)")
                        #expect(all == "say one \(number)|say two \(number)|ask")
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("A cancelled prompt ends in the agent as well, and the chat goes on")
    func cancel() async throws {
        try await withAgent { (bench: Bench) async throws in
            #expect(try await bench.cancel("wait") == "waiting, stopped")
            #expect(try await bench.send("recall") == "wait")
            #expect(bench.reports.withLockedValue { $0.isEmpty })
        }
    }

    @Test("A question that is open when its prompt is cancelled is answered “cancelled”")
    func cancelAsking() async throws {
        try await withAgent { (bench: Bench) async throws in
            let (asked, ask) = AsyncStream.makeStream(of: Void.self)
            let task = Task {
                try await bench.send(
                    "wait-asking",
                    ask: { _ in
                        ask.yield()
                        await waitUntilCancelled()
                        return .option("y")
                    }
                )
            }
            for await _ in asked { break }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(bench.file("outcome") == #"{"outcome": "cancelled"}"#)
        }
    }

    @Test("A question that the agent does not wait for any more is withdrawn")
    func withdraw() async throws {
        try await withAgent { (bench: Bench) async throws in
            _ = try await bench.send(
                "withdraw",
                ask: { _ in
                    await waitUntilCancelled()
                    return .cancelled
                }
            )
            #expect(bench.questions.withLockedValue { $0.count } == 1)
        }
    }

    @Test("An agent that does not hear a cancellation is replaced, once the others are through")
    func deaf() async throws {
        var limits = ACPConnection.Limits()
        limits.cancel = .milliseconds(200)
        try await withAgent("load", limits: limits) { (bench: Bench) async throws in
            async let other = bench.send(
                "ask",
                chat: "d",
                ask: { _ in
                    // Answered when the deaf one was given up.
                    try? await eventually { bench.file("deaf") != nil }
                    return .option("y")
                }
            )
            #expect(try await bench.cancel("deaf") == "deaf")
            #expect(try await other == "chosen: y")
            let process = try #require(bench.file("deaf").flatMap { Int32($0) })
            #expect(try await bench.send("recall") == "deaf", "a new process took up the session")
            try await eventually { !isAlive(process) }
        }
    }

    @Test("After a restart a session is taken up where the agent can, and begun anew with a notice where it cannot")
    func restart() async throws {
        for (option, expected) in [("load", "say one"), ("resume", "say one"), ("neither", "")] {
            try await withTemporaryDirectory { directory in
                let sessions = Sessions()
                _ = try await withAgent(option, in: directory, sessions: sessions) { try await $0.send("say one") }
                try await withAgent(option, in: directory, sessions: sessions) { (bench: Bench) async throws in
                    #expect(try await bench.send("recall") == expected)
                    let notices = bench.notices.withLockedValue { $0 }
                    let text =
                        "Fake could not resume its session: this is a new session without the earlier messages."
                    #expect(notices == (expected.isEmpty ? [text] : []))
                }
                // Its memory is gone as well.
                for name in try FileManager.default.contentsOfDirectory(atPath: directory)
                where name.hasPrefix("memory") {
                    try FileManager.default.removeItem(atPath: "\(directory)/\(name)")
                }
                try await withAgent(option, in: directory, sessions: sessions) { (bench: Bench) async throws in
                    #expect(try await bench.send("recall") == "")
                    #expect(bench.notices.withLockedValue { !$0.isEmpty })
                }
            }
        }
    }

    @Test("An agent that dies says so, its last lines are for the owner alone, and the next prompt starts it again")
    func death() async throws {
        try await withAgent("load") { (bench: Bench) async throws in
            #expect(await bench.failure("die") == "Fake ended with status 3. The next prompt starts it again")
            try await bench.reported(1)
            let report = try #require(bench.reports.withLockedValue { $0.first })
            #expect(report.lines == ["secret reason"])
            #expect(report.log == bench.directory + "/agent.log")
            #expect(bench.file("agent.log") == "secret reason\n")
            #expect(try await bench.send("recall") == "die")
            #expect(await bench.failure("kill-me") == "Fake ended by signal 9. The next prompt starts it again")
        }
    }

    @Test("An agent that prints titles on the lines of its messages, or sends ids back as texts, is understood")
    func titles() async throws {
        try await withAgent("titles", "text-ids") { (bench: Bench) async throws in
            #expect(try await bench.send("say fine") == "fine")
            #expect(try await bench.send("recall") == "say fine")
        }
    }

    @Test("Garbage and floods end the agent, each with its own words")
    func noise() async throws {
        var limits = ACPConnection.Limits()
        limits.updates = 2000
        try await withAgent(limits: limits) { (bench: Bench) async throws in
            #expect(await bench.failure("garbage").hasPrefix("Fake does not speak the Agent Client Protocol"))
            #expect(await bench.failure("flood").hasPrefix("Fake sent a message of over 32 MiB"))
            #expect(await bench.failure("updates") == "The agent sent updates without end: the turn was ended")
            #expect(try await bench.send("say fine") == "fine")
            // The owner is told once the process is gone.
            try await bench.reported(2)
            #expect(bench.reports.withLockedValue { $0.count } == 2)
        }
    }

    @Test("A line of 8 MB is taken")
    func large() async throws {
        try await withAgent { (bench: Bench) async throws in
            #expect(try await bench.send("large") == "large")
        }
    }

    @Test(
        "Each way in which it cannot begin has its own words",
        arguments: [
            ("no-start", "Fake ended with status 7. The next prompt starts it again"),
            ("silent", "Fake did not answer within 2 s. The next prompt starts it again"),
            (
                "gibberish",
                "Fake does not speak the Agent Client Protocol: it was ended. Check its command line at the host"
            ),
            (
                "version-2",
                "Fake speaks version 2 of the Agent Client Protocol, this host version 1: update pairtool or the agent"
            ),
            ("sign-in", "Fake asks to sign in. At the host: run fake login. Then send the prompt again"),
            ("stuck-yolo", "Fake is in the mode “YOLO”, in which it asks nothing. Its host does not allow that"),
        ]
    )
    func beginning(_ option: String, _ words: String) async throws {
        var limits = ACPConnection.Limits()
        if option == "silent" { limits.start = .seconds(2) }
        try await withAgent(option, limits: limits) { (bench: Bench) async throws in
            #expect(await bench.failure("say one") == words)
            #expect(await bench.failure("say two") == words)
            try await bench.reported(2)
            if option == "no-start" {
                #expect(bench.reports.withLockedValue { $0[0].lines } == ["it cannot start", "for a reason"])
            }
        }
    }

    @Test("The host signs in with the method that its owner chose")
    func signIn() async throws {
        try await withAgent("sign-in", signInMethod: "key") { (bench: Bench) async throws in
            #expect(try await bench.send("say one") == "one")
            #expect(await bench.failure("sign-out").hasPrefix("Fake asks to sign in"))
        }
    }

    @Test("A mode that asks nothing is left where there is another one, ends a turn that enters it, or was allowed")
    func modes() async throws {
        try await withAgent("yolo") { (bench: Bench) async throws in
            #expect(try await bench.send("say one") == "one")
            #expect(bench.file("mode") == "ask")
            #expect(bench.events.withLockedValue { $0.contains(.mode(AgentMode("Ask first")!)) })
            #expect(
                await bench.failure("go-yolo")
                    == "Fake is in the mode “YOLO”, in which it asks nothing. Its host does not allow that"
            )
            #expect(bench.events.withLockedValue { $0.contains(.mode(AgentMode("YOLO (asks nothing)")!)) })
            #expect(try await bench.send("say two") == "two", "it asks again")
        }
        try await withAgent("yolo", allowsBypass: true) { (bench: Bench) async throws in
            #expect(try await bench.send("say one") == "one")
            #expect(bench.file("mode") == nil)
            #expect(bench.events.withLockedValue { $0.contains(.mode(AgentMode("YOLO (asks nothing)")!)) })
        }
    }

    @Test("How a prompt ends is told where it is not as usual")
    func endings() async throws {
        try await withAgent { (bench: Bench) async throws in
            #expect(await bench.failure("refuse") == "The agent refused to answer this")
            #expect(await bench.failure("stop") == "The agent ended the turn before it was done")
            #expect(await bench.failure("error") == "Fake could not do this: Internal error: no luck")
            #expect(try await bench.send("tokens") == "cut")
            #expect(
                bench.notices.withLockedValue {
                    $0.contains("The answer ends here: the model reached its token limit.")
                }
            )
            #expect(try await bench.send("files") == "-32601")
        }
    }

    @Test("It gets a cleaned environment, and what its owner named")
    func environment() async throws {
        setenv("PAIRTOOL_TEST_SECRET", "s", 1)
        setenv("PAIRTOOL_TEST_NAMED", "n", 1)
        try await withAgent(environment: AgentEnvironment(names: ["PAIRTOOL_TEST_NAMED"])) {
            (bench: Bench) async throws in
            let text = try await bench.send("env")
            let found = try JSONDecoder().decode([String: String].self, from: Data(text.utf8))
            #expect(found["PAIRTOOL_TEST_NAMED"] == "n")
            #expect(found["PAIRTOOL_TEST_SECRET"] == nil)
            #expect(found["PATH"] != nil)
        }
        let all = [
            "PATH": "/bin", "LC_TIME": "C", "lc_x": "1", "OPENAI_API_KEY": "k", "PATHS": "p", "XDG_DATA_HOME": "/d",
        ]
        let given = AgentEnvironment(names: ["X"]).variables(of: all)
        #expect(given == ["PATH": "/bin", "LC_TIME": "C", "XDG_DATA_HOME": "/d"])
    }

    @Test("What it has started ends with it, also what left its session")
    func descendants() async throws {
        try await withTemporaryDirectory { directory in
            try await withAgent(in: directory) { (bench: Bench) async throws in
                #expect(try await bench.send("leave") == "left")
            }
            let text = try String(contentsOfFile: directory + "/left", encoding: .utf8)
            let process = try #require(Int32(text.trimmingWhitespace()))
            try await eventually { !isAlive(process) }
        }
    }
}
