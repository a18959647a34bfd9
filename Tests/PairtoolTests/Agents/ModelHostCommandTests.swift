import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Providers
import Testing

@testable import pairtool

/// `pairtool host --agent openai`, with the built binary on both sides.
@Suite(.timeLimit(.minutes(15))) struct ModelHostCommandTests {
    @Test("A paired device asks the model, which looks at the project; a server on this machine gets no key")
    func wholeWay() async throws {
        let key = madeKeyText()
        try await withFakeProviders { fake in
            try await withProject { host, user in
                _ = await user.run("lumi", "keys")
                let picture = host.directory + "/qr.png"
                try ProviderKeyStore(directory: host.data).keep(ProviderKey(key), url: nil, for: .openai)
                let arguments = [
                    "--project", host.directory + "/garden", "--qr-file", picture, "--agent", "openai", "--model",
                    "small", "--model", "large", "--url", fake.url + "/v1",
                ]
                try await withRunningHost(host, arguments) { events in
                    _ = try await events.first("challenge")
                    let paired = try await user.spawn([
                        "pair", "--qr", picture, "--interface", "lo", "--engine", "embedded",
                    ])
                    #expect(paired.status == 0, "\(paired.err)")
                    #expect(try await user.spawn(["models", "-q"]).out == "small\nlarge\n")
                    let status = try await host.spawn(["host", "status", "--json"])
                    #expect(try status.json[0]["models"] == .list([.text("small"), .text("large")]))
                    fake.reply(
                        .stream(
                            #"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"#
                                + #""read_file","arguments":"{\"path\":\"README.md\"}"}}]}}]}"# + "\n\n"
                                + #"data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#
                                + "\n\ndata: [DONE]\n\n"
                        ),
                        .answer(["Roses."])
                    )
                    let sent = try await user.spawn([
                        "send", "--new", "--project", "garden", "What grows?", "--model", "large", "--allow-tool",
                        "read_file",
                    ])
                    #expect(sent.status == 0 && sent.out.contains("Roses."), "\(sent.err)")
                    let requests = fake.requests
                    #expect(requests.count == 2)
                    #expect(requests.last?.text.contains("Roses and beans.") == true)
                    #expect(
                        requests.allSatisfy {
                            $0.text.contains(#""model":"large""#) && $0.header("Authorization") == nil
                        }
                    )
                }
            }
        }
    }

    @Test("A server on this machine gets a key that is meant for it, from a file")
    func ownKey() async throws {
        let key = madeKeyText()
        try await withFakeProviders { fake in
            try await withProject { host, user in
                let picture = host.directory + "/qr.png"
                let file = host.directory + "/key"
                try Data("\(key)\n".utf8).write(to: URL(filePath: file))
                let arguments = [
                    "--project", host.directory + "/garden", "--qr-file", picture, "--agent", "openai", "--model",
                    "small", "--url", fake.url + "/v1", "--api-key-file", file,
                ]
                try await withRunningHost(host, arguments) { events in
                    _ = try await events.first("challenge")
                    try FileManager.default.removeItem(atPath: file)
                    let paired = try await user.spawn([
                        "pair", "--qr", picture, "--interface", "lo", "--engine", "embedded",
                    ])
                    #expect(paired.status == 0, "\(paired.err)")
                    fake.reply(.answer(["Roses."]))
                    let sent = try await user.spawn(["send", "--new", "--project", "garden", "What grows?"])
                    #expect(sent.status == 0 && sent.out.contains("Roses."), "\(sent.err)")
                    #expect(fake.requests.map { $0.header("Authorization") } == ["Bearer \(key)"])
                }
            }
        }
    }

    @Test(
        "A key that is none, or that a network could read, is refused",
        arguments: [
            ("", "http://127.0.0.1:1/v1", "provider.key_format"),
            ("two words", "http://127.0.0.1:1/v1", "provider.key_format"),
            ("word", "http://192.168.1.2/v1", "provider.key_exposed"),
        ]
    )
    func badKey(text: String, url: String, code: String) async throws {
        try await Sandbox.with { host in
            let file = host.directory + "/key"
            try Data(text.utf8).write(to: URL(filePath: file))
            let result = await host.run(
                "host",
                "--port",
                "0",
                "--agent",
                "openai",
                "--model",
                "m",
                "--url",
                url,
                "--api-key-file",
                file,
                "--json"
            )
            #expect(result.status == 2 && (try? result.errorCode) == code, "\(result.err)")
        }
    }

    @Test(arguments: [
        (["--agent", "openai", "--model", "a", "--api-key-file", "k"], "--api-key-file needs --url"),
        (["--api-key-file", "k"], "need --agent openai"),
        (["--agent", "openai"], "--agent openai needs --model NAME"),
        (["--model", "small"], "need --agent openai"),
        (["--agent", "builtin", "--url", "http://localhost"], "need --agent openai"),
        (["--agent", "openai", "--model", "a\u{1b}b"], "needs the name of a model"),
        (["--agent", "openai", "--model", "small", "--model", " "], "needs the name of a model"),
        (["--agent", "openai", "--model", "a", "--context", "12"], "--context must be"),
        (["--agent", "openai", "--model", "a", "--url", "http://models.example.com/v1"], "needs https://"),
        (["--agent", "openai", "--model", "a", "--agent-env", "HOME"], "--agent-env"),
        (["--agent", "openai", "--model", "a", "--worktree"], "--worktree needs an agent that changes files"),
        (["--worktree"], "--worktree needs an agent that changes files"),
    ])
    func mistakesAreSaid(arguments: [String], words: String) async throws {
        try await Sandbox.with { host in
            let result = await host.run(["host", "--port", "0"] + arguments)
            #expect(result.status == 2 && result.err.contains(words), "\(result.err)")
        }
    }

    @Test("OpenAI itself needs a key, which is said with the way to it")
    func missingKey() async throws {
        try await Sandbox.with { host in
            let result = await host.run("host", "--port", "0", "--agent", "openai", "--model", "gpt-x", "--json")
            #expect(result.status == 11, "\(result.err)")
            let code = try result.errorCode
            #expect(code == "provider.key_missing")
            #expect(result.err.contains("pairtool lumi keys set openai"))
        }
    }
}
