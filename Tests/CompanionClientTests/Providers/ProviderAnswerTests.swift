import CompanionClient
import CompanionTestSupport
import CompanionWire
import Providers
import Testing

@Suite struct ProviderAnswerTests {
    @Test(arguments: Provider.allCases)
    func anAnswerIsStreamedPieceByPiece(provider: Provider) async throws {
        try await withFakeProviders { fake in
            fake.reply(.answer(["The ", "moon."]))
            let asked = try await ask(.asking("Why?"), try fake.endpoint(provider))
            #expect(asked.error == nil, "\(String(describing: asked.error))")
            #expect(
                asked.events.filter { if case .text = $0 { true } else { false } } == [.text("The "), .text("moon.")]
            )
            #expect(asked.events.contains(.finished(.complete)))
        }
    }

    @Test(arguments: Provider.allCases)
    func charactersThatComeInPartsStayWhole(provider: Provider) async throws {
        try await withFakeProviders { fake in
            fake.reply(.drip(["Gezeiten: ", "🌊 zwölf ", "👩🏽‍🚀"]))
            let asked = try await ask(.asking("Why?"), try fake.endpoint(provider))
            #expect(asked.error == nil)
            #expect(asked.text == "Gezeiten: 🌊 zwölf 👩🏽‍🚀")
        }
    }

    @Test(arguments: Provider.allCases)
    func tokensAreCounted(provider: Provider) async throws {
        try await withFakeProviders { fake in
            let asked = try await ask(.asking("Why?"), try fake.endpoint(provider))
            var (input, output): (Int?, Int?)
            for case .usage(let newInput, let newOutput) in asked.events {
                (input, output) = (newInput ?? input, newOutput ?? output)
            }
            #expect(input == 12)
            #expect(output == 7)
        }
    }

    @Test(arguments: Provider.allCases)
    func theLimitOfTokensIsAnEndOfItsOwn(provider: Provider) async throws {
        try await withFakeProviders { fake in
            fake.reply(.limited(["The"]))
            let asked = try await ask(.asking("Why?"), try fake.endpoint(provider))
            #expect(asked.events.contains(.finished(.length)))
        }
    }

    @Test(arguments: [Provider.openai, .qwen, .anthropic, .gemini])
    func aFilterIsAnEndOfItsOwn(provider: Provider) async throws {
        try await withFakeProviders { fake in
            fake.reply(.blocked)
            let asked = try await ask(.asking("Why?"), try fake.endpoint(provider))
            #expect(asked.error == nil)
            #expect(asked.events.contains(.finished(.blocked)))
        }
    }

    @Test func eachProviderGetsTheKeyInItsOwnHeaderAndNoneInTheURL() async throws {
        let text = madeKeyText()
        let key = try #require(ProviderKey(text))
        try await withFakeProviders(key: text) { fake in
            for provider in Provider.allCases {
                let asked = try await ask(.asking("Why?"), try fake.endpoint(provider, key: key))
                #expect(asked.error == nil, "\(provider): \(String(describing: asked.error))")
            }
            #expect(!fake.requests.contains { $0.target.contains(text) || $0.text.contains(text) })
            #expect(fake.requests.count == Provider.allCases.count)
        }
    }

    @Test func whatTheAgentIsSetToReachesOpenAI() async throws {
        try await withFakeProviders { fake in
            _ = try await ask(.asking("Why?", temperature: 0.5), try fake.endpoint(.openai))
            let body = try fake.lastBody
            #expect(body.text("model") == "model-1")
            #expect(body.text("messages.0.role") == "system")
            #expect(body.text("messages.0.content") == "Be brief.")
            #expect(body.text("messages.1.content") == "Why?")
            #expect(body.number("temperature") == 0.5)
            #expect(fake.requests.last?.path == "/v1/chat/completions")
        }
    }

    @Test func whatTheAgentIsSetToReachesAnthropicWithinItsLimits() async throws {
        try await withFakeProviders { fake in
            _ = try await ask(.asking("Why?", temperature: 1.5), try fake.endpoint(.anthropic))
            let body = try fake.lastBody
            #expect(body.text("system") == "Be brief.")
            #expect(body.count("messages") == 1)
            #expect(body.number("temperature") == 1)
            #expect(body.number("max_tokens") == 4096)
            #expect(fake.requests.last?.header("anthropic-version") == "2023-06-01")
        }
    }

    @Test func whatTheAgentIsSetToReachesGeminiAndOllama() async throws {
        try await withFakeProviders { fake in
            _ = try await ask(.asking("Why?", temperature: 0.25), try fake.endpoint(.gemini))
            let gemini = try fake.lastBody
            #expect(gemini.text("systemInstruction.parts.0.text") == "Be brief.")
            #expect(gemini.number("generationConfig.temperature") == 0.25)
            #expect(fake.requests.last?.target == "/models/model-1:streamGenerateContent?alt=sse")
            _ = try await ask(.asking("Why?", temperature: 0.25), try fake.endpoint(.ollama))
            let ollama = try fake.lastBody
            #expect(ollama.text("messages.0.content") == "Be brief.")
            #expect(ollama.number("options.temperature") == 0.25)
        }
    }

    @Test(arguments: ["../../v1/files", "a/b?key=x#y", "..", "mod el%"])
    func aModelsNameCannotLeadElsewhere(model: String) async throws {
        try await withFakeProviders { fake in
            let prompt = ProviderPrompt(model: model, messages: [.init(isFromUser: true, text: "Why?")])
            _ = try await ask(prompt, try fake.endpoint(.gemini))
            let target = try #require(fake.requests.last).target
            #expect(target.hasPrefix("/models/"))
            #expect(target.hasSuffix(":streamGenerateContent?alt=sse"))
            #expect(target.count { $0 == "/" } == 2)
            #expect(target.count { $0 == "?" } == 1)
        }
    }

    @Test(arguments: [(.nan, nil), (.infinity, nil), (-3, 0), (9, 2)] as [(Double, Double?)])
    func temperaturesThatNobodyTakesAreMended(temperature: Double, sent: Double?) async throws {
        try await withFakeProviders { fake in
            let asked = try await ask(.asking("Why?", temperature: temperature), try fake.endpoint(.openai))
            #expect(asked.error == nil)
            let body = try fake.lastBody
            #expect(body.text("model") == "model-1" && body.number("temperature") == sent)
        }
    }

    @Test func picturesGoInEachProvidersFormat() async throws {
        let image = try PictureFile.image(smallPNG)
        let data = Base64.encode(smallPNG)
        let places: [(Provider, String, String)] = [
            (.openai, "messages.1.content.1.image_url.url", "data:image/png;base64,\(data)"),
            (.qwen, "messages.1.content.1.image_url.url", "data:image/png;base64,\(data)"),
            (.anthropic, "messages.0.content.0.source.data", data),
            (.gemini, "contents.0.parts.0.inlineData.data", data),
            (.ollama, "messages.1.images.0", data),
        ]
        try await withFakeProviders { fake in
            for (provider, path, expected) in places {
                _ = try await ask(.asking("What is it?", images: [image]), try fake.endpoint(provider))
                let body = try fake.lastBody
                #expect(body.text(path) == expected, "\(provider)")
            }
        }
    }

    @Test func picturesAreKnownByTheirFirstBytesAndMayNotBeTooLarge() throws {
        #expect(try PictureFile.image(smallPNG).mediaType == "image/png")
        #expect(try PictureFile.image([0xFF, 0xD8, 0xFF, 0xE0]).mediaType == "image/jpeg")
        #expect(try PictureFile.image(Array("RIFF\0\0\0\0WEBPVP8 ".utf8)).mediaType == "image/webp")
        #expect(try PictureFile.image(Array("GIF87a".utf8)).mediaType == "image/gif")
        #expect(try PictureFile.image(Array("GIF89a".utf8)).mediaType == "image/gif")
        for text in ["<svg/>", "GIF88a", "II*\0", "\0\0\0\u{18}ftypheic"] {
            #expect(throws: ProviderError.self, "\(text)") { try PictureFile.image(Array(text.utf8)) }
        }
        let large = smallPNG + [UInt8](repeating: 0, count: PictureFile.sizeLimit)
        #expect(throws: ProviderError.self) { try PictureFile.image(large) }
    }
}
