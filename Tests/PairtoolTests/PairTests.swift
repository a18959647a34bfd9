import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import QRCodec
import Testing

@testable import pairtool

@Suite struct PairTests {
    private func picture(_ mac: FakeMac, token: String = FakeMacScript().token, expiresIn: Double = 300) throws
        -> [UInt8]
    {
        let payload = PairingPayload(code: "482913", token: token, expiresAt: Date().addingTimeInterval(expiresIn))
        return try QRSymbol(bytes: Array(payload.text.utf8)).png()
    }

    @Test("A picture of the QR code pairs, and the host is on record and the default")
    func picturePairs() async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                let file = try user.file("qr.png", try picture(mac))
                let result = await user.run("pair", "--qr", file, "--url", mac.endpointText, "--allow-legacy", "--json")
                #expect(result.status == 0)
                #expect(try result.json[0]["trust"]?.string == "legacy")
                let sent = try #require(mac.requests("POST", "/companion/pairing/complete").first)
                #expect(sent.text.contains(#""pairingToken":"\#(FakeMacScript().token)""#))
                let hosts = await user.run("hosts", "--json")
                #expect(try hosts.json.map { $0["isDefault"] } == [.bool(true)])
                #expect(!result.out.contains("482913") && !hosts.out.contains("482913"))
            }
        }
    }

    @Test("Plain HTTP has to be accepted: without a word nothing is sent, at a terminal a no is a no")
    func legacyConsent() async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                let refused = await user.run("pair", "--url", mac.endpointText, "--code-stdin", stdin: "482913\n")
                #expect(refused.status == 13)
                #expect(refused.err.contains("--allow-legacy"))
                let no = await user.run("pair", "--url", mac.endpointText, stdin: "n\n", terminal: true)
                #expect(no.status == 13)
                #expect(mac.requests.allSatisfy { $0.path == "/health" }, "what was asked holds no secret")
                let yes = await user.run("pair", "--url", mac.endpointText, stdin: "yes\n482913\n", terminal: true)
                #expect(yes.status == 0)
                #expect(!yes.err.contains("482913"), "typed digits are not shown")
                // It is asked once a host.
                let again = await user.run("pair", "--url", mac.endpointText, "--code-stdin", stdin: "482913\n")
                #expect(again.status == 7)
            }
        }
    }

    @Test("The digits may be typed as hosts show them", arguments: ["482 913", " 482-913 "])
    func groupedDigits(code: String) async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                let pair = ["pair", "--url", mac.endpointText, "--allow-legacy", "--code-stdin"]
                let result = await user.run(pair, stdin: code + "\n")
                #expect(result.status == 0, "\(result.err)")
                #expect(
                    result.err.contains("Anyone on this network can read"),
                    "accepted in advance, it is said all the same"
                )
            }
        }
    }

    @Test(
        "What a legacy host cannot promise is not asked of it",
        arguments: [["--read-only"], ["--permission", "chat.send"]]
    )
    func legacyLimits(limit: [String]) async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                let pair = ["pair", "--url", mac.endpointText, "--allow-legacy", "--code-stdin"]
                let result = await user.run(pair + limit, stdin: "482913\n")
                #expect(result.status == 13)
                #expect(result.err.contains("has no permissions"))
                #expect(mac.requests("POST", "/companion/pairing/complete").isEmpty)
            }
        }
    }

    @Test("After a second host it is said which one commands go to, and how to reach the new one")
    func secondHost() async throws {
        try await withFakeMac { first in
            try await withFakeMac { second in
                try await Sandbox.with { user in
                    func pair(_ mac: FakeMac) async -> Sandbox.Result {
                        await user.run(
                            ["pair", "--url", mac.endpointText, "--allow-legacy", "--code-stdin"],
                            stdin: "482913\n"
                        )
                    }
                    #expect(await pair(first).err.contains("Next: pairtool projects\n"))
                    let result = await pair(second)
                    #expect(result.err.contains("Commands still go to"))
                    let next = try #require(result.err.split(separator: "\n").last { $0.hasPrefix("Next: ") })
                    let words = next.split(separator: " ").dropFirst(2).map(String.init)
                    #expect(await user.run(words).status == 0)
                    #expect(!second.requests("GET", "/companion/projects").isEmpty)
                }
            }
        }
    }

    @Test(
        "What is no code is refused before anything is sent",
        arguments: ["", "12345", "1234567", "12345a", "１２３４５６"]
    )
    func codeFormat(code: String) async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                let result = await user.run(
                    "pair",
                    "--url",
                    mac.endpointText,
                    "--allow-legacy",
                    "--code-stdin",
                    stdin: code + "\n"
                )
                #expect(result.status == 2)
                #expect(mac.requests.isEmpty)
            }
        }
    }

    @Test("A wrong code and a wrong token have exit code 6, and a retry works")
    func wrongCode() async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                let wrong = await user.run(
                    "pair",
                    "--url",
                    mac.endpointText,
                    "--allow-legacy",
                    "--code-stdin",
                    "--json",
                    stdin: "000000\n"
                )
                #expect(wrong.status == 6, "\(wrong)")
                #expect(try wrong.errorCode == "pairing.wrong_code")
                let file = try user.file("qr.png", try picture(mac, token: "other"))
                let token = await user.run("pair", "--qr", file, "--url", mac.endpointText, "--allow-legacy", "--json")
                #expect(token.status == 6)
                #expect(try token.errorCode == "pairing.wrong_token")
                await user.pair(mac)
            }
        }
    }

    @Test("At a terminal a mistyped code is asked for again")
    func retyped() async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                let result = await user.run(
                    "pair",
                    "--url",
                    mac.endpointText,
                    "--allow-legacy",
                    stdin: "12\n000000\n482913\n",
                    terminal: true
                )
                #expect(result.status == 0, "\(result.err)")
            }
        }
    }

    @Test("An expired code, and none at the host, have exit code 7")
    func expired() async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                let file = try user.file("qr.png", try picture(mac, expiresIn: -10))
                let result = await user.run("pair", "--qr", file, "--url", mac.endpointText, "--allow-legacy", "--json")
                #expect(result.status == 7)
                #expect(try result.errorCode == "pairing.expired")
                #expect(mac.requests("POST", "/companion/pairing/complete").isEmpty)
            }
        }
        var script = FakeMacScript()
        script.hasChallenge = false
        try await withFakeMac(script) { mac in
            try await Sandbox.with { user in
                let result = await user.pairWithCode(mac.endpointText)
                #expect(result.status == 7)
                let reported = try result.errorCode
                #expect(reported == "pairing.none_active")
            }
        }
    }

    @Test("A fresh code of a Mac pairs although this machine's clock is ahead", arguments: [600.0, 7200, 86400])
    func clockAhead(seconds: Double) async throws {
        var script = FakeMacScript()
        script.clockSkew = .seconds(-seconds)
        try await withFakeMac(script) { mac in
            try await Sandbox.with { user in
                let file = try user.file("qr.png", try picture(mac, expiresIn: 300 - seconds))
                let words = ["pair", "--qr", file, "--url", mac.endpointText, "--allow-legacy", "--json"]
                let result = await user.run(words)
                #expect(result.status == 0, "\(result)")
            }
        }
    }

    @Test("Clocks that differ are named as the cause")
    func clockSkew() async throws {
        var script = FakeMacScript()
        script.clockSkew = .seconds(3600)
        try await withFakeMac(script) { mac in
            try await Sandbox.with { user in
                let file = try user.file("qr.png", try picture(mac))
                let result = await user.run("pair", "--qr", file, "--url", mac.endpointText, "--allow-legacy", "--json")
                #expect(result.status == 7)
                #expect(try result.errorCode == "pairing.clock_skew")
                #expect(result.err.contains("ahead of"))
            }
        }
    }

    @Test(
        "A host that answers oddly is told apart from one that pairs",
        arguments: [
            (FakeMacScript.CompleteAnswer.notConnected, "pairing.not_connected"),
            (.foreignDevice, "pairing.foreign_device"),
        ]
    )
    func oddAnswers(answer: FakeMacScript.CompleteAnswer, code: String) async throws {
        var script = FakeMacScript()
        script.isPaired = false
        script.completeAnswer = answer
        try await withFakeMac(script) { mac in
            try await Sandbox.with { user in
                let result = await user.pairWithCode(mac.endpointText)
                #expect(result.status == 1)
                let reported = try result.errorCode
                #expect(reported == code)
                #expect(await user.run("hosts").isEmptyList)
            }
        }
    }

    @Test("A storage fault after the device was connected still pairs")
    func storageFault() async throws {
        var script = FakeMacScript()
        script.completeAnswer = .storageFault
        try await withFakeMac(script) { mac in
            try await Sandbox.with { await $0.pair(mac) }
        }
    }

    @Test("A host that is off, another service on the port, and a public address each have their word")
    func noHost() async throws {
        try await Sandbox.with { user in
            // Port 1 is in the range that is never handed out, and nothing listens there.
            let off = await user.pairWithCode("127.0.0.1:1")
            #expect(off.status == 10)
            #expect(try off.errorCode == "pairing.unreachable")
            let foreign = await user.pairWithCode("8.8.8.8")
            #expect(foreign.status == 2)
            #expect(foreign.err.contains("nothing was sent"))
            var script = FakeMacScript()
            script.faults = [FakeMacFault(.page(status: 200))]
            try await withFakeMac(script) { mac in
                let other = await user.pairWithCode(mac.endpointText)
                #expect(other.status == 10)
                let reported = try other.errorCode
                #expect(reported == "pairing.wrong_service")
                #expect(mac.requests("POST", "/companion/pairing/complete").isEmpty)
            }
        }
    }

    @Test("A key file that others can read is refused with the way out, before anything is sent")
    func unsafeKey() async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                let before = mac.requests.count
                let key = user.directory + "/data/pairtool/identity.key"
                try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
                let result = await user.run("pair", "--url", mac.endpointText, "--code-stdin", stdin: "482913\n")
                #expect(result.status == 1)
                #expect(result.err.contains("chmod 600"))
                #expect(mac.requests.count == before)
            }
        }
    }

    @Test("Without a code and without a terminal it says what is missing")
    func noCode() async throws {
        try await Sandbox.with { user in
            let result = await user.run("pair", "--url", "127.0.0.1", "--allow-legacy")
            #expect(result.status == 2)
            #expect(result.err.contains("--code-stdin"))
        }
    }
}
