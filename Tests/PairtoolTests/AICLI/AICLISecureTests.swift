import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Testing

@testable import pairtool

/// AICLI servers behind TLS, and tokens that are looked at in few places only.
@Suite struct AICLISecureTests {
    private func arguments(_ server: FakeAICLI, _ more: String...) -> [String] {
        ["pair", "--family", "aicli", "--url", "https://\(server.endpointText)"] + more
    }

    private func fingerprint(_ certificate: TestCertificate) throws -> String {
        CertificateFingerprints(try PinnedCertificate(der: certificate.der)).certificate
    }

    @Test("The key is asked about once, with its fingerprint, and every later command ends at it")
    func firstUse() async throws {
        let certificate = try TestCertificate()
        try await withFakeAICLI(certificate: certificate) { server in
            try await Sandbox.with { user in
                let file = try user.file("token", Array((server.token ?? "").utf8))
                let paired = await user.run(arguments(server, "--token-file", file), stdin: "y\n", terminal: true)
                #expect(paired.status == 0, "\(paired)")
                #expect(paired.err.contains(try fingerprint(certificate)), "\(paired.err)")
                let again = await user.run(arguments(server, "--token-file", file), terminal: true)
                #expect(again.status == 0 && !again.err.contains("fingerprint"), "\(again)")
                let sent = await user.run("send", "web", "hi")
                #expect(sent.status == 0 && sent.out == "You said: hi\n", "\(sent)")
                let status = await user.run("status")
                #expect(status.status == 0 && status.out.contains("TLS, with the key that you trusted"), "\(status)")
                let row = try #require(try await user.run("hosts", "--json").json.first)
                #expect(row["spki"]?.string == certificate.spki && row["trust"]?.string == "legacy")
            }
        }
    }

    @Test("Whoever does not confirm the key is not paired, and nothing is sent; without a terminal --pin says it")
    func consent() async throws {
        let certificate = try TestCertificate()
        try await withFakeAICLI(certificate: certificate) { server in
            try await Sandbox.with { user in
                let file = try user.file("token", Array((server.token ?? "").utf8))
                let refused = await user.run(arguments(server, "--token-file", file), stdin: "n\n", terminal: true)
                #expect(refused.status == 13 && refused.err.contains("nothing was sent"), "\(refused)")
                let unasked = await user.run(arguments(server, "--token-file", file, "--allow-legacy"))
                #expect(unasked.status == 13 && unasked.err.contains("--pin sha256:"), "\(unasked)")
                let proof = await user.run(arguments(server, "--token-file", file, "--require", "verified"))
                #expect(proof.status == 13, "\(proof)")
                let other = try fingerprint(TestCertificate())
                let wrong = await user.run(arguments(server, "--token-file", file, "--pin", "sha256:\(other)"))
                #expect(wrong.status == 1 && wrong.err.contains(other), "\(wrong)")
                #expect(wrong.err.contains(try fingerprint(certificate)), "\(wrong)")
                #expect(server.requests.isEmpty)
                #expect(await user.run("hosts").isEmptyList)
                for pin in [try fingerprint(certificate), certificate.spki] {
                    let right = await user.run(arguments(server, "--token-file", file, "--pin", "sha256:\(pin)"))
                    #expect(right.status == 0, "\(right)")
                }
                #expect(await user.run("send", "web", "hi").out == "You said: hi\n")
            }
        }
    }

    @Test("A key that changed is refused with both shown, and nothing is sent")
    func changed() async throws {
        let (old, new) = (try TestCertificate(), try TestCertificate())
        try await Sandbox.with { user in
            var script = FakeAICLIScript()
            let token = FakeAICLIScript.newToken()
            script.token = token
            let file = try user.file("token", Array(token.utf8))
            let port = try await withFakeAICLI(script, certificate: old) { server in
                let pin = try fingerprint(old)
                #expect(await user.run(arguments(server, "--token-file", file, "--pin", "sha256:\(pin)")).status == 0)
                return server.port
            }
            try await withFakeAICLI(script, port: port, certificate: new) { server in
                for command in [["send", "web", "hi"], ["status"], ["projects"]] {
                    let result = await user.run(command)
                    #expect(result.status == 1, "\(command): \(result)")
                    #expect(result.err.contains(old.spki) && result.err.contains(new.spki), "\(result.err)")
                }
                let again = await user.run(arguments(server, "--token-file", file), stdin: "y\n", terminal: true)
                #expect(again.status == 1 && again.err.contains(new.spki) && again.err.contains("--pin"), "\(again)")
                #expect(server.requests.isEmpty)
                let pin = try fingerprint(new)
                #expect(await user.run(arguments(server, "--token-file", file, "--pin", "sha256:\(pin)")).status == 0)
                #expect(await user.run("send", "web", "hi").out == "You said: hi\n")
            }
        }
    }

    @Test("A picture's URL of TLS leads there; --pin is refused where there is no TLS, and so is what is no pin")
    func usage() async throws {
        let certificate = try TestCertificate()
        try await withFakeAICLI(certificate: certificate) { server in
            try await Sandbox.with { user in
                let text = try user.file("qr.txt", Array(server.qrPayload.utf8))
                let paired = await user.run("pair", "--qr", text, "--pin", "sha256:\(certificate.spki)")
                #expect(paired.status == 0, "\(paired)")
                let plain = await user.run(
                    "pair",
                    "--family",
                    "aicli",
                    "--url",
                    "http://127.0.0.1:1",
                    "--pin",
                    "sha256:\(certificate.spki)"
                )
                #expect(plain.status == 2 && plain.err.contains("--pin is for"), "\(plain)")
                for pin in ["sha256:", "sha256:12", "md5:\(certificate.spki)", certificate.spki] {
                    #expect(await user.run(arguments(server, "--pin", pin)).status == 2, "\(pin)")
                }
            }
        }
    }

    // MARK: Tokens

    @Test("Where pages are open but /ws is not, pairing asks for the token and checks it")
    func laxToken() async throws {
        var script = FakeAICLIScript()
        script.guardsEverything = false
        try await withFakeAICLI(script) { server in
            try await Sandbox.with { user in
                let url = ["pair", "--family", "aicli", "--url", "http://\(server.endpointText)", "--allow-legacy"]
                let none = await user.run(url)
                #expect(none.status == 2 && none.err.contains("needs a token"), "\(none)")
                let wrong = try user.file("wrong", Array("0123456789".utf8))
                #expect(await user.run(url + ["--token-file", wrong]).status == 6)
                let asked = await user.run(url, stdin: "wrong\n\(server.token ?? "")\n", terminal: true)
                #expect(asked.status == 0 && asked.err.contains("Try again"), "\(asked)")
                #expect(await user.run("send", "web", "hi").out == "You said: hi\n")
            }
        }
    }

    @Test("A token that changed is told by status and the doctor, with the way out", arguments: [true, false])
    func changedToken(_ guardsEverything: Bool) async throws {
        var script = FakeAICLIScript()
        script.guardsEverything = guardsEverything
        try await withFakeAICLI(script) { server in
            try await Sandbox.with { user in
                try await user.pair(server)
                #expect(await user.run("status").status == 0)
                server.change { $0.token = FakeAICLIScript.newToken() }
                let status = await user.run("status")
                let way = "pairtool pair --family aicli --url http://\(server.endpointText)"
                #expect(status.status == 5 && status.err.contains(way), "\(status)")
                #expect(status.err.contains("no longer accepts this device's token"), "\(status.err)")
                let object = await user.run("status", "--json")
                #expect(object.failed(with: "host.not_paired"), "\(object.err)")
                let arguments = ["doctor", "--host", "127", "--json", "--interface", "lo", "--engine", "embedded"]
                let rows = try await user.spawn(arguments).json
                let row = try #require(rows.first { $0["check"]?.string == "pairing" })
                #expect(row["verdict"]?.string == "problem" && row["advice"]?.string?.contains(way) == true, "\(row)")
            }
        }
    }
}
