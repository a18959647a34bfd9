import CompanionClient
import CompanionTestSupport
import FoundationEssentials
import LocalState
import Testing

@testable import pairtool

@Suite struct KeysCommandTests {
    @Test func aKeyIsSetFromStandardInputUsedAndForgotten() async throws {
        let key = madeKeyText()
        try await Sandbox.with { user in
            _ = try user.pullSample(provider: "Anthropic")
            let set = try await user.spawn(["lumi", "keys", "set", "anthropic"], stdin: key + "\n")
            #expect(set.status == 0, "\(set.err)")
            let path = user.data + "/provider_keys.json"
            #expect(try #require(FileStatus(path)).permissions == 0o600)
            let listed = try await user.spawn(["lumi", "keys", "--json"])
            let row = try #require(try listed.json.first { $0["provider"]?.string == "anthropic" })
            #expect(row["source"]?.string == "set")
            for result in [set, listed] { #expect(!(result.out + result.err).contains(key)) }
            try await withFakeProviders(key: key) { fake in
                let sent = try await user.spawn(["send", "Tides", "How?"], environment: fake.environment())
                #expect(sent.status == 0, "\(sent.err)")
            }
            #expect(await user.run("lumi", "keys", "forget", "anthropic").out == "Forgot the key for Anthropic.\n")
            #expect(await user.run("lumi", "keys", "forget", "anthropic").status == 3)
            let sent = await user.run("send", "Tides", "How?")
            #expect(sent.status == 11)
            #expect(sent.err.contains("next: pairtool lumi keys set anthropic"))
        }
    }

    @Test func whereAProviderIsCanBeSetWithoutAKey() async throws {
        try await Sandbox.with { user in
            _ = try user.pullSample(provider: "Ollama")
            try await withFakeProviders { fake in
                let set = await user.run("lumi", "keys", "set", "ollama", "--url", fake.url)
                #expect(set.status == 0, "\(set.err)")
                #expect(await user.run("send", "Tides", "How?").status == 0)
                #expect(fake.requests.count == 1)
                let forgotten = await user.run("lumi", "keys", "forget", "ollama")
                #expect(forgotten.out == "Forgot the address of Ollama.\n")
            }
        }
    }

    @Test(arguments: ["", "two words", "a\nb"])
    func whatIsNoKeyIsNotKept(text: String) async throws {
        try await Sandbox.with { user in
            #expect(await user.run(["lumi", "keys", "set", "openai"], stdin: text).status == 2)
            #expect(FileStatus(user.data + "/provider_keys.json") == nil)
        }
    }

    @Test(arguments: ["http://api.example.com", "ftp://localhost", "https://user:pw@example.com"])
    func addressesThatAKeyMustNotGoToAreRefused(url: String) async throws {
        try await Sandbox.with { user in
            let set = await user.run(["lumi", "keys", "set", "openai", "--url", url], stdin: madeKeyText())
            #expect(set.status == 2)
            #expect(FileStatus(user.data + "/provider_keys.json") == nil)
        }
    }

    @Test func aKeyOfTheEnvironmentIsSaidToCountFirst() async throws {
        try await Sandbox.with { user in
            let key = madeKeyText()
            let environment = ["OPENAI_API_KEY": key]
            let set = await user.run(["lumi", "keys", "set", "openai"], stdin: madeKeyText(), environment: environment)
            #expect(set.status == 0)
            #expect(set.err.contains("OPENAI_API_KEY"))
            let listed = await user.run(["lumi", "keys"], environment: environment)
            #expect(listed.out.contains("environment"))
            #expect(!listed.out.contains(key))
        }
    }

    @Test func anUnknownProviderIsAUsageError() async throws {
        try await Sandbox.with { user in
            let set = await user.run("lumi", "keys", "set", "oracle")
            #expect(set.status == 2)
            #expect(set.err.contains("openai, anthropic, gemini, qwen, ollama"))
        }
    }
}
