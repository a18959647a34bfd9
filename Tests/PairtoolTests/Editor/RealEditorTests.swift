import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Testing

@testable import pairtool

/// Agents that nobody here wrote, seen through `pairtool acp` and without it.
@Suite(
    "Real agents in an editor",
    .enabled(if: RealAgent.isInstalled, "run scripts/make-agents"),
    .serialized,
    .timeLimit(.minutes(15))
)
struct RealEditorTests {
    /// pydantic-acp with a model that calls a tool at the first prompt, which asks for permission.
    private static let pydantic = """
        import pathlib, sys
        from pydantic_ai import Agent, DeferredToolRequests
        from pydantic_ai.models.test import TestModel
        from pydantic_acp import AdapterConfig, FileSessionStore, NativeApprovalBridge, run_acp

        place = pathlib.Path(sys.argv[1])
        agent = Agent(TestModel(), name="test", output_type=[str, DeferredToolRequests])

        @agent.tool_plain(requires_approval=True)
        def delete_file(path: str) -> str:
            return "deleted"

        run_acp(agent=agent, config=AdapterConfig(
            session_store=FileSessionStore(root=place / "sessions"),
            approval_bridge=NativeApprovalBridge(enable_persistent_choices=True)))
        """

    /// The agent of the Python library for the protocol, with each kind of update.
    private static let library = """
        import asyncio, sys
        from acp import run_agent, start_tool_call, update_agent_message_text, update_agent_thought_text, update_tool_call
        from acp import tool_content, text_block, tool_diff_content, update_plan, plan_entry, InitializeResponse
        from acp import NewSessionResponse, PromptResponse

        class Agent:
            def on_connect(self, conn): self.conn = conn
            async def initialize(self, protocol_version, client_capabilities=None, client_info=None, **_):
                return InitializeResponse(protocol_version=protocol_version)
            async def new_session(self, cwd, mcp_servers=None, **_): return NewSessionResponse(session_id="one")
            async def prompt(self, prompt, session_id, **_):
                async def tell(update): await self.conn.session_update(session_id=session_id, update=update)
                await tell(update_agent_thought_text("Let me see"))
                await tell(update_plan([plan_entry("Look", priority="high", status="in_progress")]))
                await tell(start_tool_call("call-1", "Edit", kind="edit", status="pending", raw_input={"ratio": 0.5}))
                await tell(update_tool_call("call-1", status="completed", raw_output={"lines": [1, 2]}, content=[
                    tool_content(text_block("done")), tool_diff_content("/x/a.txt", "two\\n", "one\\n")]))
                await tell(update_agent_message_text("Echo: " + prompt[0].text))
                return PromptResponse(stop_reason="end_turn")

        asyncio.run(run_agent(Agent(), use_unstable_protocol=True))
        """

    /// Gives ids that each run makes anew the same names.
    private static func named(_ value: JSONValue, _ names: inout [String: String]) -> JSONValue {
        switch value {
        case .array(let elements):
            var found: [JSONValue] = []
            for element in elements { found.append(named(element, &names)) }
            return .array(found)
        case .object(let members):
            var found: [String: JSONValue] = [:]
            for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                if ["messageId", "toolCallId", "updatedAt"].contains(name), let id = member.string {
                    names[id] = names[id] ?? "\(name) \(names.count)"
                    found[name] = names[id].map { .string($0) }
                } else if member != .null {
                    found[name] = named(member, &names)
                }
            }
            return .object(found)
        default: return value
        }
    }

    private static func text(_ seen: [JSONValue]) -> [String] {
        var names: [String: String] = [:]
        return seen.map { String(decoding: named($0, &names).json, as: UTF8.self) }
    }

    private static let sources = ["pydantic": pydantic, "library": library, "agentao": RealAgent.agentao]

    @Test("An editor sees the same of them through pairtool", arguments: ["pydantic", "library", "agentao"])
    func same(agent name: String) async throws {
        try await withProject { owner, user in
            try Data((Self.sources[name] ?? "").utf8).write(to: URL(filePath: owner.directory + "/agent.py"))
            // This one does what its prompt says, in a shell, for which it asks.
            let prompt: JSONValue = name == "agentao" ? "run echo once" : "go on"
            let project = owner.directory + "/garden"
            @Sendable func see(_ agent: [String]) async throws -> [JSONValue] {
                var steps: [JSONValue] = [
                    ["call", "initialize", ["protocolVersion": 1, "clientCapabilities": [:]]],
                    ["call", "session/new", ["cwd": .string(project), "mcpServers": []]],
                    [
                        "call", "session/prompt",
                        ["sessionId": "$session", "prompt": [["type": "text", "text": prompt]]],
                    ],
                ]
                // This one tells its commands by itself.
                if name == "pydantic" { steps.insert(["see", "availableCommands"], at: 2) }
                let command = try FakeEditor.command(in: user.directory, agent: agent)
                let typed = steps.map { String(decoding: $0.json, as: UTF8.self) + "\n" }.joined()
                let result = try await user.spawn(program: command, stdin: typed)
                return result.out.split(separator: "\n").compactMap { JSONValue(lenient: Array($0.utf8)) }
            }
            let command = { (place: String) in
                [RealAgent.python, owner.directory + "/agent.py", owner.directory + "/" + place]
            }
            for place in ["direct", "hosted"] {
                try FileManager.default.createDirectory(
                    atPath: owner.directory + "/" + place,
                    withIntermediateDirectories: true
                )
            }
            let direct = try await see(command("direct"))
            let arguments = [
                "--name", "Shed", "--project", project, "--acp", "--agent-command",
                command("hosted").joined(separator: " "),
            ]
            try await withRunningHost(owner, arguments) { events in
                try await user.pair(try await events.payload.text)
                let bridged = try await see([BuiltTool.path, "acp"])
                // An agent may speak of its session before it has named it. Paths are whole ones.
                let isSetUp = { (text: String) in text.contains("session/new") || text.contains("availableCommands") }
                let seen = Self.text(Array(bridged.dropFirst())).map { $0.replacing(project + "/", with: "") }
                let wanted = Self.text(direct.dropFirst().map(FakeEditor.withoutLastingAnswers))
                #expect(seen.filter(isSetUp).sorted() == wanted.filter(isSetUp).sorted())
                #expect(seen.filter { !isSetUp($0) } == wanted.filter { !isSetUp($0) })
            }
        }
    }

    /// An editor of the protocol's own Python library, which checks each message by the protocol's schema: it begins a session,
    /// prompts, gives leave, lists, loads, and closes.
    private static let editor = """
        import asyncio, sys
        from acp import spawn_agent_process, text_block
        from acp.schema import AllowedOutcome, RequestPermissionResponse

        class Editor:
            def on_connect(self, conn): pass
            async def request_permission(self, options, session_id, tool_call, **_):
                print("asked", tool_call.title, flush=True)
                outcome = AllowedOutcome(outcome="selected", option_id=options[0].option_id)
                return RequestPermissionResponse(outcome=outcome)
            async def session_update(self, session_id, update, **_): print("told", update.session_update, flush=True)

        async def main():
            async with spawn_agent_process(Editor(), sys.argv[2], "acp", env=dict(__import__("os").environ)) as (agent, _):
                print("is", (await agent.initialize(protocol_version=1)).agent_info.name)
                session = await agent.new_session(cwd=sys.argv[1], mcp_servers=[])
                for prompt in ("think", "ask"):
                    answer = await agent.prompt(session_id=session.session_id, prompt=[text_block(prompt)])
                    print("ended", answer.stop_reason)
                listed = await agent.list_sessions(cwd=sys.argv[1])
                print("listed", [s.session_id for s in listed.sessions] == [session.session_id])
                await agent.load_session(cwd=sys.argv[1], session_id=session.session_id, mcp_servers=[])
                print("loaded")
                await agent.close_session(session_id=session.session_id)
                print("closed")

        asyncio.run(main())
        """

    @Test("An editor that checks each message by the protocol's schema works with pairtool")
    func library() async throws {
        try await withProject { owner, user in
            let agent = try FakeACPAgent.command(in: owner.directory)
            let project = owner.directory + "/garden"
            let arguments = [
                "--name", "Shed", "--project", project, "--acp", "--agent-command", agent.joined(separator: " "),
            ]
            let editor = user.directory + "/editor.py"
            try Data(Self.editor.utf8).write(to: URL(filePath: editor))
            try await withRunningHost(owner, arguments) { events in
                try await user.pair(try await events.payload.text)
                let result = try await user.spawn(program: [RealAgent.python, editor, project, BuiltTool.path])
                let seen = result.out.split(separator: "\n")
                #expect(result.status == 0 && seen.last == "closed", "\(result)")
                for line in [
                    "is pairtool", "told agent_thought_chunk", "told plan", "told tool_call", "told tool_call_update",
                    "told usage_update", "told agent_message_chunk", "asked Run it", "listed True", "loaded",
                ] {
                    #expect(seen.contains { $0 == line }, "\(line): \(result.out)")
                }
                #expect(seen.count { $0 == "ended end_turn" } == 2)
            }
        }
    }

    @Test("acplint, from PyPI, finds nothing through pairtool that it does not find in the agent itself")
    func linted() async throws {
        try await withProject { owner, user in
            let agent = [RealAgent.python, owner.directory + "/agent.py"]
            try Data(Self.library.utf8).write(to: URL(filePath: agent[1]))
            let project = owner.directory + "/garden"
            /// The faults and findings of a run.
            @Sendable func lint(_ agent: [String], _ name: String) async throws -> Set<String> {
                let file = user.directory + "/\(name).json"
                let options = [
                    "--agent", agent[0], "--agent-args", agent.dropFirst().joined(separator: " "), "--cwd", project,
                    "--output", "json", "--output-file", file,
                ]
                let result = try await user.spawn(program: [RealAgent.programs + "/acplint"] + options)
                let content = try? Data(contentsOf: URL(filePath: file))
                let report = try #require(content.flatMap { JSONValue(lenient: Array($0)) }, "\(result)")
                let faults = (report["results"]?.array ?? []).filter { !["PASS", "SKIP"].contains($0["status"]) }
                let findings = (report["findings"]?.array ?? []).compactMap(\.string)
                return Set(faults.map { "\($0["category"]?.string ?? "") \($0["name"]?.string ?? "")" } + findings)
            }
            let arguments = [
                "--name", "Shed", "--project", project, "--acp", "--agent-command", agent.joined(separator: " "),
            ]
            try await withRunningHost(owner, arguments) { events in
                try await user.pair(try await events.payload.text)
                async let direct = lint(agent, "direct")
                let bridged = try await lint([BuiltTool.path, "acp"], "bridged")
                let known = try await direct
                #expect(bridged.subtracting(known) == [])
                // What it says of all: the version of the protocol is a number, and it wants a text.
                #expect(known.contains("initialization protocol_version_returned"), "\(known)")
            }
        }
    }
}
