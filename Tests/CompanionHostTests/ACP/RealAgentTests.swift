import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Glibc
import LocalState
import NIOConcurrencyHelpers
import Testing

@testable import CompanionHost

/// Answers a question by a kind.
private func decide(_ kind: ApprovalOption.Kind) -> @Sendable (ProposedTool) async -> ApprovalAnswer {
    { question in question.options.first { $0.kind == kind }.map { ApprovalAnswer.option($0.id) } ?? .cancelled }
}

/// An agent that nobody here wrote: pydantic-acp from PyPI, with a model that calls every tool once and needs no
/// network. `scripts/make-agents` installs it.
@Suite(
    "A real agent, pydantic-acp",
    .enabled(if: RealAgent.isInstalled, "run scripts/make-agents"),
    .timeLimit(.minutes(15))
)
struct RealAgentTests {
    static let source = """
        import pathlib, sys
        from pydantic_ai import Agent, DeferredToolRequests
        from pydantic_ai.models.test import TestModel
        from pydantic_acp import AdapterConfig, FileSessionStore, NativeApprovalBridge, run_acp

        place = pathlib.Path(sys.argv[1])
        agent = Agent(TestModel(), name="test", output_type=[str, DeferredToolRequests])

        @agent.tool_plain(requires_approval=True)
        def delete_file(path: str) -> str:
            with open(place / "ran", "a") as file: file.write(path + "\\n")
            return "deleted"

        run_acp(agent=agent, config=AdapterConfig(
            session_store=FileSessionStore(root=place / "sessions"),
            approval_bridge=NativeApprovalBridge(enable_persistent_choices=True)))
        """

    /// The same agent with a model that calls a tool at each prompt: `hold`, which goes on until it is cancelled, if the
    /// prompt says so, else the one that needs approval.
    private static let eager = """
        import asyncio, pathlib, sys
        from pydantic_ai import Agent, DeferredToolRequests
        from pydantic_ai.messages import UserPromptPart
        from pydantic_ai.models.function import DeltaToolCall, FunctionModel
        from pydantic_acp import AdapterConfig, FileSessionStore, NativeApprovalBridge, run_acp

        place = pathlib.Path(sys.argv[1])

        async def answer(messages, info):
            prompts = [part.content for part in messages[-1].parts if isinstance(part, UserPromptPart)]
            call = f"call{len(messages)}"
            if not prompts: yield "done"
            elif "hold" in str(prompts[-1]): yield {0: DeltaToolCall("hold", "{}", tool_call_id=call)}
            else: yield {0: DeltaToolCall("delete_file", '{"path": "a"}', tool_call_id=call)}

        agent = Agent(FunctionModel(stream_function=answer), name="test", output_type=[str, DeferredToolRequests])

        @agent.tool_plain(requires_approval=True)
        def delete_file(path: str) -> str:
            with open(place / "ran", "a") as file: file.write(path + "\\n")
            return "deleted"

        @agent.tool_plain
        async def hold() -> str:
            (place / "began").touch()
            try: await asyncio.Event().wait()
            finally: (place / "ended").touch()

        run_acp(agent=agent, config=AdapterConfig(
            session_store=FileSessionStore(root=place / "sessions"),
            approval_bridge=NativeApprovalBridge(enable_persistent_choices=True)))
        """

    /// An agent over the protocol's own library for Python, which asks for a value of each type.
    private static let asking = """
        import asyncio
        from acp import run_agent, text_block, update_agent_message
        from acp.schema import *

        class Asker:
            def on_connect(self, client): self.client = client
            async def initialize(self, protocol_version, client_capabilities=None, **more):
                self.offer = client_capabilities.elicitation
                return InitializeResponse(protocol_version=1)
            async def new_session(self, cwd, **more): return NewSessionResponse(session_id="s")
            async def prompt(self, prompt, session_id, **more):
                if prompt[0].text == "page":
                    mode = ElicitationUrlSessionMode(session_id=session_id, elicitation_id="e", url="https://login.example/x")
                else:
                    mode = ElicitationFormSessionMode(session_id=session_id, requested_schema=ElicitationSchema(
                        required=["name"],
                        properties={
                            "name": ElicitationStringPropertySchema(type="string", title="Name", max_length=5),
                            "level": ElicitationStringPropertySchema(type="string", one_of=[EnumOption(const="a", title="A")]),
                            "count": ElicitationIntegerPropertySchema(type="integer", minimum=1),
                            "share": ElicitationNumberPropertySchema(type="number", maximum=2.5),
                            "sure": ElicitationBooleanPropertySchema(type="boolean", default=True),
                            "tags": ElicitationMultiSelectPropertySchema(
                                type="array", items=StringMultiSelectItems(type="string", enum=["x", "y"]))}))
                answer = await self.client.create_elicitation("Which?", mode)
                if prompt[0].text == "page": await self.client.complete_elicitation("e")
                said = answer.action + " " + str(getattr(answer, "content", None) or "")
                if self.offer.form is None or self.offer.url is None: said = "not offered"
                await self.client.session_update(session_id, update_agent_message(text_block(said)))
                return PromptResponse(stop_reason="end_turn")

        asyncio.run(run_agent(Asker()))
        """

    @Test("It gets each value of a form in the type that it asked for, and a page's end is told")
    func forms() async throws {
        try await withTemporaryDirectory { directory in
            try await withAgent(Self.asking, in: directory) { bench in
                let values: [String: JSONValue] = [
                    "name": "x y", "level": "a", "count": 3, "share": .number(1.5), "sure": false, "tags": ["y", "x"],
                ]
                let said = try await bench.send("form", fill: { _ in .filled(values) })
                for value in [
                    "accept", "'name': 'x y'", "'level': 'a'", "'count': 3", "'share': 1.5", "'sure': False",
                    "'tags': ['y', 'x']",
                ] {
                    #expect(said.contains(value), "\(said)")
                }
                let form = try #require(bench.forms.withLockedValue(\.first)?.form)
                #expect(form.fields.map(\.name) == ["name", "level", "count", "share", "sure", "tags"])
                #expect(form.fields.map(\.isRequired) == [true, false, false, false, false, false])
                #expect(form.fields[4].defaultValue == true && form.fields[5].kind == .choices)
                #expect(try await bench.send("form", fill: { _ in .option("decline") }) == "decline ")
                #expect(try await bench.send("form") == "cancel ")
                #expect(try await bench.send("page", fill: { _ in .option("accept") }) == "accept ")
                #expect(bench.forms.withLockedValue(\.last)?.link == "https://login.example/x")
                let done = TurnEvent.status("The agent is done with the page that was opened")
                #expect(bench.events.withLockedValue { $0.contains(done) })
            }
        }
    }

    private func withAgent<R: Sendable>(
        _ source: String = RealAgentTests.source,
        in directory: String,
        sessions: ACPAgentTests.Sessions = .init(),
        _ body: @escaping @Sendable (ACPAgentTests.Bench) async throws -> R
    ) async throws -> R {
        try Data(source.utf8).write(to: URL(filePath: directory + "/agent.py"))
        let launch = ACPLaunch(name: "Real", command: [RealAgent.python, directory + "/agent.py", directory])
        return try await ACPAgentTests.run(launch, directory, sessions) { try await body($0) }
    }

    /// How often its tool ran.
    private static func runs(_ bench: ACPAgentTests.Bench) -> Int {
        bench.file("ran")?.split(separator: "\n").count ?? 0
    }

    @Test(
        "Its tool runs when it is allowed, once or always, and does not when it is refused",
        arguments: [ApprovalOption.Kind.allowOnce, .allowAlways, .rejectOnce, .rejectAlways]
    )
    func permission(_ kind: ApprovalOption.Kind) async throws {
        try await withTemporaryDirectory { directory in
            try await withAgent(in: directory) { bench in
                _ = try await bench.send("delete it", ask: decide(kind))
                #expect(Self.runs(bench) == (kind.isRefusal ? 0 : 1))
                let question = try #require(bench.questions.withLockedValue { $0.first })
                #expect(question.arguments.contains("path"))
                let offered = Set(question.options.map(\.kind))
                #expect(offered == [.allowOnce, .allowAlways, .rejectOnce, .rejectAlways])
                // Its model calls a tool once in a conversation: it remembers.
                _ = try await bench.send("again", ask: decide(kind))
                #expect(bench.questions.withLockedValue { $0.count } == 1)
                #expect(Self.runs(bench) == (kind.isRefusal ? 0 : 1))
            }
        }
    }

    @Test(
        "An answer for always holds for the chat's later prompts, an answer for once does not",
        arguments: [ApprovalOption.Kind.allowOnce, .allowAlways, .rejectOnce, .rejectAlways]
    )
    func always(_ kind: ApprovalOption.Kind) async throws {
        try await withTemporaryDirectory { directory in
            try await withAgent(Self.eager, in: directory) { bench in
                for _ in 0..<2 { _ = try await bench.send("delete it", ask: decide(kind)) }
                let isForGood = kind == .allowAlways || kind == .rejectAlways
                #expect(bench.questions.withLockedValue { $0.count } == (isForGood ? 1 : 2))
                #expect(Self.runs(bench) == (kind.isRefusal ? 0 : 2))
            }
        }
    }

    @Test("Cancelled while its tool runs, it ends the tool, and the chat goes on")
    func cancelTool() async throws {
        try await withTemporaryDirectory { directory in
            try await withAgent(Self.eager, in: directory) { bench in
                let task = Task { try await bench.send("hold", ask: decide(.allowOnce)) }
                try await eventually { bench.file("began") != nil }
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                try await eventually { bench.file("ended") != nil }
                _ = try await bench.send("delete it", ask: decide(.allowOnce))
                #expect(Self.runs(bench) == 1)
            }
        }
    }

    @Test("Cancelled while it asks, it runs nothing, and the chat goes on")
    func cancel() async throws {
        try await withTemporaryDirectory { directory in
            try await withAgent(in: directory) { bench in
                let (asked, ask) = AsyncStream.makeStream(of: Void.self)
                let task = Task {
                    try await bench.send(
                        "delete it",
                        ask: { _ in
                            ask.yield()
                            await waitUntilCancelled()
                            return .option("allow_once")
                        }
                    )
                }
                for await _ in asked { break }
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                #expect(Self.runs(bench) == 0)
                _ = try await bench.send("go on", ask: decide(.rejectOnce))
                #expect(Self.runs(bench) == 0)
            }
        }
    }

    @Test("After a restart it takes up its session, and remembers")
    func restart() async throws {
        try await withTemporaryDirectory { directory in
            let sessions = ACPAgentTests.Sessions()
            for count in [1, 0] {
                try await withAgent(in: directory, sessions: sessions) { bench in
                    _ = try await bench.send("delete it", ask: decide(.allowOnce))
                    // Its model calls a tool once in a conversation: it remembers.
                    #expect(bench.questions.withLockedValue { $0.count } == count)
                    #expect(bench.notices.withLockedValue { $0.isEmpty })
                }
            }
            #expect(sessions.records.withLockedValue { $0.count } == 1)
        }
    }

    /// The same agent with a model that calls no tool.
    private static let plain = """
        import pathlib, sys
        from pydantic_ai import Agent
        from pydantic_ai.models.test import TestModel
        from pydantic_acp import AdapterConfig, FileSessionStore, run_acp

        agent = Agent(TestModel(call_tools=[], custom_output_text="It grows."), name="test")
        run_acp(agent=agent, config=AdapterConfig(session_store=FileSessionStore(root=pathlib.Path(sys.argv[1]))))
        """

    @Test("Its session of another host is a chat: listed, opened with what was said, and continued in place")
    func elsewhere() async throws {
        try await withTemporaryDirectory { directory in
            let garden = directory + "/garden"
            try FileManager.default.createDirectory(atPath: garden, withIntermediateDirectories: true)
            try Data(Self.plain.utf8).write(to: URL(filePath: directory + "/agent.py"))
            let command = [RealAgent.python, directory + "/agent.py", directory + "/sessions"]
            let root = try #require(RealPath.of(garden))
            func with(_ name: String, _ body: (TestDevice) async throws -> Void) async throws {
                try await withHostAndDevice(in: "\(directory)/\(name)") {
                    $0.projects = [root]
                    $0.agents = [.acp(ACPLaunch(id: "real", name: "Real", command: command))]
                } _: { _, device in
                    try await device.pair()
                    try await body(device)
                }
            }
            func say(_ prompt: String, to chat: String, _ device: TestDevice) async throws {
                let sent = try await device.execute(
                    .chatSend(chatID: chat, prompt: prompt, model: nil, allowedTools: nil)
                )
                let reply = try await device.events(chat: chat, turn: try #require(sent.result["turnId"]?.string))
                #expect(reply.body.contains("grows."))
            }
            func messages(_ chat: String, _ device: TestDevice) async throws -> [String] {
                try await device.get("/companion/chats/\(chat)/messages").decoded(CompanionMessagesPageResponse.self)
                    .messages.elements.map(\.text)
            }
            func listed(_ device: TestDevice) async throws -> [CompanionChat] {
                try await device.get("/companion/projects/\(try await device.firstProject())/chats")
                    .decoded(CompanionChatsResponse.self).chats.elements
            }
            /// Its only chat, once the agent has started: on a busy machine that takes longer than a list waits.
            func only(_ device: TestDevice) async throws -> CompanionChat {
                try await eventually { try await !listed(device).isEmpty }
                return try #require(try await listed(device).first)
            }
            try await with("one") { device in
                let made = try await device.execute(.chatCreate(projectID: try await device.firstProject(), title: nil))
                try await say("plant beans", to: try #require(made.result["id"]?.string), device)
                #expect(try await listed(device).count == 1)
            }
            try await with("two") { device in
                let chat = try await only(device)
                #expect(chat.origin == .agent && chat.lastUpdatedAt != nil)
                #expect(try await messages(chat.id, device) == ["plant beans", "It grows."])
                try await say("and peas", to: chat.id, device)
                #expect(try await messages(chat.id, device) == ["plant beans", "It grows.", "and peas", "It grows."])
                #expect(try await listed(device).map(\.id) == [chat.id])
            }
            // The first host's chat has what was said at the second.
            try await with("one") { device in
                let chat = try await only(device)
                let said = ["plant beans", "It grows.", "and peas", "It grows."]
                try await eventually { try await messages(chat.id, device) == said }
            }
        }
    }

    @Test("Ten chats at once")
    func ten() async throws {
        try await withTemporaryDirectory { directory in
            try await withAgent(in: directory) { bench in
                await withTaskGroup(of: Void.self) { group in
                    for number in 0..<10 {
                        group.addTask {
                            do {
                                _ = try await bench.send(
                                    "delete it",
                                    chat: "chat-\(number)",
                                    ask: decide(number % 2 == 0 ? .allowOnce : .rejectOnce)
                                )
                            } catch {
                                Issue.record("\(error)")
                            }
                        }
                    }
                }
                #expect(Self.runs(bench) == 5)
            }
        }
    }
}

/// An agent that nobody here wrote: agentao from PyPI. A stand-in for an OpenAI-compatible server on loopback, in the
/// agent's own process, is its model. `scripts/make-agents` installs it.
@Suite(
    "A real agent, agentao",
    .enabled(if: RealAgent.isInstalled, "run scripts/make-agents"),
    .timeLimit(.minutes(15))
)
struct AgentaoTests {
    private func withAgent<R: Sendable>(
        in directory: String,
        sessions: ACPAgentTests.Sessions = .init(),
        _ body: @escaping @Sendable (ACPAgentTests.Bench) async throws -> R
    ) async throws -> R {
        try Data(RealAgent.agentao.utf8).write(to: URL(filePath: directory + "/agent.py"))
        let launch = ACPLaunch(name: "agentao", command: [RealAgent.python, directory + "/agent.py", directory])
        return try await ACPAgentTests.run(launch, directory, sessions) { try await body($0) }
    }

    @Test("Beside another real agent in one host, it answers ten chats while one of them waits for a person")
    func two() async throws {
        try await withTemporaryDirectory { directory in
            let sources = [("agentao", RealAgent.agentao), ("pydantic", RealAgentTests.source)]
            let agents = try sources.map { id, source in
                let place = "\(directory)/\(id)"
                try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
                try Data(source.utf8).write(to: URL(filePath: place + "/agent.py"))
                return HostAgentKind.acp(
                    ACPLaunch(id: id, name: id, command: [RealAgent.python, place + "/agent.py", place])
                )
            }
            try await withHostAndDevice(in: directory) {
                $0.agents = agents
            } _: { host, device in
                try await device.pair()
                let project = try await device.firstProject()
                func begin(_ prompt: String, _ agent: String) async throws -> (chat: String, turn: String) {
                    let made = try await device.execute(.chatCreate(projectID: project, title: nil)).result["id"]?
                        .string
                    let chat = try #require(made)
                    let sent = try await device.execute(
                        .chatSend(chatID: chat, prompt: prompt, model: agent, allowedTools: nil)
                    )
                    return (chat, try #require(sent.result["turnId"]?.string))
                }
                let waiting = try await begin("run echo once >>made", "agentao")
                let question = try await host.event { event in
                    if case .questionAsked(let question) = event { question } else { nil }
                }
                var others: [(chat: String, turn: String)] = []
                for _ in 0..<9 { others.append(try await begin("hello", "agentao")) }
                for other in others {
                    #expect(try await device.events(chat: other.chat, turn: other.turn).body.contains("prompts: 1"))
                }
                let second = try await begin("delete it", "pydantic")
                let asked = try await host.event { event in
                    if case .questionAsked(let question) = event { question } else { nil }
                }
                #expect(asked.chatId == second.chat && question.chatId == waiting.chat)
                for question in [asked, question] {
                    _ = try await device.execute(
                        .approvalDecide(approvalID: question.id, optionID: nil, content: nil)
                    )
                }
                for turn in [waiting, second] {
                    let reply = try await device.events(chat: turn.chat, turn: turn.turn)
                    #expect(reply.body.contains("approval_decided"), "\(reply.body)")
                }
            }
        }
    }

    @Test("It remembers what was said in a chat, also after a restart")
    func memory() async throws {
        try await withTemporaryDirectory { directory in
            let sessions = ACPAgentTests.Sessions()
            for prompts in [1, 3] {
                try await withAgent(in: directory, sessions: sessions) { (bench: ACPAgentTests.Bench) async throws in
                    #expect(try await bench.send("hello") == "prompts: \(prompts)")
                    #expect(try await bench.send("hello again") == "prompts: \(prompts + 1)")
                    #expect(try await bench.send("hello", chat: "d") == "prompts: \((prompts + 1) / 2)")
                    #expect(bench.notices.withLockedValue { $0.isEmpty })
                }
            }
        }
    }

    @Test(
        "Its shell runs a command when it is allowed, once or always, and does not when it is refused",
        arguments: [ApprovalOption.Kind.allowOnce, .allowAlways, .rejectOnce, .rejectAlways]
    )
    func permission(_ kind: ApprovalOption.Kind) async throws {
        try await withTemporaryDirectory { directory in
            try await withAgent(in: directory) { (bench: ACPAgentTests.Bench) async throws in
                let answer = try await bench.send("run echo once >>made; rm -f none", ask: decide(kind))
                #expect(answer.hasPrefix("It said: ") == true)
                let question = try #require(bench.questions.withLockedValue { $0.first })
                #expect(question.call.kind == "execute")
                #expect(question.arguments.hasPrefix("echo once >>made; rm -f none\n"))
                #expect(question.options.contains { $0.kind == kind })
                #expect(bench.file("made") == (kind.isRefusal ? nil : "once\n"))
                _ = try await bench.send("run echo twice >>made; rm -f none", ask: decide(kind))
                #expect(bench.file("made") == (kind.isRefusal ? nil : "once\ntwice\n"))
                let isForGood = kind == .allowAlways || kind == .rejectAlways
                #expect(bench.questions.withLockedValue { $0.count } == (isForGood ? 1 : 2))
            }
        }
    }

    @Test("Cancelled while its tool runs, it ends the tool, and the chat goes on")
    func cancel() async throws {
        try await withTemporaryDirectory { directory in
            try await withAgent(in: directory) { (bench: ACPAgentTests.Bench) async throws in
                let task = Task {
                    try await bench.send("run echo $$ >began; exec tail -f /dev/null", ask: decide(.allowOnce))
                }
                try await eventually { bench.file("began")?.isEmpty == false }
                let process = try #require(bench.file("began").flatMap { Int32($0.dropLast()) })
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                try await eventually { !isAlive(process) }
                #expect(try await bench.send("hello").hasPrefix("prompts: "))
            }
        }
    }

    @Test("Ten chats at once")
    func ten() async throws {
        try await withTemporaryDirectory { directory in
            try await withAgent(in: directory) { (bench: ACPAgentTests.Bench) async throws in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<10 {
                        group.addTask {
                            let kind: ApprovalOption.Kind = number % 2 == 0 ? .allowOnce : .rejectOnce
                            _ = try await bench.send(
                                "run touch made-\(number); rm -f none",
                                chat: "chat-\(number)",
                                ask: decide(kind)
                            )
                        }
                    }
                    try await group.waitForAll()
                }
                for number in 0..<10 { #expect((bench.file("made-\(number)") != nil) == (number % 2 == 0)) }
            }
        }
    }
}
