import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Testing

@Suite struct JarvisClientTests {
    @Test("Waiting requests come oldest first, each once, with what is known of them")
    func pending() async throws {
        var script = FakeJarvisScript()
        script.listsTwice = true
        try await withJarvis(script) { jarvis, client in
            let pending = try await client.pending()
            #expect(pending.approvals.map(\.id) == [.deploy, .mail, .cleanup])
            #expect(pending.unreadable == 0)
            let first = pending.approvals[0]
            #expect(first.action == "Deploy web to production" && first.reason == "All tests are green")
            #expect(first.requestedBy == "deployer" && first.details == ["branch": "main", "commit": "4f2c81d"])
            #expect(first.requestedAt?.timeIntervalSince1970 == 1_795_253_400)
            #expect(jarvis.requests.map(\.target) == ["/api/v1/approval/pending"])
        }
    }

    @Test(
        "Entries of another shape: without a UUID they are counted, what else is missing is empty, decided ones are left out"
    )
    func strangeEntries() async throws {
        var script = FakeJarvisScript()
        script.approvals = []
        script.strangeEntries = [
            #"{"id":"../approve/x","action":"a"}"#, "7", "null", #"{"action":"no id"}"#,
            #"{"id":"\#(FakeJarvisScript.mail)"}"#,
            #"{"id":"\#(FakeJarvisScript.deploy)","action":"a","requestedAt":"now","details":{"n":7,"ok":true,"x":[1]}}"#,
            #"{"id":"\#(FakeJarvisScript.cleanup)","action":"a","status":"approved"}"#,
        ]
        try await withJarvis(script) { _, client in
            let pending = try await client.pending()
            #expect(pending.unreadable == 4)
            #expect(Set(pending.approvals.map(\.id)) == [.mail, .deploy])
            let deploy = try #require(pending.approvals.first { $0.id == .deploy })
            #expect(deploy.details == ["n": "7", "ok": "true"] && deploy.requestedAt == nil)
        }
    }

    @Test("A daemon tells its version, and whether it is well")
    func health() async throws {
        try await withJarvis { jarvis, client in
            let health = try await client.daemonHealth()
            #expect(health.version == "1.4.0" && health.isHealthy && health.timestamp != nil)
            jarvis.change { $0.health = "degraded" }
            #expect(try await !client.daemonHealth().isHealthy)
        }
    }

    @Test("Where a request stands is told, with its details; an unknown one is nil")
    func state() async throws {
        try await withJarvis(.with { $0.approvals[0].details = ["a": "b"] }) { jarvis, client in
            let first = try #require(jarvis.approvals.first.flatMap { JarvisApprovalID($0.id) })
            #expect(try await client.state(of: first)?.status == .pending)
            #expect(try await client.pending().approvals.contains { $0.details == ["a": "b"] })
            let unknown = try #require(JarvisApprovalID("00000000-0000-4000-8000-000000000000"))
            #expect(try await client.state(of: unknown) == nil)
            // The daemon compares letter by letter.
            let lower = try #require(JarvisApprovalID(FakeJarvisScript.deploy.lowercased()))
            #expect(try await client.state(of: lower) == nil)
        }
    }

    @Test("A body over 16 KiB is not sent")
    func bodyLimit() async throws {
        try await withJarvis { jarvis, client in
            let error = try await clientError {
                try await client.decide(
                    .deploy,
                    with: .reject(always: false, reason: String(repeating: "no ", count: 6000))
                )
            }
            #expect(error.code == .tooLarge && error.delivery == .notSent)
            #expect(jarvis.requests("POST", "/").isEmpty)
        }
    }

    @Test(
        "Faults have a code each",
        arguments: [
            (
                FakeJarvisFault.Kind.redirect(to: "http://127.0.0.1:1/api/v1/approval/pending"),
                CompanionClientError.Code.redirected
            ),
            (.oversized(bytes: 9 << 20, declared: true), .tooLarge),
            (.oversized(bytes: 9 << 20, declared: false), .tooLarge),
            (.garbage([0xFF, 0x00, 0x42, 0x0A, 0x0A]), .notACompanion), (.page(status: 200), .notACompanion),
            (.page(status: 404), .notACompanion), (.json(status: 200, "{}"), .badAnswer),
            (.json(status: 200, #"{"approvals":"#), .badAnswer),
            (.json(status: 500, #"{"error":true,"reason":"Something went wrong."}"#), .server),
            (.json(status: 401, "{}"), .forbidden), (.reset, .unreachable), (.cutBody, .unreachable),
        ]
    )
    func faults(kind: FakeJarvisFault.Kind, code: CompanionClientError.Code) async throws {
        try await withJarvis(.fault(kind)) { _, client in
            let error = try await clientError { try await client.pending() }
            #expect(error.code == code, "\(error)")
        }
    }

    @Test("Silence ends after the time of a request")
    func silence() async throws {
        let configuration = CompanionClientConfiguration(timeouts: .init(request: .milliseconds(50)))
        try await withJarvis(.fault(.silence(gate: "ever")), configuration) { jarvis, client in
            let error = try await clientError { try await client.pending() }
            #expect(error.code == .timedOut)
            jarvis.release("ever")
        }
    }

    @Test("A slow drip of bytes is read like any answer")
    func drip() async throws {
        try await withJarvis(.fault(.drip)) { _, client in
            let pending = try await client.pending()
            #expect(pending.approvals.count == 3)
        }
    }

    @Test(
        "What answers with pages, JSON of another kind, or with a refusal, is no daemon",
        arguments: [(200, "{\"ok\":true}"), (200, "[]"), (426, "{\"error\":\"version\"}")]
    )
    func stranger(status: Int, json: String) async throws {
        try await withJarvis(.fault(.json(status: status, json), on: "/health")) { _, client in
            let error = try await clientError { try await client.daemonHealth() }
            #expect(error.code == .notACompanion)
        }
    }

    @Test("An address that is not local is not spoken to")
    func publicAddress() async throws {
        let endpoint = CompanionEndpoint(address: try #require(IPAddress("203.0.113.5")), port: 9000)
        let error = try await clientError { try await JarvisClient.withClient(endpoint: endpoint) { _ in } }
        #expect(error.code == .refusedAddress)
    }
}

@Suite struct JarvisFallbackTests {
    @Test("The second base URL is used where nothing answers at the local address, and only then")
    func fallback() async throws {
        try await withFakeJarvis { second in
            let base = try #require(JarvisBase(fallback: "http://\(second.endpointText)"))
            try await withClosedPort { closed in
                try await JarvisClient.withClient(endpoint: closed, fallback: base) { client in
                    let pending = try await client.pending()
                    #expect(client.usesFallback && client.base == base && pending.approvals.count == 3)
                }
            }
            let asked = second.requests.count
            try await withFakeJarvis { first in
                let endpoint = try #require(CompanionEndpoint(first.endpointText))
                try await JarvisClient.withClient(endpoint: endpoint, fallback: base) { client in
                    #expect(!client.usesFallback)
                    _ = try await client.decide(.deploy, with: .allow(always: false))
                }
                #expect(first.status(of: FakeJarvisScript.deploy) == "approved")
                // Another service in the daemon's place is no reason to go elsewhere.
                first.change { $0.faults = [FakeJarvisFault(.page(status: 200))] }
                let error = try await clientError {
                    try await JarvisClient.withClient(endpoint: endpoint, fallback: base) { _ in }
                }
                #expect(error.code == .notACompanion)
            }
            #expect(second.requests.count == asked && second.status(of: FakeJarvisScript.deploy) == "pending")
        }
    }

    @Test(
        "Without a second base URL nothing is asked elsewhere, and where both are silent the first one's error counts"
    )
    func noFallback() async throws {
        try await withClosedPort { closed in
            let alone = try await clientError {
                try await JarvisClient.withClient(endpoint: closed) { try await $0.pending() }
            }
            #expect(alone.code == .unreachable && alone.message.contains("\(closed)"))
            try await withClosedPort { other in
                let base = try #require(JarvisBase(fallback: "http://\(other)"))
                let both = try await clientError {
                    try await JarvisClient.withClient(endpoint: closed, fallback: base) { try await $0.pending() }
                }
                #expect(both.code == .unreachable && both.message.contains("\(closed)"))
            }
        }
    }
}
