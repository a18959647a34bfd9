import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Identity
import Testing

@testable import pairtool

@Suite struct AgentChatCommandTests {
    private static let providers = ["OpenAI", "Anthropic", "Gemini", "Aliyun Qwen", "Ollama"]

    @Test(arguments: providers)
    func promptsAreAnsweredByTheAgentsProviderAndKept(provider: String) async throws {
        let key = madeKeyText()
        try await Sandbox.with { user in
            _ = try user.pullSample(provider: provider)
            try await withFakeProviders(key: key) { fake in
                fake.reply(.drip(["Gravity 🌊", " does."]))
                let environment = fake.environment(key: key)
                let sent = try await user.spawn(["send", "Tides", "How?"], environment: environment)
                #expect(sent.status == 0, "\(sent.err)")
                #expect(sent.out == "Gravity 🌊 does.\n")
                let messages = try await user.spawn(["messages", "Tides"])
                #expect(messages.out.contains("How?"))
                #expect(messages.out.contains("Gravity 🌊 does."))
            }
        }
    }

    @Test func aNewChatIsBegunWithAnAgentAndGoesOn() async throws {
        try await Sandbox.with { user in
            let (_, sample) = try user.pullSample()
            try await withFakeProviders { fake in
                let environment = fake.environment(key: madeKeyText())
                let sent = try await user.spawn(
                    ["send", "--new", "--project", "Ada", "Tell me of waves", "--json"],
                    environment: environment
                )
                #expect(sent.status == 0, "\(sent.err)")
                let chatID = try #require(sent.json.last?["chatId"]?.string)
                #expect(await user.run("chats", "Ada", "-q").out.contains(chatID))
                let again = try await user.spawn(["send", chatID, "More", "--json"], environment: environment)
                #expect(again.status == 0, "\(again.err)")
                #expect(try again.json.last?["answer"]?.string == FakeProviders.usualAnswer.joined())
                #expect(fake.requests.last?.text.contains("Tell me of waves") == true)
                let project = try await user.run("chats", "--json").json.first
                #expect(project?["projectId"]?.string == LumiStore.id(sample.agent))
            }
        }
    }

    @Test func aChatAtTheTerminalKeepsItsThread() async throws {
        try await Sandbox.with { user in
            _ = try user.pullSample()
            try await withFakeProviders { fake in
                fake.reply(.answer(["First answer."]), .answer(["Second answer."]))
                let chat = try await user.spawn(
                    ["chat", "Tides"],
                    stdin: "One\nTwo\n/quit\n",
                    environment: fake.environment(key: madeKeyText())
                )
                #expect(chat.status == 0, "\(chat.err)")
                #expect(chat.out.contains("First answer."))
                #expect(chat.out.contains("Second answer."))
                #expect(fake.requests.last?.text.contains("First answer.") == true)
            }
        }
    }

    @Test(arguments: [
        (FakeProviderFault.key, 11, "provider.key_refused"), (.forbidden, 9, "provider.forbidden"),
        (.model, 3, "provider.not_found"), (.rate, 11, "provider.rate_limited"),
        (.overloaded, 11, "provider.overloaded"),
        (.server, 11, "provider.server"),
    ])
    func eachRefusalHasAnExitStatusAndNamesNoKey(fault: FakeProviderFault, status: Int32, code: String) async throws {
        let key = madeKeyText()
        try await Sandbox.with { user in
            _ = try user.pullSample()
            try await withFakeProviders { fake in
                // An interface that is not there is looked for below `/v1`, too.
                fake.reply(.fault(fault), .fault(fault))
                let environment = fake.environment(key: key).merging(["PAIRTOOL_LOG": "trace"]) { $1 }
                let sent = try await user.spawn(["send", "Tides", "How?", "--json"], environment: environment)
                #expect(sent.status == status, "\(sent.err)")
                #expect(try sent.errorCode == code)
                #expect(!(sent.out + sent.err).contains(key))
                #expect(fake.requests.count == (fault == .model ? 2 : 1))
            }
        }
    }

    @Test func anAnswerThatBreaksOffIsShownKeptAndExitsWith14() async throws {
        try await Sandbox.with { user in
            _ = try user.pullSample()
            try await withFakeProviders { fake in
                fake.reply(.cut(["Gravity"], isReset: false))
                let environment = fake.environment(key: madeKeyText())
                let sent = try await user.spawn(["send", "Tides", "How?"], environment: environment)
                #expect(sent.status == 14, "\(sent.err)")
                #expect(sent.out == "Gravity\n")
                #expect(await user.run("messages", "Tides").out.contains("Gravity [broken off]"))
            }
        }
    }

    @Test func howLongToWaitIsSaid() async throws {
        try await Sandbox.with { user in
            _ = try user.pullSample()
            try await withFakeProviders { fake in
                fake.reply(.status(429, headers: [("Retry-After", "17")], body: "{}"))
                let environment = fake.environment(key: madeKeyText())
                let sent = try await user.spawn(["send", "Tides", "How?"], environment: environment)
                #expect(sent.err.contains("next: try again in 17 s"))
            }
        }
    }

    @Test func picturesGoWithAPromptByTheirContent() async throws {
        try await Sandbox.with { user in
            _ = try user.pullSample()
            let picture = try user.file("picture.txt", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 1])
            let text = try user.file("text.png", Array("no picture".utf8))
            try await withFakeProviders { fake in
                let environment = fake.environment(key: madeKeyText())
                let sent = try await user.spawn(["send", "Tides", "See", "--image", picture], environment: environment)
                #expect(sent.status == 0, "\(sent.err)")
                #expect(fake.requests.last?.text.contains("data:image/png;base64,") == true)
                let bad = try await user.spawn(["send", "Tides", "See", "--image", text], environment: environment)
                #expect(bad.status == 2, "\(bad.err)")
                #expect(fake.requests.count == 1)
            }
        }
    }

    @Test func picturesGoWithOnePromptOfAChat() async throws {
        try await Sandbox.with { user in
            _ = try user.pullSample()
            let first = try user.file("first", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 1])
            let second = try user.file("second one", [0xFF, 0xD8, 0xFF, 0xE0, 0, 2])
            let text = try user.file("text.png", Array("no picture".utf8))
            try await withFakeProviders { fake in
                let environment = fake.environment(key: madeKeyText())
                let chat = try await user.spawn(
                    ["chat", "Tides", "--image", first],
                    stdin: "One\nTwo\n/image \(text)\n/image \(user.directory)/none\n/image\n/image \(second)\nThree\n",
                    environment: environment
                )
                #expect(chat.status == 0, "\(chat.err)")
                // The thread goes along with each prompt, and the pictures in it once.
                let asked = fake.requests.map(\.text)
                #expect(asked.map { $0.ranges(of: "data:image/png;base64,").count } == [1, 1, 1])
                #expect(asked.map { $0.ranges(of: "data:image/jpeg;base64,").count } == [0, 0, 1])
                #expect(chat.err.contains("not a PNG, JPEG, GIF or WebP") && chat.err.contains("there is no such file"))
                #expect(chat.err.contains("1 picture goes with the next prompt"))
                let bad = try await user.spawn(["chat", "Tides", "--image", text], environment: environment)
                #expect(bad.status == 2 && fake.requests.count == 3, "\(bad.err)")
            }
        }
    }

    @Test func aPictureStaysForTheNextPromptIfItsOwnWasNotSent() async throws {
        try await Sandbox.with { user in
            _ = try user.pullSample()
            let picture = try user.file("picture", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 1])
            _ = try user.file("notes.txt", Array("text".utf8))
            try await withFakeProviders { fake in
                let chat = await user.run(
                    ["chat", "Tides", "--last", "0"],
                    stdin: "/image \(picture)\nsee @~/notes.txt\nn\nOne\nTwo\n",
                    environment: fake.environment(key: madeKeyText()),
                    terminal: true
                )
                #expect(chat.status == 0, "\(chat.err)")
                #expect(fake.requests.count == 2)
                // The thread goes along with the second prompt, and the picture in it.
                let counts = fake.requests.map { $0.text.ranges(of: "data:image/png;base64,").count }
                #expect(counts == [1, 1])
                #expect(fake.requests.first?.text.contains("One") == true)
            }
        }
    }

    @Test func picturesOfAPromptThatFailsGoWithNoOther() async throws {
        try await Sandbox.with { user in
            _ = try user.pullSample()
            let picture = try user.file("picture", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 1])
            try await withFakeProviders { fake in
                fake.reply(.fault(.server))
                let chat = try await user.spawn(
                    ["chat", "Tides", "--image", picture],
                    stdin: "One\nTwo\n",
                    environment: fake.environment(key: madeKeyText())
                )
                #expect(chat.status == 0 && chat.err.contains("To add them again: /image FILE"), "\(chat.err)")
                #expect(fake.requests.map { $0.text.contains("data:image/png;base64,") } == [true, false])
            }
        }
    }

    @Test func plainHTTPToAnotherNetworkIsRefused() async throws {
        try await Sandbox.with { user in
            _ = try user.pullSample()
            let environment = [
                "OPENAI_API_KEY": madeKeyText(), "PAIRTOOL_OPENAI_URL": "http://api.example.com/v1",
            ]
            let sent = try await user.spawn(["send", "Tides", "How?", "--json"], environment: environment)
            #expect(sent.status == 2)
            #expect(try sent.errorCode == "provider.refused_url")
        }
    }

    @Test func aKeyThatTheMacGaveIsUsed() async throws {
        let key = madeKeyText()
        try await Sandbox.with { user in
            let (store, _) = try user.pullSample()
            try store.replace(.apiKeys, with: Array(#"{"lumiagent.apikey.openai":"\#(key)"}"#.utf8))
            try await withFakeProviders(key: key) { fake in
                let sent = try await user.spawn(["send", "Tides", "How?"], environment: fake.environment())
                #expect(sent.status == 0, "\(sent.err)")
            }
        }
    }
}
