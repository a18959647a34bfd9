import CompanionHost
import CompanionWire
import FoundationEssentials
import NIOCore
import NIOWebSocket
import Testing

@Suite("The live feed", .timeLimit(.minutes(15)))
struct LiveTests {
    private static let path = "/companion/live"
    private static let upgrade = [
        ("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ]

    @Test("A device with a session hears hello, and then what happens")
    func events() async throws {
        try await withHostAndDevice { host, device in
            try await device.pair()
            let device = device
            try await LiveClient.with(host, token: device.token) { client in
                let hello = try await client.event()
                let health = try await device.get("/health").decoded(CompanionHealthResponse.self)
                #expect(hello.type == .hello && hello.hostId == health.hostId)

                let command = try await device.execute(
                    .chatCreate(projectID: try await device.firstProject(), title: "x")
                )
                let chat = try #require(try await client.event(.chatChanged).chatId)
                #expect(command.result["id"]?.string == chat)
                let sent = try await device.execute(
                    .chatSend(chatID: chat, prompt: "list", model: "builtin", allowedTools: nil)
                )
                let turn = try #require(sent.result["turnId"]?.string)
                let message = try await client.event(.messageCreated)
                #expect(message.chatId == chat && message.messageId != nil && message.projectId != nil)
                #expect(try await client.event(.turnStarted).turnId == turn)
                let finished = try await client.event(.turnFinished)
                #expect(finished.turnId == turn && finished.chatId == chat && finished.ok == true)

                _ = try await device.guessWrong()
                #expect(try await client.event(.pairingFailed).triesLeft == 2)
                try await host.withDevice { other in
                    try await other.pair()
                    #expect(try await client.event(.deviceConnected).deviceId == other.id)
                    _ = try await host.server.administration.revoke(other.id)
                    #expect(try await client.event(.deviceRevoked).deviceId == other.id)
                }
            }
        }
    }

    @Test("A new project and a device that goes are told, with their ids")
    func projectsAndGoodbyes() async throws {
        try await withHostAndDevice { host, device in
            try await device.pair()
            let device = device
            try await LiveClient.with(host, token: device.token) { client in
                _ = try await client.event(.hello)
                let made = try await device.command(.projectCreate(name: "fresh", localPath: nil))
                    .result(as: CompanionProject.self)
                #expect(try await client.event(.projectChanged).projectId == made.id)
                try await host.withDevice { other in
                    other.name = "Other"
                    try await other.pair()
                    #expect(try await client.event(.deviceConnected).deviceId == other.id)
                    let bye = try await other.send("POST", "/companion/disconnect", body: Array("{}".utf8))
                    #expect(bye.status == 200)
                    let gone = try await client.event(.deviceDisconnected)
                    #expect(gone.deviceId == other.id && gone.deviceName == "Other")
                    #expect(try await other.openSession().status == 200)
                    #expect(try await client.event(.deviceConnected).deviceId == other.id, "it is back")
                }
            }
        }
    }

    @Test("A device of v1 that goes is told to those of v2")
    func legacyGoodbye() async throws {
        try await withHost { host in
            try await host.withDevice { device in
                try await device.pair()
                let token = device.token
                try await LiveClient.with(host, token: token) { client in
                    _ = try await client.event(.hello)
                    let old = try #require(try await host.pair(name: "Old").connectedDevice)
                    #expect(try await client.event(.deviceConnected).deviceId == old.id)
                    #expect(try await host.post("/companion/disconnect", "{}").status == 200)
                    let gone = try await client.event(.deviceDisconnected)
                    #expect(gone.deviceId == old.id && gone.deviceName == "Old")
                }
            }
        }
    }

    @Test("Without a session, or without an upgrade, there is JSON instead of a WebSocket")
    func refused() async throws {
        try await withHostAndDevice { host, device in
            for headers in [Self.upgrade, Array(Self.upgrade.dropLast()), [("Upgrade", "h2c")], []] {
                let missing = try await device.send("GET", Self.path, headers: headers)
                #expect(missing.status == 401 && missing.code == .sessionRequired)
            }
            for token in [nil, "no such token"] {
                #expect(try await !LiveClient.isUpgraded(host, token: token))
            }
            try await device.pair()
            let token = device.token
            #expect(try await LiveClient.isUpgraded(host, token: token))
            let plain = try await device.get(Self.path)
            #expect(plain.status == 426 && plain.code == .requestInvalid)
            #expect(plain.header("upgrade") == "websocket")
            let first = try await device.send("GET", Self.path, version: "1")
            #expect(first.status == 426 && first.code == .versionUnsupported)
            let foreign = [("Origin", "https://example.org"), ("Host", "example.org"), (ProtocolVersion.header, "1")]
            for header in foreign {
                #expect(try await !LiveClient.isUpgraded(host, token: token, headers: [header]))
            }
            _ = try await host.server.administration.revoke(device.id)
            #expect(try await !LiveClient.isUpgraded(host, token: token))
        }
    }

    @Test("Plain HTTP has no live feed")
    func plainHTTP() async throws {
        try await withHost { host in
            try await host.pair()
            let reply = try await host.raw(
                "GET",
                Self.path,
                headers: ["Host: localhost"] + Self.upgrade.dropFirst().map { "\($0): \($1)" }
            )
            #expect(reply.status == 426)
            #expect(reply.header("connection")?.hasSuffix("close") == true)
        }
    }

    @Test("A revoked device's connection ends with a code that says so, though for the host's clock no time passes")
    func revoked() async throws {
        try await withHostAndDevice(clock: TestClock().hostClock) { host, device in
            try await device.pair()
            let id = device.id
            try await LiveClient.with(host, token: device.token) { client in
                _ = try await client.event(.hello)
                _ = try await host.server.administration.revoke(id)
                let close = try #require(await client.close())
                #expect(close.code == .policyViolation && close.reason == "device.revoked")
            }
        }
    }

    @Test("Pings are answered, and come by themselves; a client that does not answer two is gone")
    func pings() async throws {
        let clock = TestClock()
        try await withHostAndDevice(clock: clock.hostClock) { host, device in
            try await device.pair()
            try await LiveClient.with(host, token: device.token, answersPings: false) { client in
                _ = try await client.event(.hello)
                try await client.send(.ping, "abc")
                let pong = try #require(await client.frame())
                #expect(pong.opcode == .pong && String(buffer: pong.data) == "abc")
                // Silent from now on. How often the host looks is its own affair: time goes on until it is over.
                let pings = try await withThrowingTaskGroup(of: Int.self) { group in
                    group.addTask {
                        var pings = 0
                        while let frame = await client.frame() { pings += frame.opcode == .ping ? 1 : 0 }
                        return pings
                    }
                    group.addTask {
                        while !Task.isCancelled {
                            clock.advance(by: 5)
                            await Task.yield()
                        }
                        return 0
                    }
                    let pings = try await group.next() ?? 0
                    group.cancelAll()
                    return pings
                }
                #expect(pings == 1 || pings == 2)
            }
        }
    }

    @Test("What is no frame of a well-behaved client ends the connection with the code for it")
    func misbehaved() async throws {
        try await withHostAndDevice { host, device in
            try await device.pair()
            let cases: [(WebSocketErrorCode, @Sendable (LiveClient) async throws -> Void)] = [
                (.unacceptableData, { try await $0.send(.text, "hello") }),
                (.protocolError, { try await $0.send(.ping, "x", isMasked: false) }),
                (.messageTooLarge, { try await $0.send(.text, String(repeating: "x", count: 5000)) }),
                (.normalClosure, { try await $0.send(.connectionClose) }),
            ]
            for (code, misbehave) in cases {
                try await LiveClient.with(host, token: device.token) { client in
                    _ = try await client.event(.hello)
                    try await misbehave(client)
                    #expect(await client.close()?.code == code)
                }
            }
        }
    }

    @Test("The end of the host ends its connections with the code for it, though for its clock no time passes")
    func shutdown() async throws {
        try await withTemporaryDirectory { directory in
            try await withThrowingTaskGroup(of: Void.self) { group in
                try await withHostAndDevice(in: directory, clock: TestClock().hostClock) { host, device in
                    try await device.pair()
                    let token = device.token
                    let (connected, isConnected) = AsyncStream.makeStream(of: Void.self)
                    group.addTask {
                        defer { isConnected.finish() }
                        try await LiveClient.with(host, token: token) { client in
                            _ = try await client.event(.hello)
                            isConnected.finish()
                            #expect(await client.close()?.code == .goingAway)
                        }
                    }
                    for await _ in connected {}
                }
                try await group.waitForAll()
            }
        }
    }
}
