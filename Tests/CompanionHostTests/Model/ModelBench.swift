import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import NIOConcurrencyHelpers
import Providers

@testable import CompanionHost

/// The pieces of a streamed answer of OpenAI's format.
enum Chunk {
    static func text(_ text: String) -> String { delta(#"{"content":\#(quoted(text))}"#) }

    static func thought(_ text: String) -> String { delta(#"{"reasoning_content":\#(quoted(text))}"#) }

    /// A piece of a call. Nil: the piece does not have it.
    static func call(_ index: Int?, id: String? = nil, name: String? = nil, _ arguments: String? = nil) -> String {
        var members: [String] = []
        if let index { members.append(#""index":\#(index)"#) }
        if let id { members.append(#""id":\#(quoted(id)),"type":"function""#) }
        let function = [
            name.map { #""name":\#(quoted($0))"# }, arguments.map { #""arguments":\#(quoted($0))"# },
        ].compactMap(\.self).joined(separator: ",")
        members.append(#""function":{\#(function)}"#)
        return delta(#"{"tool_calls":[{\#(members.joined(separator: ","))}]}"#)
    }

    /// The end of an answer of 7 tokens to a prompt of 12.
    static func end(_ reason: String = "stop") -> String {
        event(#"{"choices":[{"index":0,"delta":{},"finish_reason":"\#(reason)"}]}"#)
            + event(#"{"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":7}}"#) + event("[DONE]")
    }

    static func delta(_ json: String) -> String {
        event(#"{"choices":[{"index":0,"delta":\#(json),"finish_reason":null}]}"#)
    }

    static func event(_ data: String) -> String { "data: \(data)\n\n" }

    private static func quoted(_ text: String) -> String {
        String(decoding: JSONValue.string(text).json, as: UTF8.self)
    }
}

extension FakeProviderReply {
    /// One call of a tool.
    static func call(_ name: String, _ arguments: String, id: String = "c1") -> FakeProviderReply {
        .stream(Chunk.call(0, id: id, name: name, arguments) + Chunk.end("tool_calls"))
    }
}

/// An agent of a model over a stand-in's sockets, in a project with two files.
struct ModelBench: Sendable {
    let fake: FakeProviders
    let directory: String
    var launch: ModelLaunch

    /// What came of a prompt.
    struct Outcome: Sendable {
        var events: [TurnEvent] = []
        var error: AgentError?
        /// How long it waited.
        var waits: [Duration] = []

        var text: String {
            events.reduce(into: "") { text, event in if case .text(let piece) = event { text += piece } }
        }

        var statuses: [String] { events.compactMap { if case .status(let text) = $0 { text } else { nil } } }

        /// The tools as they ended.
        var tools: [ToolReport] {
            events.compactMap { event in
                guard case .tool(let call) = event, call.status == .completed || call.status == .failed else {
                    return nil
                }
                return call
            }
        }

        var usage: TurnUsage? {
            events.lazy.compactMap { if case .usage(let usage) = $0 { usage } else { nil } }.first
        }
    }

    static func with<R>(
        models: [String] = ["small"],
        context: Int = 8192,
        key: ProviderKey? = nil,
        keyPlace: String? = nil,
        _ body: (ModelBench) async throws -> R
    ) async throws -> R {
        try await withTemporaryDirectory { directory in
            try write("# Garden\n\nRoses and beans.\n", to: directory + "/project/README.md")
            try write("let beans = 3\n", to: directory + "/project/Sources/main.swift")
            try write("not for you\n", to: directory + "/secret.txt")
            return try await withFakeProviders { fake in
                let url = try ProviderURL(fake.url + "/v1", provider: .openai)
                let endpoint = ProviderEndpoint(provider: .openai, url: url, key: key, name: url.authority)
                return try await body(
                    ModelBench(
                        fake: fake,
                        directory: directory + "/project",
                        launch: ModelLaunch(
                            endpoint: endpoint,
                            models: models,
                            context: context,
                            keyPlace: keyPlace
                        )
                    )
                )
            }
        }
    }

    func ask(
        _ prompt: String = "What grows here?",
        after messages: [ModelMessage] = [],
        tools: Set<String>? = nil,
        model: String = "",
        limits: ProviderClient.Limits = ProviderClient.Limits()
    ) async throws -> Outcome {
        try await Self.ask(
            launch,
            prompt,
            after: messages,
            tools: tools,
            model: model,
            limits: limits,
            in: directory
        )
    }

    static func ask(
        _ launch: ModelLaunch,
        _ prompt: String,
        after messages: [ModelMessage] = [],
        tools: Set<String>? = nil,
        model: String = "",
        limits: ProviderClient.Limits = ProviderClient.Limits(),
        in directory: String
    ) async throws -> Outcome {
        let outcome = NIOLockedValueBox(Outcome())
        let agent = ModelAgent(
            launch,
            limits: limits,
            history: { _ in messages },
            sleep: { wait in outcome.withLockedValue { $0.waits.append(wait) } },
            logger: .silent
        )
        let turn = AgentTurn(
            chatID: "chat",
            prompt: prompt,
            directory: directory,
            allowedTools: tools,
            model: model
        )
        let conversation = AgentConversation(
            emit: { event in outcome.withLockedValue { $0.events.append(event) } },
            notice: { _ in },
            keepAlive: {},
            ask: { $0.rejection }
        )
        do {
            try await agent.answer(turn, conversation: conversation)
        } catch let error as AgentError {
            outcome.withLockedValue { $0.error = error }
        }
        return outcome.withLockedValue(\.self)
    }

    /// The bodies of the requests for an answer.
    var asked: [JSONValue] {
        fake.requests.filter { $0.method == "POST" }.map { JSONValue(lenient: $0.body) ?? .null }
    }
}

extension JSONValue {
    /// The messages of a request, as `role: content`.
    var messages: [String] {
        self["messages"]?.array?.map { "\($0["role"]?.string ?? "?"): \($0["content"]?.string ?? "")" } ?? []
    }

    /// The results of tools.
    var results: [String] {
        self["messages"]?.array?.filter { $0["role"]?.string == "tool" }.map { $0["content"]?.string ?? "" } ?? []
    }

    var toolNames: [String] { self["tools"]?.array?.compactMap { $0["function"]?["name"]?.string } ?? [] }
}
