import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import NIOConcurrencyHelpers
import Testing

@Suite struct SessionTests {
    private static let projects = FakeMacAction.json(200, #"{"ok":true,"projects":[]}"#)

    /// A host that takes one token only.
    private func answer(taking token: String) -> TLSTestHost.Answer {
        { request, _ in
            if request.path == "/companion/session" { return [granted(token)] }
            return [
                request.header("Authorization") == "Bearer \(token)" ? Self.projects : refused(401, .sessionExpired)
            ]
        }
    }

    @Test("A session that is over is renewed once, unseen, and the new token is kept")
    func renewal() async throws {
        try await withTLSTestHost(answer: answer(taking: "new")) { host in
            let credentials = StubCredentials(token: "old")
            try await host.withClient(credentials) { client in
                _ = try await client.projects()
                _ = try await client.projects()
            }
            #expect(
                host.requests.map(\.path) == [
                    "/companion/projects", "/companion/session", "/companion/projects", "/companion/projects",
                ]
            )
            #expect(credentials.kept.withLockedValue { $0 } == ["new"])
            #expect(host.requests("POST", "/companion/session").first?.header("Authorization") == nil)
        }
    }

    @Test("Without a token a session is opened before anything is asked")
    func first() async throws {
        try await withTLSTestHost(answer: answer(taking: "new")) { host in
            try await host.withClient(StubCredentials()) { _ = try await $0.projects() }
            #expect(host.requests.map(\.path) == ["/companion/session", "/companion/projects"])
        }
    }

    @Test("A host that takes no new session either is asked for one once only")
    func refusedForGood() async throws {
        try await withTLSTestHost { request, _ in
            [request.path == "/companion/session" ? granted("new") : refused(401, .sessionExpired)]
        } _: { host in
            let error = try await clientError {
                try await host.withClient(StubCredentials(token: "old")) { try await $0.projects() }
            }
            #expect(error.code == .sessionExpired)
            #expect(host.requests("POST", "/companion/session").count == 1)
            #expect(host.requests("GET", "/companion/projects").count == 2)
        }
    }

    @Test("A session that another process has left is over as well: one is opened")
    func renewalAfterAnother() async throws {
        try await withTLSTestHost { request, count in
            if request.path == "/companion/session" { return [granted("new")] }
            let isTaken = ["Bearer \(count == 1 ? "old" : "new")"].contains(request.header("Authorization"))
            return [isTaken ? Self.projects : refused(401, .sessionExpired)]
        } _: { host in
            let credentials = StubCredentials(token: "old")
            try await host.withClient(credentials) { client in
                _ = try await client.projects()
                // What `disconnect` does in another process: it opens a session, and ends it.
                credentials.token.withLockedValue { $0 = "ended" }
                _ = try await client.projects()
            }
            #expect(credentials.kept.withLockedValue { $0 } == ["new"])
            let sent = host.requests("GET", "/companion/projects").compactMap { $0.header("Authorization") }
            #expect(sent == ["Bearer old", "Bearer old", "Bearer ended", "Bearer new"])
        }
    }

    @Test(
        "A device that was let go is told so, whatever it asks for",
        arguments: [
            (CompanionErrorCode.deviceRevoked, CompanionClientError.Code.revoked), (.deviceExpired, .revoked),
            (.deviceUnknown, .notPaired),
        ]
    )
    func letGo(code: CompanionErrorCode, expected: CompanionClientError.Code) async throws {
        try await withTLSTestHost { request, _ in
            [request.path == "/companion/session" ? refused(403, code) : refused(401, .sessionExpired)]
        } _: { host in
            let error = try await clientError {
                try await host.withClient(StubCredentials(token: "old")) { try await $0.projects() }
            }
            #expect(error.code == expected)
            #expect(error.hostCode == code)
        }
    }

    @Test("A session is asked for by the host's clock, which its refusal tells")
    func clock() async throws {
        let hostTime = Date().addingTimeInterval(7200)
        try await withTLSTestHost { request, count in
            guard request.path == "/companion/session" else { return [Self.projects] }
            let time = CompanionTimestamp.string(from: hostTime)
            return [count == 1 ? refused(401, .sessionExpired, #","serverTime":"\#(time)""#) : granted("new")]
        } _: { host in
            try await host.withClient(StubCredentials()) { _ = try await $0.projects() }
            let asked = host.requests("POST", "/companion/session")
            #expect(asked.count == 2)
            let text = try #require(try asked.last?.member("issuedAt")?.string)
            let issued = try #require(CompanionTimestamp.date(from: text))
            #expect(abs(issued.timeIntervalSince(hostTime)) < 30)
        }
    }
}
