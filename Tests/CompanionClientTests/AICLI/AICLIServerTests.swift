import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Testing

/// What is asked by HTTP.
@Suite struct AICLIServerTests {
    @Test(
        "Generations are told apart, and what the newest cannot is said",
        arguments: FakeAICLIScript.Generation.allCases
    )
    func generations(_ generation: FakeAICLIScript.Generation) async throws {
        try await withAICLI(FakeAICLIScript(generation)) { peers in
            let health = try await peers.host.client.aicliHealth()
            #expect(health.generation == (generation == .http ? .http : .webSocket))
            #expect(health.assistantAvailable == true && health.version == "1.0.0")
            #expect((health.generation.limits != nil) == (generation == .http))
        }
    }

    @Test(
        "An assistant that is not there is seen in a Bool and in an object",
        arguments: [FakeAICLIScript.Generation.wsEarly, .ws]
    )
    func unavailable(_ generation: FakeAICLIScript.Generation) async throws {
        var script = FakeAICLIScript(generation)
        script.isAssistantAvailable = false
        try await withAICLI(script) { peers in
            let found = try await peers.host.client.aicliHealth().assistantAvailable
            #expect(found == false)
        }
    }

    @Test("The token goes with what needs it, in a header, and is in no URL; health is asked without")
    func token() async throws {
        try await withAICLI { peers in
            _ = try await peers.host.client.aicliHealth()
            #expect(peers.server.requests.allSatisfy { $0.header("Authorization") == nil })
            try await peers.host.client.checkToken()
            let request = try #require(peers.server.requests.last)
            #expect(request.header("Authorization") == "Bearer \(peers.server.token ?? "")")
            #expect(request.header("x-device-id") == "0123456789abcdef")
            #expect(peers.server.requests.allSatisfy { !$0.target.contains(peers.server.token ?? "?") })
        }
    }

    @Test("A wrong token is told as such, and a missing one too", arguments: [nil, "0123456789"] as [String?])
    func wrongToken(_ token: String?) async throws {
        try await withAICLI(token: .some(token)) { peers in
            let error = try await clientError { try await peers.host.client.checkToken() }
            #expect(error.code == .notPaired)
        }
    }

    @Test("A server without a token takes everybody")
    func openServer() async throws {
        try await withAICLI(.with { $0.token = nil }) { peers in
            try await peers.host.client.checkToken()
            #expect(try await peers.send("hi").text == "You said: hi")
        }
    }

    @Test("Characters that could break out of a header are sent nowhere")
    func tokenTricks() async throws {
        let error = try await clientError {
            try await withAICLI(token: "a\r\nX-Evil: 1") { _ in }
        }
        #expect(error.code == .badRequest && error.delivery == .notSent)
    }

    @Test("Projects have a chat each, whether it was begun or not")
    func projects() async throws {
        try await withAICLI { peers in
            let projects = try await peers.host.projects()
            #expect(projects.map(\.name) == ["web", "api", "garden"])
            let chats = try await peers.host.chats(projectID: "api")
            #expect(chats.map(\.title) == ["api"])
            #expect(chats.first?.id == AICLISessionTable.chatID(for: "/Users/ada/api"))
            #expect(try await peers.host.chats(projectID: "nothing").isEmpty)
            _ = try await peers.send("hi", to: "/Users/ada/garden")
            #expect(try await peers.host.projects().first?.name == "garden")
        }
    }

    @Test(
        "Projects without a name or path are left out, and nonsense is an error",
        arguments: ["[]", "{}", "7", #"{"projects":5}"#]
    )
    func oddProjects(_ body: String) async throws {
        let odd = #"{"projects":[{"name":"web"},{"path":"/x"},{"name":7,"path":"/x"},null,{"name":"ok","path":"/ok"}]}"#
        try await withAICLI(.with { $0.answers["/api/projects"] = (200, odd) }) { peers in
            let found = try await peers.host.projects().map(\.name)
            #expect(found == ["ok"])
        }
        try await withAICLI(.with { $0.answers["/api/projects"] = (200, body) }) { peers in
            let found = try await clientError { try await peers.host.projects() }.code
            #expect(found == .badAnswer)
        }
    }

    @Test(
        "Another service on the port is told from an AICLI server",
        arguments: ["<html>hi</html>", "{}", "[1]", "hello"]
    )
    func stranger(_ body: String) async throws {
        try await withAICLI(.with { $0.answers["/"] = (200, body) }) { peers in
            let found = try await clientError { try await peers.host.client.aicliHealth() }.code
            #expect(found == .notACompanion)
        }
    }

    @Test("An answer over 8 MiB is refused before it is read")
    func tooLarge() async throws {
        let body = #"{"projects":[],"x":"\#(String(repeating: "x", count: 9 << 20))"}"#
        try await withAICLI(.with { $0.answers["/api/projects"] = (200, body) }) { peers in
            let found = try await clientError { try await peers.host.projects() }.code
            #expect(found == .tooLarge)
        }
    }

    @Test("A server that keeps silent is given up")
    func silent() async throws {
        let timeouts = CompanionClientConfiguration.Timeouts(request: .milliseconds(200))
        try await withAICLI(.with { $0.silentPaths = ["/api/projects"] }, timeouts: timeouts) { peers in
            let found = try await clientError { try await peers.host.projects() }.code
            #expect(found == .timedOut)
        }
    }

    @Test("Limits of the server are told as such")
    func limited() async throws {
        try await withAICLI(.with { $0.answers["/api/projects"] = (429, #"{"error":"Too many requests"}"#) }) { peers in
            let error = try await clientError { try await peers.host.projects() }
            #expect(error.code == .busy && error.hostText == "Too many requests")
        }
    }

    @Test("A session goes on only where the server knows it, in the same directory")
    func continuing() async throws {
        try await withAICLI(.with { $0.sessions = ["s1": "/Users/ada/web"] }) { peers in
            let client = peers.host.client
            let here = try await client.continueSession("s1", in: "/Users/ada/web")
            #expect(here == .continued)
            #expect(try await client.continueSession("s1", in: "/Users/ada/web/") == .unknown)
            #expect(try await client.continueSession("s2", in: "/Users/ada/web") == .unknown)
            #expect(try await client.sessionIDs() == ["s1"])
        }
    }

    @Test(
        "An answer without a list of sessions is an error, and not a server that has none",
        arguments: ["{}", "[]", "null", #"{"sessions":{"s1":1}}"#, #"{"error":"starting"}"#]
    )
    func oddSessions(_ body: String) async throws {
        try await withAICLI(.with { $0.answers["/api/sessions"] = (200, body) }) { peers in
            let found = try await clientError { try await peers.host.client.sessionIDs() }.code
            #expect(found == .badAnswer)
        }
        try await withAICLI(.with { $0.answers["/api/sessions"] = (200, #"{"sessions":[]}"#) }) { peers in
            let none = try await peers.host.client.sessionIDs()
            #expect(none.isEmpty)
        }
    }

    @Test("Addresses that are not local are not spoken to")
    func publicAddress() async throws {
        let endpoint = try #require(CompanionEndpoint("8.8.8.8:3001"))
        let error = try await clientError {
            try await AICLIClient.withClient(endpoint: endpoint, token: nil, deviceID: "x") { _ in }
        }
        #expect(error.code == .refusedAddress)
    }
}
