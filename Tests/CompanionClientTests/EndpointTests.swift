import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Testing

@Suite struct EndpointTests {
    @Test func `health names the service`() async throws {
        try await withPeers { _, client async throws in
            let health = try await client.requireCompanion()
            #expect(health.service == "copilotforge-sidecar")
            #expect(health.processStartedAtMs == 1_795_253_400_000)
        }
    }

    @Test func `status, devices, revoke and disconnect follow the connected device`() async throws {
        try await withPeers { mac, client async throws in
            let id = try #require(try await client.status().connectedDevice?.id)
            #expect(try await client.devices().map(\.id) == [id])
            #expect(try await client.revokeDevice(id: "unknown").connectedDevice?.id == id)
            #expect(try await client.disconnect().connected == false)
            #expect(try await client.disconnect().connected == false)
            #expect(try await client.devices().count == 1)
            #expect(try await client.revokeDevice(id: id).connected == false)
            #expect(try await client.devices().isEmpty)
            let post = try #require(mac.requests("POST", "/companion/disconnect").first)
            #expect(post.header("Content-Type") == "application/json")
            #expect(post.text == "{}")
        }
    }

    @Test(arguments: [(nil, 300.0), (Duration.seconds(1), 60), (.milliseconds(90_900), 90), (.seconds(5000), 900)])
    func `a challenge lives as long as was asked, within the bounds of the host`(_ ttl: Duration?, _ lives: Double)
        async throws
    {
        try await withPeers { _, client async throws in
            let before = Date()
            let challenge = try await client.startPairing(ttl: ttl)
            #expect(challenge.code == "482913")
            #expect(abs(challenge.expiresAt.timeIntervalSince(before) - lives) < 30)
            #expect(challenge.qrPayload.contains("copilotforge-pair-v1"))
        }
    }

    @Test func `completing a pairing connects the device that the key names`() async throws {
        try await withPeers(.with { $0.isPaired = false }) { mac, client async throws in
            let answer = try await client.completePairing(
                PairingCompleteRequest(
                    pairingCode: "482913",
                    pairingToken: nil,
                    deviceName: "desk",
                    devicePublicKey: " some key\n"
                )
            )
            #expect(answer.connected)
            #expect(answer.connectedDevice?.id == String(Digest.sha256("some key").prefix(16)))
            #expect(answer.connectedDevice?.name == "desk")
            let body = try #require(mac.requests("POST", "/companion/pairing/complete").first?.text)
            #expect(body.contains(#""pairingCode":"482913""#))
            #expect(!body.contains("pairingToken"))
        }
    }

    static let refusals: [(FakeMacScript, PairingCompleteRequest, String)] = {
        func request(_ code: String = "482913", token: String? = nil, key: String = "k") -> PairingCompleteRequest {
            PairingCompleteRequest(pairingCode: code, pairingToken: token, deviceName: "d", devicePublicKey: key)
        }
        return [
            (.with { $0.hasChallenge = false }, request(), "No active pairing session"),
            (.with { $0.challengeExpiresAt = .distantPast }, request(), "Pairing session expired"),
            (.with { $0.code = "111111" }, request(), "Invalid pairing code"),
            (FakeMacScript(), request(token: "wrong"), "Invalid pairing token"),
            (FakeMacScript(), request(key: " "), "Missing device public key"),
        ]
    }()

    @Test(arguments: refusals.indices)
    func `a refused pairing carries the host's reason`(_ index: Int) async throws {
        let (script, request, reason) = Self.refusals[index]
        try await withPeers(script) { mac, client async throws in
            let error = try await clientError { try await client.completePairing(request) }
            #expect(error.code == .badRequest)
            #expect(error.hostText == reason)
            #expect(error.httpStatus == 400)
            // A code is never sent twice by itself.
            #expect(mac.requests.count == 1)
        }
    }

    @Test func `projects, chats and models decode`() async throws {
        try await withPeers { _, client async throws in
            #expect(try await client.projects().map(\.id) == ["p-web", "p-web-2", "p-api", "default-project"])
            #expect(try await client.chats(projectID: "p-web").map(\.title) == ["Fix the login"])
            #expect(try await client.chats(projectID: "unknown").isEmpty)
            #expect(try await client.models().map(\.id) == ["gpt-test", "other"])
            #expect(try await client.authStatus().authenticated)
        }
    }

    @Test func `a list keeps its other items when one does not decode`() async throws {
        let body =
            #"{"ok":true,"extra":1,"projects":[{"id":7},{"id":"b","name":"B","lastUpdatedAt":"2026-11-21T09:30:00Z"}]}"#
        try await withPeers(.with { $0.faults = [FakeMacFault(.json(status: 200, body))] }) { _, client async throws in
            let projects = try await client.projects()
            #expect(projects.map(\.id) == ["b"])
            #expect(projects.first?.lastUpdatedAt == FakeMacScript.epoch)
        }
    }

    @Test func `control characters of a title arrive as they are`() async throws {
        let title = "\u{1b}]0;owned\u{7}\u{0}\u{202e}evil\r"
        let chat = CompanionChat(id: "c", projectId: "p-web", title: title, lastUpdatedAt: nil)
        try await withPeers(.with { $0.chats = [chat] }) { _, client async throws in
            #expect(try await client.chats(projectID: "p-web").first?.title == title)
        }
    }

    @Test(arguments: [
        ("a/b?c=d#e f", "a%2Fb%3Fc%3Dd%23e%20f"), ("..", "%2E%2E"), ("é%2F", "%C3%A9%252F"), ("\t", "%09"),
        ("plain-1._~", "plain-1._~"),
    ])
    func `an id of any characters stays one segment of the path`(_ id: String, _ segment: String) async throws {
        let chat = CompanionChat(id: "c", projectId: id, title: "found", lastUpdatedAt: nil)
        try await withPeers(.with { $0.chats = [chat] }) { mac, client async throws in
            #expect(try await client.chats(projectID: id).map(\.title) == ["found"])
            #expect(mac.requests.first?.target == "/companion/projects/\(segment)/chats")
        }
    }

    @Test func `an empty id is refused before anything is sent`() async throws {
        try await withPeers { mac, client async throws in
            let error = try await clientError { try await client.revokeDevice(id: "") }
            #expect(error.code == .badRequest)
            #expect(error.delivery == .notSent)
            #expect(mac.requests.isEmpty)
        }
    }

    @Test(arguments: [Duration.zero, .seconds(3600), .seconds(-7200)])
    func `the clock offset is that of the Date header`(_ skew: Duration) async throws {
        try await withPeers(.with { $0.clockSkew = skew }) { _, client async throws in
            #expect(client.clockOffset == nil)
            _ = try await client.health()
            let offset = try #require(client.clockOffset)
            #expect(offset > skew - .seconds(60) && offset < skew + .seconds(60))
        }
    }

    @Test func `the Host header names address and port`() async throws {
        try await withPeers { mac, client async throws in
            _ = try await client.health()
            #expect(mac.requests.first?.header("Host") == "127.0.0.1:\(mac.port)")
        }
    }

    @Test func `a device is listed whatever is wrong with it, as long as it has an id`() async throws {
        let devices = #"""
            {"ok":true,"devices":[{"id":"a","name":"Ada","pairedAt":"2026-11-21T09:30:00.000Z","lastSeenAt":"soon"},
            {"id":"b"},{"id":"c","name":7,"pairedAt":{},"lastSeenAt":null},{"name":"no id"}]}
            """#
        try await withPeers(.with { $0.faults = [FakeMacFault(.json(status: 200, devices))] }) {
            _,
            client async throws in
            let devices = try await client.devices()
            #expect(devices.map(\.id) == ["a", "b", "c"])
            #expect(devices.map(\.name) == ["Ada", "", ""])
            #expect(devices.map { $0.pairedAt != nil } == [true, false, false])
            #expect(devices.allSatisfy { $0.lastSeenAt == nil })
        }
    }
}
