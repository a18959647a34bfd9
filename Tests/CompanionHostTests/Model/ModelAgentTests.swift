import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Testing

@testable import CompanionHost

@Suite("A model answers with the tools of the explorer", .timeLimit(.minutes(15)))
struct ModelAgentTests {
    private static let vLLM =
        #""message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set""#

    @Test("An answer is streamed, and its tokens are counted")
    func answer() async throws {
        try await ModelBench.with { bench in
            bench.fake.reply(.stream(Chunk.thought("Hm") + Chunk.text("Ro") + Chunk.text("ses 🌹") + Chunk.end()))
            let outcome = try await bench.ask()
            #expect(
                outcome.events == [
                    .thought("Hm"), .text("Ro"), .text("ses 🌹"),
                    .usage(TurnUsage(inputTokens: 12, outputTokens: 7, totalTokens: 19, model: "small")),
                ]
            )
            let asked = try #require(bench.asked.first)
            #expect(asked["model"]?.string == "small" && asked["stream"]?.bool == true)
            #expect(asked.toolNames == ModelTool.allCases.map(\.rawValue))
            #expect(asked.messages.last == "user: What grows here?")
            #expect(asked.messages.first?.hasPrefix("system: You are an assistant for the project “project”") == true)
            #expect(bench.fake.requests.first?.path == "/v1/chat/completions")
        }
    }

    @Test("A call in pieces is carried out, and the model gets its result")
    func tool() async throws {
        try await ModelBench.with { bench in
            bench.fake.reply(
                .stream(
                    Chunk.text("I look.") + Chunk.call(0, id: "c1", name: "read_file", "") + Chunk.call(0, "{\"pa")
                        + Chunk.call(0, "th\":\"READ") + Chunk.call(0, "ME.md\"}") + Chunk.end("tool_calls")
                ),
                .stream(Chunk.text("Roses.") + Chunk.end())
            )
            let outcome = try await bench.ask()
            #expect(outcome.text == "I look.\n\nRoses.")
            #expect(outcome.tools.map(\.title) == ["read_file"])
            #expect(outcome.tools.first?.output == "README.md: lines 1-3 of 3")
            #expect(outcome.usage?.totalTokens == 38, "both requests count")
            let second = try #require(bench.asked.last)
            #expect(second.results == ["    1  # Garden\n    2  \n    3  Roses and beans.\n"])
            let call = second["messages"]?.array?.dropLast().last
            #expect(call?["tool_calls"]?.array?.first?["id"]?.string == "c1")
            #expect(call?["content"]?.string == "I look.")
            #expect(second["messages"]?.array?.last?["tool_call_id"]?.string == "c1")
        }
    }

    @Test(
        "Calls at the same time each have a result, however the server numbers them",
        arguments: [[0, 1], [0, 0], [nil, nil]] as [[Int?]]
    )
    func parallel(indices: [Int?]) async throws {
        try await ModelBench.with { bench in
            bench.fake.reply(
                .stream(
                    Chunk.call(indices[0], id: "a", name: "list_directory", "{}")
                        + Chunk.call(indices[1], id: "b", name: "search", #"{"text":"beans"}"#)
                        + Chunk.end("tool_calls")
                ),
                .answer(["Done."])
            )
            let outcome = try await bench.ask()
            #expect(outcome.error == nil)
            #expect(outcome.tools.map(\.title) == ["list_directory", "search"])
            #expect(Set(outcome.tools.map(\.id)).count == 2)
            let results = try #require(bench.asked.last).results
            #expect(results.first == "README.md  28 B\nSources/\n".replacing("28", with: "27"))
            #expect(results.last?.contains("Sources/main.swift:1: let beans = 3") == true)
        }
    }

    @Test(
        "A call that cannot be carried out is an error that the model sees",
        arguments: [
            ("read_file", "{", "Error: the arguments are not valid JSON."),
            ("read_file", "[1]", "Error: the arguments are not a JSON object."),
            ("read_file", "{}", "Error: `path` is missing."),
            ("read_file", #"{"path":7}"#, "Error: `path` has the wrong type."),
            ("read_file", #"{"path":"none.md"}"#, "`none.md` does not exist.\n"),
            ("read_file", #"{"path":"../secret.txt"}"#, "Paths with `..` are refused.\n"),
            ("read_file", #"{"path":"/etc/passwd"}"#, "Only paths inside the project can be read.\n"),
            ("read_file", #"{"path":"link"}"#, "`link` leads out of the project, by a symbolic link.\n"),
            ("find_files", #"{"pattern":""}"#, "Error: `pattern` is missing."),
            ("delete_file", "{}", "Error: there is no tool “delete_file”."),
            ("git_log", "", "This project's directory is not a git repository.\n"),
        ]
    )
    func refusals(name: String, arguments: String, result: String) async throws {
        try await ModelBench.with { bench in
            try link(bench.directory + "/../secret.txt", at: bench.directory + "/link")
            bench.fake.reply(.call(name, arguments), .answer(["Sorry."]))
            let outcome = try await bench.ask()
            #expect(outcome.error == nil && outcome.text == "Sorry.")
            #expect(outcome.tools.map(\.status) == [.failed])
            #expect(try #require(bench.asked.last).results == [result])
        }
    }

    @Test("Tools that a turn does not allow are neither offered nor carried out")
    func allowedTools() async throws {
        try await ModelBench.with { bench in
            bench.fake.reply(.call("read_file", #"{"path":"README.md"}"#), .answer(["No."]))
            let outcome = try await bench.ask(tools: ["list_directory", "search"])
            #expect(bench.asked.first?.toolNames == ["list_directory", "show_tree", "search"])
            #expect(bench.asked.last?.results == ["Error: read_file is not allowed in this turn."])
            #expect(outcome.tools.map(\.status) == [.failed])
            let none = try await bench.ask(tools: [])
            #expect(try #require(bench.asked.last)["tools"] == nil)
            #expect(none.statuses == ["No tools are allowed: small does not see the project's files"])
        }
    }

    @Test("Each tool gives what the explorer gives")
    func tools() async throws {
        try await ModelBench.with { bench in
            try await shell(
                "cd \(bench.directory) && git init -q . && git add . && git -c user.name=A -c user.email=a@b commit -qm Sow"
            )
            let calls = [
                ("show_tree", #"{"depth":1}"#, "├── README.md"),
                ("find_files", #"{"pattern":"*.swift"}"#, "Sources/main.swift"),
                ("list_directory", #"{"path":"Sources"}"#, "main.swift  14 B"),
                ("git_log", #"{"count":5}"#, "  A  Sow"),
                ("read_file", #"{"path":"README.md","first_line":3,"last_line":99}"#, "    3  Roses and beans."),
            ]
            for (name, arguments, part) in calls {
                bench.fake.reply(.call(name, arguments), .answer(["Done."]))
                let outcome = try await bench.ask()
                #expect(outcome.tools.map(\.status) == [.completed], "\(name)")
                #expect(bench.asked.last?.results.first?.contains(part) == true, "\(bench.asked.last?.results ?? [])")
            }
        }
    }

    @Test("A long result is cut, at a line's end, and says how much is missing")
    func longResult() async throws {
        try await ModelBench.with(context: 2048) { bench in
            try write(String(repeating: "0123456789\n", count: 1000), to: bench.directory + "/long.txt")
            bench.fake.reply(.call("read_file", #"{"path":"long.txt"}"#), .answer(["Done."]))
            _ = try await bench.ask()
            let result = try #require(bench.asked.last?.results.first)
            #expect(result.utf8.count < 2200)
            #expect(
                result.hasSuffix("0123456789\n… cut off, 5205 more bytes: ask for less at a time.\n"),
                "\(result.suffix(80))"
            )
        }
    }

    @Test("A model that uses tools without an end is ended")
    func rounds() async throws {
        try await ModelBench.with { bench in
            for _ in 0..<30 { bench.fake.reply(.call("list_directory", "{}")) }
            let outcome = try await bench.ask()
            #expect(outcome.error?.message.contains("used tools 20 times in a row") == true)
            #expect(bench.asked.count == ModelAgent.rounds)
        }
    }

    @Test("Of many calls at once only some are carried out")
    func manyCalls() async throws {
        try await ModelBench.with { bench in
            let calls = (0..<20).map { Chunk.call($0, id: "c\($0)", name: "git_log", "{}") }.joined()
            bench.fake.reply(.stream(calls + Chunk.end("tool_calls")), .answer(["Done."]))
            let outcome = try await bench.ask()
            #expect(outcome.tools.count == ModelAgent.callsAtOnce)
            #expect(bench.asked.last?.results.count == 20)
            #expect(bench.asked.last?.results.last == "Error: only 16 calls at once are carried out.")
        }
    }

    @Test("The turn's model is asked, and the first one where it has none")
    func choice() async throws {
        try await ModelBench.with(models: ["small", "large"]) { bench in
            _ = try await bench.ask(model: "large")
            _ = try await bench.ask()
            #expect(bench.asked.map { $0["model"]?.string } == ["large", "small"])
        }
    }

    @Test(
        "A model that cannot use tools is asked without them, however its server says so",
        arguments: [
            // Ollama; vLLM, in both shapes of its errors; a server that calls it a fault of its own.
            (
                400,
                #"{"error":{"message":"registry.ollama.ai/library/small does not support tools","type":"api_error"}}"#
            ),
            (400, #"{"object":"error",\#(vLLM),"type":"BadRequestError","param":null,"code":400}"#),
            (400, #"{"error":{\#(vLLM),"type":"BadRequestError","param":null,"code":400}}"#),
            (500, #"{"error":{"message":"This model does not support tools","type":"server_error"}}"#),
            // llama.cpp, OpenRouter, FastAPI, and a server that says it in plain text.
            (500, #"{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}"#),
            (404, #"{"error":{"message":"No endpoints found that support tool use","code":404}}"#),
            (422, #"{"detail":[{"loc":["body","tools"],"msg":"Extra inputs are not permitted"}]}"#),
            (400, "function calling is not supported"),
        ]
    )
    func withoutTools(status: Int, body: String) async throws {
        try await ModelBench.with { bench in
            bench.fake.reply(.status(status, headers: [], body: body), .answer(["Hello."]))
            let outcome = try await bench.ask()
            #expect(outcome.text == "Hello.")
            #expect(outcome.statuses == ["small cannot use tools: it does not see the project's files"])
            #expect(bench.asked.map { $0["tools"] == nil } == [false, true])
        }
    }

    @Test("A turn that is cancelled in mid-answer ends, and so does the request")
    func cancel() async throws {
        try await ModelBench.with { bench in
            bench.fake.reply(.held(["Ro"], gate: "never", ["ses"]))
            let (texts, text) = AsyncStream.makeStream(of: Void.self)
            let agent = ModelAgent(bench.launch, history: { _ in [] }, logger: .silent)
            let turn = AgentTurn(chatID: "chat", prompt: "What?", directory: bench.directory)
            let conversation = AgentConversation(
                emit: { if case .text = $0 { text.yield() } },
                notice: { _ in },
                keepAlive: {},
                ask: { $0.rejection }
            )
            let task = Task { try await agent.answer(turn, conversation: conversation) }
            for await _ in texts { break }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            try await bench.fake.connectionEnded()
        }
    }
}
