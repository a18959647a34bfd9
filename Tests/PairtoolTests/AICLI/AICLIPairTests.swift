import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Identity
import LocalState
import QRCodec
import Testing

@testable import pairtool

@Suite struct AICLIPairTests {
    private func arguments(_ server: FakeAICLI, _ more: String...) -> [String] {
        ["pair", "--family", "aicli", "--url", "http://\(server.endpointText)"] + more
    }

    @Test("The token comes from a file, standard input or a prompt, and is kept where only its owner reads it")
    func sources() async throws {
        try await withFakeAICLI { server in
            let token = server.token ?? ""
            try await Sandbox.with { user in
                let file = try user.file("token", Array("  \(token)\n".utf8))
                let given = await user.run(arguments(server, "--allow-legacy", "--token-file", file))
                #expect(given.status == 0 && !given.out.contains(token) && !given.err.contains(token), "\(given)")
                // A host that was agreed to is not asked about again.
                #expect(await user.run(arguments(server, "--token-file", "-"), stdin: token).status == 0)
                let asked = await user.run(arguments(server), stdin: "wrong\n\(token)\n", terminal: true)
                #expect(asked.status == 0 && asked.err.contains("Try again"), "\(asked.err)")
                let hosts = try await user.run("hosts", "--json").json
                #expect(hosts.count == 1 && hosts.first?["family"]?.string == "aicli")
                #expect(hosts.first?["trust"]?.string == "legacy")
                let data = user.directory + "/data/pairtool"
                #expect(FileStatus(data + "/secrets.json")?.permissions == 0o600)
                let records = try String(contentsOfFile: data + "/hosts.json", encoding: .utf8)
                #expect(!records.contains(token))
            }
        }
    }

    @Test("The QR code's URL pairs, as a picture and as text; nothing else than its host gets the token")
    func qrCode() async throws {
        try await withFakeAICLI { server in
            try await Sandbox.with { user in
                let picture = try user.file("qr.png", try QRSymbol(bytes: Array(server.qrPayload.utf8)).png())
                let scanned = await user.run("scan", picture, "--json")
                #expect(scanned.status == 0 && !scanned.out.contains(server.token ?? "?"))
                #expect(try scanned.json.first?["protocol"]?.string == "aicli")
                #expect(try scanned.json.first?["address"]?.string == server.endpointText)
                let shown = try await user.run("scan", picture, "--json", "--show-secrets").json
                #expect(shown.first?["token"]?.string == server.token)
                #expect(await user.run("scan", picture).out.contains("AICLI pairing code"))
                let foreign = await user.run("pair", "--qr", picture, "--url", "http://127.0.0.1:1", "--allow-legacy")
                #expect(foreign.status == 2)
                #expect(server.requests.isEmpty)
                #expect(await user.run("pair", "--qr", picture).status == 13)
                let paired = await user.run("pair", "--qr", picture, "--allow-legacy")
                #expect(paired.status == 0, "\(paired.err)")
                let text = try user.file("qr.txt", Array(server.qrPayload.utf8))
                #expect(await user.run("pair", "--qr", text).status == 0)
            }
        }
    }

    @Test("Nothing is sent without consent, and no token before it is known what listens there")
    func consent() async throws {
        try await withFakeAICLI { server in
            try await Sandbox.with { user in
                let file = try user.file("token", Array((server.token ?? "").utf8))
                #expect(await user.run(arguments(server, "--token-file", file)).status == 13)
                #expect(server.requests.isEmpty)
                server.change { $0.answers["/"] = (200, "<html></html>") }
                let stranger = await user.run(arguments(server, "--token-file", file, "--allow-legacy"))
                #expect(stranger.status == 10, "\(stranger.err)")
                #expect(server.requests.allSatisfy { $0.header("Authorization") == nil })
            }
        }
    }

    @Test("A wrong token has exit code 6 and is not kept; none where one is wanted is a matter of usage")
    func wrongToken() async throws {
        try await withFakeAICLI { server in
            try await Sandbox.with { user in
                let file = try user.file("token", Array("0123456789".utf8))
                let wrong = await user.run(arguments(server, "--token-file", file, "--allow-legacy", "--json"))
                #expect(wrong.status == 6)
                #expect(try wrong.errorCode == "pairing.wrong_token")
                #expect(await user.run(arguments(server, "--allow-legacy")).status == 2)
                let none = await user.run(arguments(server))
                #expect(none.status == 2 && none.err.contains("no token for"), "\(none)")
                #expect(none.err.contains("--token-file FILE"), "\(none)")
                let unproven = await user.run(arguments(server, "--require", "verified"))
                #expect(unproven.status == 13, "\(unproven)")
                #expect(unproven.err.contains("AICLI hosts cannot prove who they are"), "\(unproven)")
                #expect(await user.run("hosts").isEmptyList)
                #expect(FileStatus(user.directory + "/data/pairtool/secrets.json") == nil)
            }
        }
    }

    @Test("A server that wants no token is paired without one; the newest kind says what it cannot")
    func open() async throws {
        var script = FakeAICLIScript(.http)
        script.token = nil
        try await withFakeAICLI(script) { server in
            try await Sandbox.with { user in
                let result = await user.run(arguments(server, "--allow-legacy"))
                #expect(result.status == 0 && result.err.contains("Apple's push service"), "\(result)")
            }
        }
    }

    @Test("A file that holds no token, and tokens for other families, are refused before anything is sent")
    func usage() async throws {
        try await withFakeAICLI { server in
            try await Sandbox.with { user in
                let file = try user.file("token", Array("two words\n".utf8))
                #expect(await user.run(arguments(server, "--token-file", file, "--allow-legacy")).status == 2)
                let good = try user.file("good", Array("0123456789".utf8))
                let other = await user.run(
                    "pair",
                    "--url",
                    "http://\(server.endpointText)",
                    "--token-file",
                    good,
                    "--allow-legacy"
                )
                #expect(other.status == 2)
                #expect(await user.run("pair", "--token-file", good, "--code-stdin").status == 2)
                #expect(await user.run(arguments(server, "--token-file", "/nowhere", "--allow-legacy")).status == 3)
                #expect(server.requests.isEmpty)
            }
        }
    }

    @Test("A host that is forgotten leaves no token and no chat behind")
    func forget() async throws {
        try await withFakeAICLI { server in
            try await Sandbox.with { user in
                try await user.pair(server)
                _ = await user.run("send", "web", "hello")
                let data = user.directory + "/data/pairtool"
                #expect(
                    try String(contentsOfFile: data + "/secrets.json", encoding: .utf8).contains(server.token ?? "?")
                )
                #expect(await user.run("hosts", "forget", "127.0.0.1:\(server.port)", "--yes").status == 0)
                let secrets = try String(contentsOfFile: data + "/secrets.json", encoding: .utf8)
                #expect(!secrets.contains(server.token ?? "?"))
                #expect(try FileManager.default.contentsOfDirectory(atPath: data + "/aicli").isEmpty)
            }
        }
    }

    @Test("The token is in no log, however much is logged")
    func logs() async throws {
        try await withFakeAICLI { server in
            try await Sandbox.with { user in
                try await user.pair(server)
                for arguments in [["projects"], ["send", "web", "hi"], ["aicli", "sessions"]] {
                    let result = await user.run(arguments, environment: ["PAIRTOOL_LOG": "trace"])
                    #expect(result.status == 0 && !result.err.isEmpty)
                    #expect(!result.err.contains(server.token ?? "?") && !result.out.contains(server.token ?? "?"))
                }
            }
        }
    }
}
