import CompanionTestSupport
import FoundationEssentials
import Testing

@testable import pairtool

@Suite(.timeLimit(.minutes(15))) struct ApprovalRaceTests {
    @Test("Of twelve commands that decide one request at once, one decides it, and all tell the same")
    func race() async throws {
        try await withPairedJarvis { jarvis, user in
            // The first is held where it has read that nobody has decided, until the others have begun.
            jarvis.change { $0.faults = [FakeJarvisFault(.silence(gate: "look"), on: "/approval/status", times: 1)] }
            let outcomes = try await withThrowingTaskGroup(of: Sandbox.Result.self) { group in
                func decide(_ number: Int) {
                    let words =
                        number.isMultiple(of: 2)
                        ? ["approve", FakeJarvisScript.deploy] : ["reject", FakeJarvisScript.deploy, "--reason", "no"]
                    group.addTask { try await user.spawn(["approvals"] + words) }
                }
                decide(0)
                try await jarvis.reached("look")
                for number in 1..<12 { decide(number) }
                try await jarvis.received(12, "GET", "/approval/pending")
                jarvis.release("look")
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let status = try #require(jarvis.status(of: FakeJarvisScript.deploy))
            #expect(jarvis.requests("POST", "/").count == 1)
            #expect(outcomes.count == 12 && outcomes.count { $0.status == 0 } == 1)
            for outcome in outcomes {
                if outcome.status == 0 {
                    #expect(outcome.out.hasPrefix(status == "approved" ? "Approved: " : "Rejected: "), "\(outcome)")
                } else {
                    #expect(outcome.status == 1 && outcome.out.isEmpty, "\(outcome)")
                    #expect(outcome.err.contains("is already \(status)"), "\(outcome)")
                }
            }
        }
    }

    @Test("Where another machine decides as well, the command says what won, and fails")
    func overruled() async throws {
        try await withPairedJarvis { jarvis, user in
            jarvis.change {
                $0.faults = [
                    FakeJarvisFault(.drip, on: "/approval/status", times: 1),
                    FakeJarvisFault(
                        .decidesFirst(id: FakeJarvisScript.deploy, status: "rejected"),
                        on: "/approval/status"
                    ),
                ]
            }
            let result = await user.run("approvals", "approve", FakeJarvisScript.deploy, "--json")
            #expect(result.status == 1 && result.failed(with: "approval.overruled"), "\(result)")
            #expect(result.out.isEmpty && result.err.contains("is rejected"), "\(result)")
        }
    }

    @Test("A token is asked for, checked, kept where secrets are, sent with every request, and forgotten with the host")
    func token() async throws {
        var script = FakeJarvisScript()
        script.token = "jarvis-token-0123456789"
        try await withFakeJarvis(script) { jarvis in
            try await Sandbox.with { user in
                let pair = ["pair", "--family", "jarvis", "--url", "http://\(jarvis.endpointText)", "--allow-legacy"]
                let without = await user.run(pair)
                #expect(without.status == 2 && without.err.contains("needs a token"), "\(without)")
                #expect(without.err.contains("--token-file FILE"))
                let wrong = await user.run(pair + ["--token-file", "-"], stdin: "another\n")
                #expect(wrong.status == 6 && wrong.err.contains("rejected the token"), "\(wrong)")
                #expect(await user.run("hosts").isEmptyList)
                let right = await user.run(pair + ["--token-file", "-"], stdin: "jarvis-token-0123456789\n")
                #expect(right.status == 0, "\(right)")
                let before = jarvis.requests.count
                #expect(await user.run("approvals").status == 0)
                #expect(await user.run("approvals", "approve", FakeJarvisScript.deploy).status == 0)
                #expect(await user.run("jarvis", "health").status == 0)
                let sent = jarvis.requests.dropFirst(before)
                #expect(sent.count >= 6)
                #expect(sent.allSatisfy { $0.header("Authorization") == "Bearer jarvis-token-0123456789" })
                // A daemon that is recorded again keeps its token.
                #expect(await user.run(pair).status == 0)
                let secrets = user.directory + "/data/pairtool/secrets.json"
                let kept = try? String(contentsOfFile: secrets, encoding: .utf8)
                #expect(kept?.contains("jarvis-token-0123456789") == true)
                jarvis.change { $0.token = "changed" }
                let changed = await user.run("approvals")
                #expect(changed.status == 9 && changed.err.contains("rejected the token"), "\(changed)")
                #expect(changed.err.contains("--token-file FILE") && !changed.err.contains("jarvis-token"))
                #expect(await user.run("hosts", "forget", "127", "--yes").status == 0)
                let left = try? String(contentsOfFile: secrets, encoding: .utf8)
                #expect(left?.contains("jarvis-token") == false)
            }
        }
    }

    @Test("--via asks one base URL by hand, whatever the other answers; without a second one, cloud is a mistake")
    func via() async throws {
        try await withFakeJarvis { first in
            try await withFakeJarvis { second in
                try await Sandbox.with { user in
                    await user.pair(first)
                    let none = await user.run("approvals", "--via", "cloud")
                    #expect(none.status == 2 && none.err.contains("has no second base URL"), "\(none)")
                    await user.pair(first, "--fallback-url", "http://\(second.endpointText)")
                    let asked = (first.requests.count, second.requests.count)
                    let cloud = await user.run("approvals", "approve", FakeJarvisScript.deploy, "--via", "cloud")
                    #expect(cloud.status == 0 && cloud.out.contains("at \(second.endpointText)"), "\(cloud)")
                    #expect(!cloud.err.contains("Nothing answers"), "\(cloud)")
                    #expect(first.requests.count == asked.0 && second.requests.count > asked.1)
                    #expect(first.status(of: FakeJarvisScript.deploy) == "pending")
                    let health = try #require(
                        try await user.run("jarvis", "health", "--via", "cloud", "--json").json.first
                    )
                    #expect(health["usesFallback"] == .bool(true) && health["daemon"]?.string == second.endpointText)
                    let local = await user.run("approvals", "--via", "local", "--json")
                    #expect(try local.json.allSatisfy { $0["daemon"]?.string == first.endpointText })
                }
                // Where the one that was chosen is away, the other one is not asked.
                let closed = try await withFakeJarvis { $0.port }
                try await Sandbox.with { user in
                    let pair = ["pair", "--family", "jarvis", "--url", "http://127.0.0.1:\(closed)", "--allow-legacy"]
                    #expect(await user.run(pair + ["--fallback-url", "http://\(second.endpointText)"]).status == 0)
                    let asked = second.requests.count
                    #expect(await user.run("approvals", "--via", "local").status == 10)
                    #expect(second.requests.count == asked)
                }
            }
        }
    }
}
