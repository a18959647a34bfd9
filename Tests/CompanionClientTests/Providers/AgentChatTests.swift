import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import LocalState
import Providers
import Testing

@Suite struct AgentChatTests {
    /// A store with one agent and one conversation, fakes, and a chat over both.
    private func withChat<R>(
        provider: String = "OpenAI",
        environment: [String: String] = [:],
        _ body: (AgentChat, FakeProviders, LumiChats, LumiSample) async throws -> R
    ) async throws -> R {
        let sample = LumiSample()
        return try await withTemporaryDirectory { directory in
            let store = LumiStore(directory: directory + "/lumi")
            let agents = sample.agents().replacing(#""provider":"OpenAI""#, with: #""provider":"\#(provider)""#)
            try store.replace(.agents, with: Array("[\(agents)]".utf8))
            try store.replace(.conversations, with: Array("[\(sample.conversations)]".utf8))
            return try await withLumiChats(store, directory) { chats in
                try await withFakeProviders { fake in
                    var environment = environment
                    for provider in Provider.allCases { environment[provider.urlVariable] = fake.url }
                    if environment["OPENAI_API_KEY"] == nil { environment["OPENAI_API_KEY"] = madeKeyText() }
                    let settings = ProviderSettings(
                        environment: environment,
                        store: ProviderKeyStore(directory: directory)
                    )
                    return try await ProviderClient.withClient { client in
                        let chat = AgentChat(
                            store: store,
                            conversations: chats.conversations,
                            settings: settings,
                            client: client
                        )
                        return try await body(chat, fake, chats, sample)
                    }
                }
            }
        }
    }

    private func run(_ chat: AgentChat, _ chatID: String, _ request: TurnRequest) async throws -> [TurnEvent] {
        var outputs: [TurnEvent] = []
        for try await output in chat.turn(chatID: chatID, request: request) { outputs.append(output) }
        return outputs
    }

    @Test func aPulledConversationGoesOnWithWhatWasSaidBefore() async throws {
        try await withChat { chat, fake, store, sample in
            fake.reply(.answer(["It ", "pulls."]))
            let id = LumiStore.id(sample.conversation)
            let outputs = try await run(chat, id, TurnRequest(prompt: "And how?"))
            #expect(outputs.prefix(2) == [.text("It "), .text("pulls.")])
            guard case .finished(let summary) = outputs.last else {
                Issue.record("\(outputs)")
                return
            }
            #expect(summary.answer == "It pulls.")
            #expect(summary.usage?.totalTokens == 19)
            let body = try fake.lastBody
            #expect(body.text("model") == "gpt-x")
            #expect(body.text("messages.0.content") == "Be brief.")
            #expect(body.text("messages.1.content") == "Why?")
            #expect(body.text("messages.2.content") == "The moon.")
            #expect(body.text("messages.3.content") == "And how?")
            let messages = try await store.conversations.lastMessages(chatID: id, count: 9)
            #expect(messages.map(\.text).suffix(2) == ["And how?", "It pulls."])
        }
    }

    @Test func aNewChatIsKeptWithItsFirstAnswerAndGoesOn() async throws {
        try await withChat { chat, fake, store, sample in
            let id = try await chat.makeChat(projectID: LumiStore.id(sample.agent), title: "Waves")
            let before = try await store.conversations.chats(projectID: LumiStore.id(sample.agent))
            #expect(before.count == 1)
            _ = try await run(chat, id, TurnRequest(prompt: "One"))
            _ = try await run(chat, id, TurnRequest(prompt: "Two"))
            #expect(try fake.lastBody.count("messages") == 4)
            let made = try #require(UUID(uuidString: id))
            let conversation = try #require(try await store.conversations.conversation(made))
            #expect(conversation.title == "Waves")
            #expect(conversation.messages.count == 4)
            #expect(conversation.messages.allSatisfy { !$0.isStreaming })
            let chats = try await store.conversations.chats(projectID: LumiStore.id(sample.agent))
            #expect(chats.count == 2)
        }
    }

    @Test func aPromptThatGotNoAnswerLeavesNothing() async throws {
        try await withChat { chat, fake, store, sample in
            fake.reply(.fault(.rate))
            let id = LumiStore.id(sample.conversation)
            let error = await #expect(throws: ProviderError.self) {
                try await run(chat, id, TurnRequest(prompt: "And how?"))
            }
            #expect(error?.code == .rateLimited)
            let messages = try await store.conversations.lastMessages(chatID: id, count: 9)
            #expect(messages.map(\.text) == ["Why?", "The moon. [picture]"])
        }
    }

    @Test(arguments: [FakeProviderReply.cut(["It "], isReset: false), .failing(["It "], .overloaded)])
    func whatCameOfAnAnswerThatBrokeOffIsKeptAndMarked(reply: FakeProviderReply) async throws {
        try await withChat { chat, fake, store, sample in
            fake.reply(reply)
            let id = LumiStore.id(sample.conversation)
            await #expect(throws: ProviderError.self) { try await run(chat, id, TurnRequest(prompt: "And how?")) }
            let messages = try await store.conversations.lastMessages(chatID: id, count: 2)
            #expect(messages.map(\.text) == ["And how?", "It  [broken off]"])
        }
    }

    /// One piece of an answer, and its end.
    private static func stream(_ delta: String, end: String) -> FakeProviderReply {
        .stream(
            #"data: {"choices":[{"index":0,"delta":{\#(delta)},"finish_reason":null}]}"# + "\n\n"
                + #"data: {"choices":[{"index":0,"delta":{},"finish_reason":"\#(end)"}]}"# + "\n\ndata: [DONE]\n\n"
        )
    }

    static let emptyAnswers = [
        stream(#""content":"<think>The moon""#, end: "length"),
        stream(#""content":"<think>The moon""#, end: "stop"),
        stream(#""content":"<think>The moon</think>\n""#, end: "stop"),
        stream(#""reasoning_content":"The moon""#, end: "length"), stream(#""content":"""#, end: "stop"),
        stream(
            #""tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"look","arguments":"{}"}}]"#,
            end: "tool_calls"
        ),
    ]

    @Test(arguments: emptyAnswers)
    func anAnswerWithoutAWordIsAnErrorAndLeavesNothing(reply: FakeProviderReply) async throws {
        try await withChat { chat, fake, store, sample in
            fake.reply(reply)
            let id = LumiStore.id(sample.conversation)
            let error = await #expect(throws: ProviderError.self) {
                try await run(chat, id, TurnRequest(prompt: "And how?"))
            }
            #expect(error?.code == .noAnswer)
            let messages = try await store.conversations.lastMessages(chatID: id, count: 9)
            #expect(messages.map(\.text) == ["Why?", "The moon. [picture]"])
        }
    }

    @Test func anAnswerThatAFilterCutIsAnErrorKeptAndMarked() async throws {
        try await withChat { chat, fake, store, sample in
            fake.reply(Self.stream(#""content":"It ""#, end: "content_filter"))
            let id = LumiStore.id(sample.conversation)
            let error = await #expect(throws: ProviderError.self) {
                try await run(chat, id, TurnRequest(prompt: "And how?"))
            }
            #expect(error?.code == .blocked)
            let messages = try await store.conversations.lastMessages(chatID: id, count: 2)
            #expect(messages.map(\.text) == ["And how?", "It  [broken off]"])
        }
    }

    @Test func aReaderThatLeavesEndsTheAnswerAndKeepsWhatCame() async throws {
        try await withChat { chat, fake, store, sample in
            fake.reply(.held(["It "], gate: "rest", ["pulls."]))
            let id = LumiStore.id(sample.conversation)
            let (seen, continuation) = AsyncStream<Void>.makeStream()
            let reader = Task {
                for try await output in chat.turn(chatID: id, request: TurnRequest(prompt: "And how?")) {
                    if case .text = output { continuation.yield() }
                }
            }
            for await _ in seen { break }
            reader.cancel()
            _ = await reader.result
            // By the time that the reader is back: the process may end now.
            let messages = try await store.conversations.lastMessages(chatID: id, count: 2)
            #expect(messages.map(\.text) == ["And how?", "It  [broken off]"])
            #expect(fake.requests.count == 1)
        }
    }

    @Test func anotherModelIsOfTheUsersChoice() async throws {
        try await withChat { chat, fake, _, sample in
            _ = try await run(chat, LumiStore.id(sample.conversation), TurnRequest(prompt: "Go", model: "other"))
            #expect(try fake.lastBody.text("model") == "other")
        }
    }

    @Test func picturesGoAlongAndStayInTheConversation() async throws {
        try await withChat { chat, fake, store, sample in
            let image = try PictureFile.image(smallPNG)
            let id = LumiStore.id(sample.conversation)
            _ = try await run(chat, id, TurnRequest(prompt: "What is it?", images: [image]))
            #expect(try fake.lastBody.count("messages.3.content") == 2)
            _ = try await run(chat, id, TurnRequest(prompt: "Sure?"))
            #expect(try fake.lastBody.count("messages.3.content") == 2)
            let kept = try await store.conversations.conversation(sample.conversation)
            #expect(kept?.messages.contains { $0.isFromUser && $0.imageData == Data(smallPNG) } == true)
        }
    }

    @Test func aProviderThatNobodyKnowsIsSaid() async throws {
        try await withChat(provider: "Oracle") { chat, fake, _, sample in
            let error = await #expect(throws: ProviderError.self) {
                try await run(chat, LumiStore.id(sample.conversation), TurnRequest(prompt: "Go"))
            }
            #expect(error?.code == .unknownProvider)
            #expect(fake.requests.isEmpty)
        }
    }

    @Test func withoutAKeyNothingIsSent() async throws {
        try await withChat(provider: "Anthropic") { chat, fake, _, sample in
            let error = await #expect(throws: ProviderError.self) {
                try await run(chat, LumiStore.id(sample.conversation), TurnRequest(prompt: "Go"))
            }
            #expect(error?.code == .keyMissing)
            #expect(fake.requests.isEmpty)
        }
    }

    @Test func anAgentThatIsGoneIsSaid() async throws {
        try await withChat { chat, _, store, sample in
            try store.store.replace(.agents, with: Array("[]".utf8))
            let error = await #expect(throws: ProviderError.self) {
                try await run(chat, LumiStore.id(sample.conversation), TurnRequest(prompt: "Go"))
            }
            #expect(error?.code == .noAgent)
        }
    }
}

@Suite struct ProviderSettingsTests {
    private func synced(_ name: String, _ key: String) throws -> LumiAPIKeys {
        try JSONDecoder().decode(LumiAPIKeys.self, from: Data(#"{"lumiagent.apikey.\#(name)":"\#(key)"}"#.utf8))
    }

    @Test func theEnvironmentCountsFirstThenWhatWasSetThenWhatTheMacGave() async throws {
        let (first, second, third) = (madeKeyText(), madeKeyText(), madeKeyText())
        try await withTemporaryDirectory { directory in
            let store = ProviderKeyStore(directory: directory)
            let given = try synced("Aliyun Qwen", third)
            func source(_ environment: [String: String]) throws -> ProviderSettings.Source? {
                try ProviderSettings(environment: environment, store: store, synced: { given.key(of: $0) }).key(
                    for: .qwen
                )?.source
            }
            #expect(try source([:]) == .synced)
            let kept: ProviderKey? = ProviderKey(second)
            try store.keep(kept, url: nil, for: .qwen)
            #expect(try source([:]) == .kept)
            #expect(try source(["DASHSCOPE_API_KEY": first]) == .environment("DASHSCOPE_API_KEY"))
            #expect(try source(["DASHSCOPE_API_KEY": ""]) == .kept)
            #expect(try store.forget(.qwen) != nil)
            #expect(try source([:]) == .synced)
        }
    }

    @Test func keysAreKeptForTheirOwnerAlone() async throws {
        try await withTemporaryDirectory { directory in
            let store = ProviderKeyStore(directory: directory)
            try store.keep(try madeKey(), url: try ProviderURL("http://localhost:1", provider: .openai), for: .openai)
            #expect(try #require(FileStatus(store.path)).permissions == 0o600)
            #expect(try store.url(of: .openai) == "http://localhost:1")
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: store.path)
            #expect(throws: ProviderKeyStoreError.self) { try store.key(of: .openai) }
        }
    }

    @Test func keysOfANewerVersionAreRefusedAndLeftAsTheyAre() async throws {
        try await withTemporaryDirectory { directory in
            let store = ProviderKeyStore(directory: directory)
            let content = Array(#"{"version":2,"providers":[]}"#.utf8)
            try content.withUnsafeBytes { try PrivateFile.write($0, to: store.path) }
            let key = try madeKey()
            for use in [
                { _ = try store.key(of: .openai) }, { try store.keep(key, url: nil, for: .openai) },
                { _ = try store.forget(.openai) },
            ] as [() throws -> Void] {
                let error = #expect(throws: ProviderKeyStoreError.self) { try use() }
                #expect(error?.code == .newer && error?.remedy == "update pairtool")
                #expect(error?.message == "\(store.path) was written by a newer version of pairtool")
            }
            try store.check()
            #expect(try PrivateFile.read(store.path) == content)
        }
    }

    @Test(arguments: ["", "two words", "line\nend", "tab\t", "ключ"])
    func whatNoHeaderCarriesIsNoKey(text: String) throws {
        #expect(ProviderKey(text) == nil)
        let settings = ProviderSettings(
            environment: ["OPENAI_API_KEY": text],
            store: ProviderKeyStore(directory: "/nonexistent")
        )
        if text.isEmpty {
            #expect(try settings.key(for: .openai) == nil)
        } else {
            #expect(throws: ProviderError.self) { try settings.key(for: .openai) }
        }
    }

    @Test func theAddressOfTheEnvironmentCountsBeforeTheOneThatWasSet() async throws {
        try await withTemporaryDirectory { directory in
            let store = ProviderKeyStore(directory: directory)
            func url(_ environment: [String: String]) throws -> String {
                try ProviderSettings(environment: environment, store: store).url(for: .ollama).description
            }
            #expect(try url([:]) == "http://127.0.0.1:11434")
            try store.keep(nil, url: try ProviderURL("https://models.example.com/", provider: .ollama), for: .ollama)
            #expect(try url([:]) == "https://models.example.com")
            #expect(try url(["PAIRTOOL_OLLAMA_URL": "http://10.0.0.7:1"]) == "http://10.0.0.7:1")
            #expect(throws: ProviderError.self) { try url(["PAIRTOOL_OLLAMA_URL": "http://models.example.com"]) }
        }
    }
}
