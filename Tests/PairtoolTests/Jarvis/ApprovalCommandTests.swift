import CompanionTestSupport
import CompanionWire
import Testing

@testable import pairtool

@Suite struct ApprovalCommandTests {
    private static let ids = [FakeJarvisScript.deploy, FakeJarvisScript.mail, FakeJarvisScript.cleanup]

    @Test("What waits is listed, oldest first; nothing is an error of its own")
    func list() async throws {
        try await withPairedJarvis { jarvis, user in
            #expect(await user.run("approvals", "-q").out == Self.ids.map { $0 + "\n" }.joined())
            let rows = try await user.run("approvals", "list", "--json").json
            #expect(rows.map { $0["id"]?.string } == Self.ids)
            #expect(rows[2]["requestedAt"] == .text("2026-11-21T09:32:00.000Z"))
            #expect(rows[2]["details"] == .object(["path": .text("/Users/ada/Downloads"), "files": .text("214")]))
            #expect(rows[0]["status"] == .text("pending") && rows[0]["daemon"] == .text(jarvis.endpointText))
            let text = await user.run("approvals")
            #expect(text.out.contains("7B0E4A52  Deploy web to production") && text.err.contains(jarvis.endpointText))
            jarvis.change { $0.approvals = [] }
            let none = await user.run("approvals", "--json")
            #expect(none.status == 0 && none.out.isEmpty && none.err.contains("No request is waiting"), "\(none)")
        }
    }

    @Test("A request is shown by the beginning of its id in any case, decided or not")
    func show() async throws {
        try await withPairedJarvis { jarvis, user in
            let text = await user.run("approvals", "show", "7b0e4a")
            for part in ["Deploy web to production", "All tests are green", "deployer", "branch = main", "pending"] {
                #expect(text.out.contains(part), "\(part): \(text)")
            }
            jarvis.decide(FakeJarvisScript.deploy, "approved")
            let decided = try await user.run("approvals", "show", FakeJarvisScript.deploy.lowercased(), "--json").json
            #expect(decided.first?["status"] == .text("approved") && decided.first?["resolvedAt"] != nil)
            #expect(decided.first?["id"] == .text(FakeJarvisScript.deploy))
        }
    }

    @Test("What names several requests, or none, is said so")
    func names() async throws {
        try await withPairedJarvis { _, user in
            let several = await user.run("approvals", "approve", "7B0E", "--json")
            #expect(several.status == 2)
            #expect(several.failed(with: "approval.ambiguous"))
            for word in ["7B0", "FFFF", "../health", "00000000-0000-4000-8000-000000000000"] {
                let unknown = await user.run("approvals", "approve", word, "--json")
                #expect(unknown.status == 3, "\(word): \(unknown)")
                #expect(unknown.failed(with: "approval.unknown"))
            }
        }
    }

    @Test("A request is approved, another rejected with a reason, by the built binary")
    func decide() async throws {
        try await withPairedJarvis { jarvis, user in
            let approved = try await user.spawn(["approvals", "approve", "7B0E4A", "--json"])
            #expect(approved.status == 0, "\(approved)")
            #expect(try approved.json.first?["status"] == .text("approved"))
            #expect(try approved.json.first?["message"] == .text("Request approved"))
            let rejected = try await user.spawn(["approvals", "reject", "C4D8", "--reason", " keep them "])
            #expect(rejected.out.hasPrefix("Rejected: Delete 214 files in ~/Downloads (C4D86E03"), "\(rejected)")
            #expect(jarvis.requests("POST", "/").map(\.text) == ["", #"{"reason":"keep them"}"#])
            #expect(jarvis.status(of: FakeJarvisScript.cleanup) == "rejected")
            #expect(try await user.spawn(["approvals", "reject", "7B0E9F"]).status == 2)
            #expect(try await user.spawn(["approvals", "reject", "7B0E9F", "--reason", " "]).status == 2)
            let long = String(repeating: "x", count: 17 << 10)
            let tooLarge = try await user.spawn(["approvals", "reject", "7B0E9F", "--reason", long, "--json"])
            #expect(tooLarge.status == 1 && tooLarge.failed(with: "host.too_large"), "\(tooLarge)")
        }
    }

    @Test("Whoever comes second is told so, with exit code 1, and nothing is decided again")
    func alreadyDecided() async throws {
        var script = FakeJarvisScript()
        script.faults = [
            FakeJarvisFault(.decidesFirst(id: FakeJarvisScript.deploy, status: "rejected"), on: "/approval/status")
        ]
        try await withPairedJarvis(script) { jarvis, user in
            let result = await user.run("approvals", "approve", FakeJarvisScript.deploy, "--json")
            #expect(result.status == 1)
            #expect(result.failed(with: "approval.already_decided"))
            #expect(result.err.contains("is already rejected"))
            #expect(jarvis.requests("POST", "/").isEmpty)
        }
    }

    @Test("A failure at the decision means that the request is gone, where it is")
    func gone() async throws {
        var script = FakeJarvisScript()
        script.faults = [
            FakeJarvisFault(.removesFirst(id: FakeJarvisScript.deploy), on: "/approval/approve")
        ]
        try await withPairedJarvis(script) { _, user in
            let result = await user.run("approvals", "approve", FakeJarvisScript.deploy, "--json")
            #expect(result.status == 1)
            #expect(result.failed(with: "approval.gone"))
        }
    }

    @Test("Health has exit code 11 where the daemon is not well, and 10 where it does not answer")
    func health() async throws {
        try await withPairedJarvis { jarvis, user in
            let well = await user.run("jarvis", "health")
            #expect(well.status == 0 && well.out == "Jarvis 1.4.0 at \(jarvis.endpointText) is healthy.\n")
            jarvis.change { $0.health = "degraded" }
            #expect(await user.run("jarvis", "health").status == 11)
            jarvis.change { $0.faults = [FakeJarvisFault(.reset)] }
            #expect(await user.run("jarvis", "health").status == 10)
        }
    }

    @Test("What requesters write cannot steer the terminal, and pushes nothing out of sight")
    func hostileText() async throws {
        var script = FakeJarvisScript()
        script.approvals[1].action = "pay\u{1B}[2J\u{202E}\n7B0E9F11  harmless" + String(repeating: "!", count: 5000)
        script.approvals[1].reason = "a\u{9B}31m\rb"
        script.approvals[1].details = ["k\u{7}": "v\u{1B}]0;owned\u{7}"]
        try await withPairedJarvis(script) { _, user in
            for arguments in [["approvals"], ["approvals", "show", "7B0E4A"], ["approvals", "--json"]] {
                let result = await user.run(arguments)
                let unsafe = (result.out + result.err).unicodeScalars.filter {
                    ($0.value < 0x20 && $0 != "\n") || (0x7F...0x9F).contains($0.value) || $0.value == 0x202E
                }
                #expect(result.status == 0 && unsafe.isEmpty, "\(arguments): \(result)")
            }
            let text = await user.run("approvals").out
            #expect(text.split(separator: "\n").count == 4 && text.count < 1500)
            #expect(await user.run("approvals", "show", "7B0E4A").out.count < 4000)
        }
    }

    @Test("Hosts of other families have no approvals, and say so; the only daemon needs no name")
    func otherFamily() async throws {
        try await withFakeMac { mac in
            try await withFakeJarvis { jarvis in
                try await Sandbox.with { user in
                    let none = await user.run("approvals")
                    #expect(none.status == 5 && none.err.contains("--family jarvis"), "\(none)")
                    await user.pair(mac)
                    let other = await user.run("approvals")
                    #expect(other.status == 5 && other.err.contains("--family jarvis"), "\(other)")
                    await user.pair(jarvis)
                    #expect(await user.run("approvals", "-q").status == 0)
                    let names = try await user.run("hosts", "--json").json
                    let host = try #require(names.first { $0["family"] == .text("copilotforge") }?["id"]?.string)
                    let wrong = await user.run("approvals", "--host", host, "--json")
                    #expect(wrong.status == 1)
                    #expect(wrong.failed(with: "host.cannot"))
                    let daemon = try #require(names.first { $0["family"] == .text("jarvis") }?["id"]?.string)
                    let projects = await user.run("projects", "--host", daemon, "--json")
                    #expect(projects.status == 1)
                    #expect(projects.failed(with: "host.cannot"))
                }
            }
        }
    }
}
