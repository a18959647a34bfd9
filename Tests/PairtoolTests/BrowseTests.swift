import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Testing

@testable import pairtool

@Suite struct BrowseTests {
    @Test("Projects with one path are one row, and an empty General is hidden")
    func projects() async throws {
        try await withPairedMac { _, user in
            let result = await user.run("projects", "--json")
            #expect(result.status == 0)
            let rows = try result.json
            #expect(rows.map { $0["name"]?.string } == ["web", "api"])
            #expect(rows[0]["ids"] == .list([.text("p-web"), .text("p-web-2")]))
            #expect(await user.run("projects", "-q").out == "p-web\np-api\n")
        }
    }

    @Test(
        "Chats are listed for a project by name, path or id, and for all",
        arguments: ["web", "WEB", "/Users/ada/web", "p-web", "we"]
    )
    func chats(word: String) async throws {
        try await withPairedMac { _, user in
            #expect(await user.run("chats", word, "-q").out == "c-login\nc-cors\n")
            #expect(await user.run("chats", "-q").out == "c-login\nc-cors\nc-api\n")
        }
    }

    @Test("An unknown and an ambiguous name say so, with their exit codes")
    func names() async throws {
        try await withPairedMac { _, user in
            let unknown = await user.run("chats", "nothing")
            #expect(unknown.status == 3)
            #expect(unknown.err.contains("pairtool projects"))
            #expect(await user.run("messages", "nothing").status == 3)
        }
        var script = FakeMacScript()
        script.projects[2].name = "web app"
        try await withPairedMac(script) { _, user in
            let ambiguous = await user.run("chats", "we")
            #expect(ambiguous.status == 2)
            #expect(ambiguous.err.contains("web app"))
        }
    }

    @Test("Messages: the last twenty, the last few, and all of a long chat once each")
    func messages() async throws {
        var script = FakeMacScript()
        script.fill("c-login", count: 450)
        try await withPairedMac(script) { _, user in
            let recent = try await user.run("messages", "c-login", "--json").json
            #expect(recent.count == 20)
            #expect(await user.run("messages", "c-login", "--last", "2", "-q").out == "m-448\nm-449\n")
            let all = await user.run("messages", "Fix the login", "--all", "-q").out.split(separator: "\n")
            #expect(all == (0..<450).map { "m-\($0)" })
        }
    }

    @Test("What peers write cannot steer the terminal, in text and in JSON")
    func hostileText() async throws {
        var script = FakeMacScript()
        script.projects[0].name = "web\u{1B}]0;owned\u{7}\u{202E}"
        script.chats[0].title = "t\u{9B}31m\r\n"
        script.fill("c-login", count: 2)
        script.messages["c-login"]?[0].text = "a\u{1B}[2Jb\u{0}\r\nc\td"
        try await withPairedMac(script) { _, user in
            for arguments in [
                ["projects"], ["chats"], ["messages", "c-login"], ["projects", "--json"], ["chats", "--json"],
            ] {
                let result = await user.run(arguments)
                #expect(result.status == 0)
                let unsafe = result.out.unicodeScalars.filter {
                    ($0.value < 0x20 && $0 != "\n" && $0 != "\t") || (0x7F...0x9F).contains($0.value)
                        || $0.value == 0x202E
                }
                #expect(unsafe.isEmpty, "\(arguments)")
            }
            #expect(await user.run("messages", "c-login").out.contains("\n  a␛[2Jb␀\n  c\td\n"))
            // In JSON nothing is lost.
            let rows = try await user.run("projects", "--json").json
            #expect(rows[0]["name"]?.string == script.projects[0].name)
        }
    }

    @Test("Status tells connected, superseded and signed out apart")
    func status() async throws {
        try await withPairedMac { mac, user in
            #expect(await user.run("status").out.contains("connected  yes, as desk"))
            #expect(try await user.run("status", "--json").json[0]["deviceName"] == nil, "that is for verified hosts")
            mac.change { $0.isSignedIn = false }
            let signedOut = await user.run("status", "--json")
            #expect(signedOut.status == 11)
            #expect(try signedOut.json[0]["connected"] == .bool(true))
            #expect(try signedOut.json.count == 1 && signedOut.errorCode == "host.host_signed_out", "\(signedOut)")
            try await Sandbox.with { other in
                mac.change { $0.isSignedIn = true }
                let endpoint = try #require(CompanionEndpoint(mac.endpointText))
                try await CompanionAPIClient.withClient(endpoint: endpoint) { _ = try await $0.startPairing() }
                await other.pair(mac)
            }
            let superseded = await user.run("status")
            #expect(superseded.status == 5)
            #expect(superseded.out.contains("replaced by"))
            #expect(superseded.err == "Next: pairtool pair\n")
            let object = await user.run("status", "--json")
            #expect(try object.status == 5 && object.errorCode == "host.not_paired", "\(object)")
            #expect(object.err.contains(#""exitStatus":5"#) && object.err.contains("pairtool pair"), "\(object)")
        }
    }

    @Test("Disconnecting ends our connection only, and never another device's")
    func disconnect() async throws {
        try await withPairedMac { mac, user in
            let unasked = await user.run("disconnect")
            #expect(unasked.status == 2 && unasked.err.contains("--yes"), "\(unasked)")
            let no = await user.run("disconnect", stdin: "\n", terminal: true)
            #expect(
                no.status == 1
                    && no.err.replacing("\n", with: " ").contains("this device has to be paired again. [y/N] "),
                "\(no)"
            )
            #expect(mac.requests("POST", "/companion/disconnect").isEmpty)
            #expect(await user.run("disconnect", stdin: "y\n", terminal: true).status == 0)
            #expect(mac.requests("POST", "/companion/disconnect").count == 1)
            #expect(await user.run("projects").status == 5)
            #expect(await user.run("disconnect").status == 0)
            #expect(mac.requests("POST", "/companion/disconnect").count == 1)
        }
    }

    @Test("Devices are listed and revoked")
    func devices() async throws {
        try await withPairedMac { mac, user in
            let listed = try await user.run("devices", "--json").json
            let own = try #require(listed.first { $0["isThisDevice"] == .bool(true) })
            let id = try #require(own["id"]?.string)
            #expect(await user.run("devices", "revoke", "nothing").status == 3)
            let words = ["devices", "revoke", String(id.prefix(6))]
            let unasked = await user.run(words + ["--json"])
            #expect(unasked.status == 2 && unasked.failed(with: "device.unconfirmed"), "\(unasked)")
            let kept = await user.run(words, stdin: "n\n", terminal: true)
            #expect(kept.status == 1 && kept.err.contains("This is the device that you are using."), "\(kept)")
            #expect(mac.requests("DELETE", "/companion/devices/\(id)").isEmpty)
            #expect(await user.run(words + ["--yes"]).status == 0)
            #expect(mac.requests("DELETE", "/companion/devices/\(id)").count == 1)
        }
    }

    @Test("The models of a host are listed in its order, with what they can see, in text, JSON and by id")
    func models() async throws {
        var script = FakeMacScript()
        script.models = [
            CompanionModel(id: "sees", name: "Model that sees", capabilities: .init(supports: .init(vision: true))),
            CompanionModel(id: "blind", name: "Blind", capabilities: .init(supports: .init(vision: false))),
            CompanionModel(id: "silent", name: "Silent"),
        ]
        try await withPairedMac(script) { mac, user in
            let text = await user.run("models")
            #expect(text.status == 0)
            #expect(
                text.out == """
                    ID      NAME             VISION
                    sees    Model that sees  yes
                    blind   Blind            no
                    silent  Silent           –

                    """
            )
            let rows = try await user.run("models", "--json").json
            #expect(rows.map { $0["id"]?.string } == ["sees", "blind", "silent"])
            #expect(rows.map { $0["name"]?.string } == ["Model that sees", "Blind", "Silent"])
            #expect(rows.map { $0["capabilities"]?["supports"]?["vision"] } == [.bool(true), .bool(false), nil])
            #expect(await user.run("models", "-q").out == "sees\nblind\nsilent\n")
            mac.change { $0.models = [] }
            #expect(await user.run("models").isEmptyList)
        }
    }

    @Test("A host that is signed out, gone or foreign has its exit code and next command")
    func unavailable() async throws {
        try await withPairedMac { mac, user in
            mac.change { $0.isSignedIn = false }
            let signedOut = await user.run("projects")
            #expect(signedOut.status == 11)
            #expect(signedOut.err.contains("next:"))
            mac.change { $0.faults = [FakeMacFault(.page(status: 404))] }
            #expect(await user.run("projects").status != 0)
            mac.change { $0.faults = [FakeMacFault(.redirect(to: "http://127.0.0.1:1/"))] }
            #expect(await user.run("projects").status == 10)
            mac.change { $0.faults = [FakeMacFault(.reset)] }
            #expect(await user.run("projects").status == 10)
        }
    }

    @Test("Hosts are renamed, chosen and forgotten")
    func hosts() async throws {
        try await withPairedMac { mac, user in
            let id = await user.run("hosts", "-q").out.trimmingBlanksOfTest()
            #expect(await user.run("hosts", "rename", String(id.prefix(6)), "Studio").status == 0)
            #expect(await user.run("projects", "--host", "studio", "-q").status == 0)
            #expect(await user.run("projects", "-q", environment: ["PAIRTOOL_HOST": "Studio"]).status == 0)
            #expect(await user.run("projects", "--host", "other").status == 5)
            #expect(await user.run("hosts", "default", "Studio", "-q").out == id + "\n")
            // What a variable that is not set leaves is not the default host, which PAIRTOOL_HOST without a value is.
            #expect(await user.run("hosts", "forget", "").status == 2)
            #expect(await user.run("hosts", "rename", "", "Shed").status == 2)
            #expect(await user.run("projects", "--host", "").status == 2)
            #expect(await user.run("projects", "-q", environment: ["PAIRTOOL_HOST": ""]).status == 0)
            let unasked = await user.run("hosts", "forget", "Studio")
            #expect(unasked.status == 2 && unasked.err.contains("confirm it with --yes"), "\(unasked)")
            #expect(await user.run("hosts").out.contains("Studio"))
            let forgotten = await user.run("hosts", "forget", "Studio", "--yes")
            #expect(forgotten.out == "Forgot Studio.\n")
            #expect(forgotten.err == "Unless you revoked this device, Studio still lists it: remove it there.\n")
            #expect(await user.run("projects").status == 5)
        }
    }
}

extension String {
    fileprivate func trimmingBlanksOfTest() -> String {
        String(split(separator: "\n").first ?? "")
    }
}
