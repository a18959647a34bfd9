import CompanionTestSupport
import CompanionWire
import Discovery
import FoundationEssentials
import Logging
import Testing

@testable import CompanionApp
@testable import pairtool

/// What a user sees who mistypes the name of a thing, or gives a code or a name that leads nowhere.
@Suite(.timeLimit(.minutes(15))) struct MistypedNameTests {
    @Test("A mistyped project, chat, model or host gets the nearest one")
    func nearest() async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                let project = await user.run("chats", "apii")
                #expect(
                    project.status == 3 && project.err.contains("no project “apii”; did you mean “api”?"),
                    "\(project)"
                )
                let chat = await user.run("messages", "Fix the loginn")
                #expect(chat.status == 3 && chat.err.contains("; did you mean “Fix the login”?"), "\(chat)")
                let model = await user.run("send", "CORS", "hi", "--model", "gpt-tset")
                #expect(
                    model.status == 3 && model.err.contains("no model “gpt-tset”; did you mean “gpt-test”?"),
                    "\(model)"
                )
                #expect(mac.requests("POST", "/companion/chats/c-cors/continue").isEmpty)
                let name = await user.run("hosts", "rename", "127.0.0.1:\(mac.port)", "Studio")
                #expect(name.status == 0, "\(name)")
                let host = await user.run("projects", "--host", "Studoo")
                #expect(host.status == 5 && host.err.contains("; did you mean “Studio”?"), "\(host)")
            }
        }
    }

    @Test("A verified host gets no chat for a model that it does not have", arguments: ["nosuch", "biultin"])
    func model(word: String) async throws {
        try await withVerifiedHost { _, _, user in
            for command in [["send", "--new", "hi"], ["chat"]] {
                let refused = await user.run(command + ["--model", word, "--json"])
                #expect(refused.status == 3 && refused.failed(with: "model.unknown"), "\(refused)")
                #expect(refused.err.contains(word == "nosuch" ? "it has builtin" : "did you mean “builtin”?"))
            }
            let chats = await user.run("chats", "--json")
            #expect(chats.status == 0 && chats.out.isEmpty && chats.err.contains("No chat yet"), "\(chats)")
        }
    }

    @Test("A host that does not answer is called by its name, with the address in brackets")
    func named() async throws {
        try await Sandbox.with { user in
            let port = try await withFakeMac { mac in
                await user.pair(mac)
                _ = await user.run("hosts", "rename", "127.0.0.1:\(mac.port)", "Studio")
                return mac.port
            }
            let result = await user.run("projects", "--interface", "lo", "--engine", "embedded")
            #expect(result.status == 10 && result.err.contains("Studio (127.0.0.1:\(port))"), "\(result)")
            #expect(result.err.split(separator: "nothing listens").count == 2, "the reason is told once: \(result)")
        }
    }

    @Test("The commands of its family call such a host by its name, too")
    func namedByFamily() async throws {
        try await Sandbox.with { user in
            try await withFakeLumi { host async throws in
                await user.pair(host)
                let id = await user.run("hosts", "-q").out.trimmingWhitespace()
                #expect(await user.run("hosts", "rename", id, "Studio").status == 0)
            }
            let result = await user.run("lumi", "sync", "--interface", "lo", "--engine", "embedded")
            #expect(result.status == 10 && result.err.contains("Studio (127.0.0.1:"), "\(result)")
        }
    }

    @Test("An expired code is reported as such where no host could say whether it is right by its clock")
    func expired() async throws {
        try await withClosedPort { endpoint in
            try await Sandbox.with { user in
                let words = ["pair", "--qr", Self.samples + "/expired.png", "--url", "http://\(endpoint)", "--json"]
                let result = await user.run(words)
                #expect(result.status == 7 && result.failed(with: "pairing.expired"), "\(result)")
                #expect(result.err.contains("by this machine's clock, and its host could not be asked: "), "\(result)")
            }
        }
    }

    @Test("--url takes a name that ends in .local, and asks the network for its address")
    func localName() async throws {
        try await withFakeMac { mac in
            let name = "Studio\(UUID().uuidString.prefix(6))"
            let client = CompanionDiscoveryClient(engine: .embedded, interface: "lo", logger: Logger(label: "test"))
            let advert = Advertisement(name: name, services: [(type: .companion, port: mac.port, txt: [])])
            try await client.withAdvertisement(advert) { events in
                for await case .published in events { break }
                let seen = try await DiscoverySnapshot.run(client: client, types: [.companion], limit: .seconds(10)) {
                    $0.hosts.contains { $0.name == name && !$0.endpoints.isEmpty }
                }
                let host = try #require(seen.hosts.first { $0.name == name }?.endpoints.first?.hostName)
                let label = host.hasSuffix(".local") ? host : "\(host).local"
                try await Sandbox.with { user in
                    let paired = await user.run(
                        [
                            "pair", "--url", "http://\(label):\(mac.port)", "--code-stdin", "--allow-legacy",
                            "--interface", "lo",
                        ],
                        stdin: "482913\n"
                    )
                    #expect(paired.status == 0, "\(paired)")
                    #expect(await user.run("hosts").out.contains("127.0.0.1:\(mac.port)"))
                }
            }
        }
    }

    @Test("A name that nobody answers to, and one that is not of mDNS, are told apart")
    func unknownName() async throws {
        try await Sandbox.with { user in
            let words = ["pair", "--code-stdin", "--allow-legacy", "--interface", "lo", "--json", "--url"]
            let nobody = await user.run(words + ["nobody-\(UUID().uuidString.prefix(8)).local"], stdin: "482913\n")
            #expect(nobody.status == 3 && nobody.failed(with: "host.name_unknown"), "\(nobody)")
            for url in [
                "http://example.com:7878", "mac.local:0", "mac.local/path", "https://http://mac.local", ".local",
            ] {
                let other = await user.run(words + [url], stdin: "482913\n")
                #expect(other.status == 2 && other.failed(with: "usage"), "\(url) \(other)")
            }
        }
    }

    private static let samples =
        "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/") + "/samples"
}
