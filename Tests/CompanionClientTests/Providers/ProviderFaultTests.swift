import CompanionClient
import CompanionTestSupport
import NIOPosix
import Providers
import Testing

@Suite struct ProviderFaultTests {
    private static let codes: [(FakeProviderFault, ProviderError.Code)] = [
        (.key, .keyRefused), (.forbidden, .forbidden), (.model, .notFound), (.rate, .rateLimited), (.server, .server),
        (.overloaded, .overloaded),
    ]

    @Test(arguments: Provider.allCases)
    func eachStatusIsAnErrorOfItsOwn(provider: Provider) async throws {
        try await withFakeProviders { fake in
            for (fault, code) in Self.codes {
                fake.reply(.fault(fault))
                let asked = try await ask(.asking("Why?"), try fake.endpoint(provider))
                #expect(asked.error?.code == code, "\(fault)")
                // Gemini says of a key that is none that the request is bad.
                #expect(asked.error?.httpStatus == (provider == .gemini && fault == .key ? 400 : fault.status))
            }
        }
    }

    @Test(arguments: [("7", 7), ("Wed, 21 Oct 2015 07:28:00 GMT", 0), ("-3", 0), ("1e300", 86_400)])
    func theProviderSaysHowLongToWait(header: String, seconds: Int) async throws {
        try await withFakeProviders { fake in
            fake.reply(.status(429, headers: [("Retry-After", header)], body: "{}"))
            let asked = try await ask(.asking("Why?"), try fake.endpoint(.openai))
            #expect(asked.error?.code == .rateLimited)
            #expect(asked.error?.retryAfter == .seconds(seconds))
        }
    }

    @Test(arguments: Provider.allCases)
    func anErrorInTheStreamEndsTheAnswerAndWhatCameCounts(provider: Provider) async throws {
        try await withFakeProviders { fake in
            fake.reply(.failing(["The "], .overloaded))
            let asked = try await ask(.asking("Why?"), try fake.endpoint(provider))
            #expect(asked.text == "The ")
            // Ollama's errors are texts without a kind.
            #expect(asked.error?.code == (provider == .ollama ? .server : .overloaded))
            #expect(asked.error?.providerText?.contains("overloaded fault") == true)
        }
    }

    @Test(
        arguments: Provider.allCases,
        [FakeProviderReply.cut(["The "], isReset: false), .cut(["The "], isReset: true), .unfinished(["The "])]
    )
    func anAnswerWithoutItsEndIsInterrupted(provider: Provider, reply: FakeProviderReply) async throws {
        try await withFakeProviders { fake in
            fake.reply(reply)
            let asked = try await ask(.asking("Why?"), try fake.endpoint(provider))
            #expect(asked.error?.code == .streamInterrupted, "\(String(describing: asked.error))")
        }
    }

    @Test func silenceInMidAnswerIsAnInterruption() async throws {
        try await withFakeProviders { fake in
            fake.reply(.held(["The "], gate: "never", []))
            let limits = ProviderClient.Limits(idle: .seconds(15))
            let asked = try await ask(.asking("Why?"), try fake.endpoint(.openai), limits: limits)
            #expect(asked.text == "The ")
            #expect(asked.error?.code == .streamInterrupted)
        }
    }

    @Test(.timeLimit(.minutes(15))) func signsOfLifeWithoutAnEndAreNoAnswer() async throws {
        try await withFakeProviders { fake in
            fake.reply(.endless(": ping\n\n"))
            let limits = ProviderClient.Limits(idle: .seconds(15), answer: .max)
            let asked = try await ask(.asking("Why?"), try fake.endpoint(.openai), limits: limits)
            #expect(asked.error?.code == .streamInterrupted)
        }
    }

    @Test func noAnswerAtAllIsATimeout() async throws {
        try await withFakeProviders { fake in
            fake.reply(.silence(gate: "never"))
            let limits = ProviderClient.Limits(head: .milliseconds(200))
            let asked = try await ask(.asking("Why?"), try fake.endpoint(.openai), limits: limits)
            #expect(asked.error?.code == .timedOut)
        }
    }

    @Test func aConnectionThatEndsBeforeAnAnswerIsUnreachable() async throws {
        try await withFakeProviders { fake in
            fake.reply(.bytes(""))
            let asked = try await ask(.asking("Why?"), try fake.endpoint(.openai))
            #expect(asked.error?.code == .unreachable)
        }
    }

    @Test func redirectsAreNotFollowed() async throws {
        let text = madeKeyText()
        let key = try #require(ProviderKey(text))
        try await withFakeProviders { other in
            try await withFakeProviders { fake in
                fake.reply(.status(307, headers: [("Location", "\(other.url)/chat/completions")], body: ""))
                let asked = try await ask(.asking("Why?"), try fake.endpoint(.openai, key: key))
                #expect(asked.error?.code == .redirected)
                #expect(other.requests.isEmpty)
            }
        }
    }

    @Test(arguments: Provider.allCases)
    func noErrorRepeatsTheKey(provider: Provider) async throws {
        let text = madeKeyText()
        let key = try #require(ProviderKey(text))
        try await withFakeProviders { fake in
            for fault in FakeProviderFault.allCases {
                fake.reply(.fault(fault), .failing(["The "], fault))
                for _ in 0..<2 {
                    let asked = try await ask(.asking("Why?"), try fake.endpoint(provider, key: key))
                    let error = try #require(asked.error)
                    var dumped = ""
                    dump(error, to: &dumped)
                    #expect(!"\(error)\(String(reflecting: error))\(dumped)".contains(text), "\(fault)")
                }
            }
            #expect(fake.requests.count == 2 * FakeProviderFault.allCases.count)
            var dumped = ""
            dump(try fake.endpoint(provider, key: key), to: &dumped)
            #expect(!dumped.contains(text))
        }
    }

    @Test(arguments: ["data: <html>\n\n", "data: 7\n\n", "data: {\"choices\":7}\n\n"])
    func whatIsNotTheFormatIsSaidToBeSo(stream: String) async throws {
        try await withFakeProviders { fake in
            fake.reply(.stream(stream))
            let asked = try await ask(.asking("Why?"), try fake.endpoint(.openai))
            #expect(asked.error?.code == .badAnswer)
        }
    }

    @Test(arguments: [Provider.openai, .ollama])
    func anAnswerWithoutBoundsIsNotTaken(provider: Provider) async throws {
        try await withFakeProviders { fake in
            fake.reply(.stream(String(repeating: "x", count: 5 << 20)), .answer([String(repeating: "y", count: 4096)]))
            let piece = try await ask(.asking("Why?"), try fake.endpoint(provider))
            #expect(piece.error?.code == .tooLarge)
            let limits = ProviderClient.Limits(answer: 1024)
            let whole = try await ask(.asking("Why?"), try fake.endpoint(provider), limits: limits)
            #expect(whole.error?.code == .tooLarge)
        }
    }

    @Test func aCertificateThatNobodyVouchesForEndsItBeforeTheKeyIsSent() async throws {
        let key = try madeKey()
        try await withTLSTestHost { _, _ in
            [.json(200, "{}")]
        } _: { host in
            for name in ["127.0.0.1", "localhost"] {
                let url = try ProviderURL("https://\(name):\(host.port)/v1", provider: .openai)
                let endpoint = ProviderEndpoint(provider: .openai, url: url, key: key)
                let error = try #require(try await ask(.asking("Why?"), endpoint).error)
                #expect(error.code == .unreachable && error.message.contains("certificate"), "\(error)")
            }
            #expect(host.requests.isEmpty)
        }
    }

    @Test func nothingThatListensIsUnreachable() async throws {
        let port = try await withFakeProviders { $0.port }
        let url = try ProviderURL("http://127.0.0.1:\(port)", provider: .ollama)
        let asked = try await ask(.asking("Why?"), ProviderEndpoint(provider: .ollama, url: url, key: nil))
        #expect(asked.error?.code == .unreachable)
    }
}

@Suite struct ProviderURLTests {
    @Test(arguments: [
        "https://api.example.com/v1/", "http://localhost:11434", "http://127.0.0.1:1", "http://[::1]:80",
        "http://192.168.1.7/ollama", "http://10.0.0.1", "http://172.31.0.1", "http://[fd00::1]", "http://169.254.1.1",
    ])
    func secureAndLocalAddressesAreTaken(text: String) throws {
        let url = try ProviderURL(text, provider: .openai)
        #expect(!url.description.hasSuffix("/"))
    }

    @Test(arguments: [
        "http://api.example.com", "http://8.8.8.8", "http://172.32.0.1", "http://127.0.0.1.example.com",
        "http://100.64.0.1",
        "http://[2001:db8::1]", "http://user@localhost", "http://localhost@example.com", "https://user:pw@example.com",
        "ftp://localhost", "localhost:11434", "https://", "https://example.com?x=1", "https://example.com/#x",
        "https://example.com/../v1", "https://exa mple.com", "https://example.com:0", "https://example.com:99999",
        "https://[::1", "http://0x7f.1", "https://example.com\\@localhost", "https://example.com/%2e%2e",
    ])
    func whatCouldTakeAKeyElsewhereIsRefused(text: String) throws {
        let error = #expect(throws: ProviderError.self) { try ProviderURL(text, provider: .openai) }
        #expect(error?.code == .refusedURL)
    }
}
