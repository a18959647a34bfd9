import AsyncHTTPClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import NIOCore
import Providers
import Testing

@testable import CompanionHost

@Suite("A host whose prompts a model answers", .timeLimit(.minutes(15)))
struct ModelHostTests {
    private func launch(_ fake: FakeProviders) throws -> ModelLaunch {
        let url = try ProviderURL(fake.url + "/v1", provider: .openai)
        let endpoint = ProviderEndpoint(provider: .openai, url: url, key: nil, name: url.authority)
        return ModelLaunch(endpoint: endpoint, models: ["small", "large"])
    }

    private func body(_ request: FakeMac.Request?) -> JSONValue {
        request.flatMap { JSONValue(lenient: $0.body) } ?? .null
    }

    @Test("A model only reads: nothing is kept of its projects")
    func reading() async throws {
        try await withFakeProviders { fake in
            let launch = try launch(fake)
            try await TestRepository.with { repository in
                try await withGitHost(repository, agent: .model(launch)) {
                    (_: TestHost, device: TestDevice) async throws in
                    fake.reply(.answer(["Roses."]))
                    let (chat, turn) = try await device.startTurn("What grows?", model: "small")
                    #expect(try await device.events(chat: chat, turn: turn).answer == "Roses.")
                    let reply = try await device.get("/companion/chats/\(chat)/changes")
                    #expect(reply.error == "The agent of this host only reads: it changes no files")
                }
            }
        }
    }

    @Test("A client of version 1 sees the tools, and the chat's history goes along with the next prompt")
    func history() async throws {
        try await withFakeProviders { fake in
            let launch = try launch(fake)
            try await withHost {
                $0.agent = .model(launch)
            } _: { (host: TestHost) async throws in
                try write("Roses and beans.\n", to: host.project + "/README.md")
                try await host.pair()
                let models = try await host.get("/models").decoded(CompanionModelsResponse.self).models.elements
                #expect(models.map(\.id) == ["small", "large"])
                fake.reply(.call("read_file", #"{"path":"README.md"}"#), .answer(["Roses."]), .answer(["Beans."]))
                let reply = try await host.ask("What grows?", model: "small")
                #expect(
                    reply.frames == [
                        .toolStart(name: "read_file", id: "tool-1"),
                        .toolComplete(
                            name: "read_file",
                            id: "tool-1",
                            success: true,
                            details: "README.md: lines 1-1 of 1"
                        ),
                        .text("Roses."),
                        .usage(TurnUsage(inputTokens: 24, outputTokens: 14, totalTokens: 38, model: "small")),
                        .done(files: nil),
                    ]
                )
                _ = try await host.ask("And what else?", model: "large")
                let second = body(fake.requests.last)
                #expect(second["model"]?.string == "large")
                #expect(
                    second.messages.dropFirst() == ["user: What grows?", "assistant: Roses.", "user: And what else?"]
                )
                #expect(
                    try await host.ask("Hello", chat: "chat-3", model: "other").frames == [
                        .failed(TurnFailure("Unknown model"))
                    ]
                )
                _ = try await host.ask("Hello", chat: "chat-2", model: "small")
                #expect(
                    body(fake.requests.last).messages.dropFirst() == ["user: Hello"],
                    "another chat, another history"
                )
            }
        }
    }

    @Test("A device cancels in mid-answer, and what came is kept")
    func cancel() async throws {
        try await withFakeProviders { fake in
            let launch = try launch(fake)
            try await withHostAndDevice {
                $0.agent = .model(launch)
            } _: { (host: TestHost, device: inout TestDevice) async throws in
                try await device.pair()
                fake.reply(.held(["Roses"], gate: "never", []), .answer(["Beans."]))
                let (chat, turn) = try await device.startTurn("What grows?", model: "small")
                let stream = try await device.open("/companion/chats/\(chat)/turns/\(turn)/events")
                var seen = ""
                for try await part in stream {
                    seen += String(buffer: part)
                    if seen.contains("Roses") { break }
                }
                _ = try await device.execute(.chatCancel(chatID: chat, turnID: turn))
                let page = try await device.get("/companion/chats/\(chat)/messages").decoded(
                    CompanionMessagesPageResponse.self
                )
                #expect(page.messages.elements.map(\.text) == ["What grows?", "Roses"])
                let sent = try await device.execute(
                    .chatSend(chatID: chat, prompt: "Go on", model: nil, allowedTools: nil)
                )
                let next = try #require(sent.result["turnId"]?.string)
                #expect(try await device.events(chat: chat, turn: next).answer == "Beans.")
                #expect(
                    body(fake.requests.last).messages.dropFirst() == [
                        "user: What grows?", "assistant: Roses", "user: Go on",
                    ]
                )
            }
        }
    }

    @Test("The answer so far is kept when the server breaks off")
    func cut() async throws {
        try await withFakeProviders { fake in
            let launch = try launch(fake)
            try await withHost {
                $0.agent = .model(launch)
            } _: { (host: TestHost) async throws in
                try await host.pair()
                fake.reply(.cut(["Roses"], isReset: true))
                let reply = try await host.ask("What grows?", model: "small")
                let name = launch.endpoint.name
                #expect(
                    reply.frames == [
                        .text("Roses"), .failed(TurnFailure("The answer of \(name) broke off before its end")),
                    ]
                )
                let page = try await host.get("/companion/chats/chat-1/messages").decoded(
                    CompanionMessagesPageResponse.self
                )
                #expect(page.messages.elements.map(\.text) == ["What grows?", "Roses"])
            }
        }
    }
}
