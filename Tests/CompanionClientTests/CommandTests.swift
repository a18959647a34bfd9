import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Testing

@Suite struct CommandTests {
    private static let chat = #"{"id":"c1","projectId":"p1","title":"T"}"#

    private static func done(_ result: String, replayed: Bool = false) -> FakeMacAction {
        .json(
            200,
            #"{"ok":true,"commandId":"x","replayed":\#(replayed),"serverTime":"2026-11-21T09:30:00.000Z","result":\#(result)}"#
        )
    }

    private func commands(_ host: TLSTestHost) -> [FakeMac.Request] { host.requests("POST", "/companion/command") }

    @Test("A command whose answer was lost is sent again with the same id and the same bytes")
    func lostAnswer() async throws {
        try await withTLSTestHost { _, count in
            count <= 2 ? [.close] : [Self.done(Self.chat, replayed: true)]
        } _: { host in
            let chat = try await host.withClient(StubCredentials(token: "t")) {
                try await $0.createChat(projectID: "p1", title: nil)
            }
            #expect(chat.id == "c1")
            #expect(commands(host).count == 3)
            #expect(Set(commands(host).map(\.body)).count == 1)
        }
    }

    @Test("A host that never answers is tried a bounded number of times, always with the same bytes")
    func bounded() async throws {
        try await withTLSTestHost { _, _ in
            [.close]
        } _: { host in
            let error = try await clientError {
                try await host.withClient(StubCredentials(token: "t")) {
                    try await $0.execute(.sessionCreate(projectID: "p"))
                }
            }
            #expect(error.code == .unreachable)
            #expect(commands(host).count == 4)
            #expect(Set(commands(host).map(\.body)).count == 1)
        }
    }

    @Test("A refusal is final: the command is sent once")
    func refusal() async throws {
        try await withTLSTestHost { _, _ in
            [refused(403, .permissionDenied)]
        } _: { host in
            let error = try await clientError {
                try await host.withClient(StubCredentials(token: "t")) {
                    try await $0.execute(.sessionCreate(projectID: "p"))
                }
            }
            #expect(error.code == .forbidden)
            #expect(error.hostCode == .permissionDenied)
            #expect(commands(host).count == 1)
        }
    }

    @Test("A command from another time is signed anew by the host's clock, once, under the same id")
    func clock() async throws {
        let hostTime = Date().addingTimeInterval(-5000)
        try await withTLSTestHost { _, count in
            let time = CompanionTimestamp.string(from: hostTime)
            return [count == 1 ? refused(400, .commandBadTime, #","serverTime":"\#(time)""#) : Self.done(Self.chat)]
        } _: { host in
            _ = try await host.withClient(StubCredentials(token: "t")) {
                try await $0.createChat(projectID: "p1", title: nil)
            }
            let sent = commands(host)
            #expect(sent.count == 2)
            #expect(try sent[0].member("commandId") == sent[1].member("commandId"))
            let text = try #require(try sent[1].member("issuedAt")?.string)
            let issued = try #require(CompanionTimestamp.date(from: text))
            #expect(abs(issued.timeIntervalSince(hostTime)) < 30)
        }
    }

    @Test("A command whose session was over goes out again with the same bytes and the new token")
    func session() async throws {
        try await withTLSTestHost { request, count in
            if request.path == "/companion/session" { return [granted("new")] }
            return [count == 1 ? refused(401, .sessionExpired) : Self.done(#"{"turnId":"t1"}"#)]
        } _: { host in
            let turn = try await host.withClient(StubCredentials(token: "old")) {
                try await $0.startTurn(chatID: "c1", request: .prompt("hi"))
            }
            #expect(turn == "t1")
            #expect(Set(commands(host).map(\.body)).count == 1)
            #expect(commands(host).map { $0.header("Authorization") } == ["Bearer old", "Bearer new"])
        }
    }

    @Test("A host that was paired by protocol 1 gets no command")
    func legacy() async throws {
        try await withPeers { mac, client in
            let error = try await clientError { try await client.execute(.sessionCreate(projectID: "p")) }
            #expect(error.code == .unsupportedVersion)
            #expect(mac.requests.isEmpty)
        }
    }
}
