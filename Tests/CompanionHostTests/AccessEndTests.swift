import AsyncHTTPClient
import CompanionClient
import CompanionHost
import CompanionWire
import FoundationEssentials
import Identity
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOSSL
import NIOWebSocket
import Testing

@Suite("The end of an access", .timeLimit(.minutes(15)))
struct AccessEndTests {
    enum End: String, CaseIterable, Sendable {
        case disconnect, newPairing, sessionOver, revocation, deviceExpired

        /// Whether the device may have turns afterwards.
        var isTurnKept: Bool { self != .revocation && self != .deviceExpired }
    }

    /// Says `first`, and then nothing.
    private static let silent = HostAgentKind.command(["/bin/sh", "-c", "echo first; while :; do sleep 60; done"])

    private func bring(
        _ end: End,
        to device: inout TestDevice,
        at host: TestHost,
        clock: TestClock
    ) async throws {
        switch end {
        case .disconnect: _ = try await device.send("POST", "/companion/disconnect")
        case .newPairing: try await device.pair()
        case .sessionOver: clock.advance(by: 86_401)
        case .revocation: _ = try await host.server.administration.revoke(device.id)
        case .deviceExpired: clock.advance(by: 3601)
        }
    }

    private func grant(_ end: End) -> PairingGrant? {
        end == .deviceExpired ? PairingGrant(lifetime: .seconds(3600)) : nil
    }

    /// Sends a prompt by `continue`.
    private func continued(_ device: TestDevice, chat: String) async throws -> HTTPClientResponse.Body {
        var request = HTTPClientRequest(
            url: "https://127.0.0.1:\(device.host.tlsPort)/companion/chats/\(chat)/continue"
        )
        request.method = .POST
        request.headers.add(name: ProtocolVersion.header, value: "2")
        request.headers.add(name: "Authorization", value: "Bearer \(device.token ?? "")")
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(ByteBuffer(string: #"{"prompt":"go","model":"command"}"#))
        let response = try await device.http.execute(request, timeout: .seconds(30))
        guard response.status == .ok else { throw TestFailure("\(response.status)") }
        return response.body
    }

    @Test(
        "A prompt's own stream ends with the access that it was asked for with, and the turn only with the device's",
        arguments: End.allCases
    )
    func continueStream(end: End) async throws {
        let clock = TestClock()
        try await withHostAndDevice(clock: clock.hostClock) {
            $0.agent = Self.silent
        } _: { host, device in
            try await host.withDevice { reader in
                try await device.pair(grant: grant(end))
                try await reader.pair()
                let id = try await device.firstProject()
                let made = try await device.execute(.chatCreate(projectID: id, title: nil))
                let chat = try #require(made.result["id"]?.string)
                var body = try await continued(device, chat: chat).makeAsyncIterator()
                var text = ""
                while !text.contains("first"), let bytes = try await body.next() { text += String(buffer: bytes) }
                let turn = try await host.event { if case .turnStarted(let turn) = $0 { turn.turnID } else { nil } }
                try await bring(end, to: &device, at: host, clock: clock)
                do {
                    while let bytes = try await body.next() { text += String(buffer: bytes) }
                } catch {}
                #expect(!text.contains("[DONE]"))
                if end.isTurnKept {
                    let left = try await device.execute(.chatCancel(chatID: chat, turnID: turn)).result
                    #expect(left["state"]?.string == "cancelled")
                } else {
                    let reply = try await reader.events(chat: chat, turn: turn)
                    #expect(reply.body.contains(TurnRunner.deviceGoneText))
                }
            }
        }
    }

    @Test("A stream that its client does not read is cut too", arguments: [true, false])
    func stalled(isContinued: Bool) async throws {
        try await withTemporaryDirectory { directory in
            try await withHostAndDevice(in: directory) {
                // More than all buffers between host and client take.
                $0.agent = .command(["/bin/sh", "-c", "head -c 7000000 /dev/zero | tr '\\0' x; echo; echo last"])
            } _: { host, device in
                try await device.pair()
                let chat: String
                let body: HTTPClientResponse.Body
                if isContinued {
                    let id = try await device.firstProject()
                    let made = try await device.execute(.chatCreate(projectID: id, title: nil))
                    chat = try #require(made.result["id"]?.string)
                    body = try await continued(device, chat: chat)
                } else {
                    let started = try await device.startTurn()
                    chat = started.chat
                    body = try await device.open("/companion/chats/\(chat)/turns/\(started.turn)/events")
                }
                // All is there to be sent, and the client takes none of it.
                let ok = try await host.event(\.turnEnd) == .finished
                #expect(ok)
                _ = try await host.server.administration.revoke(device.id)
                var text = ""
                do {
                    for try await bytes in body { text += String(buffer: bytes) }
                } catch {}
                #expect(!text.contains("last") && !text.contains("[DONE]"))
            }
        }
    }

    @Test("When a device's time is over its turns end, those that run and those that wait")
    func turnsOfExpired() async throws {
        let clock = TestClock()
        try await withHostAndDevice(clock: clock.hostClock) {
            $0.agent = Self.silent
        } _: { host, device in
            try await host.withDevice { reader in
                // The first time is shorter, and its end is none for what follows.
                try await device.pair(grant: PairingGrant(lifetime: .seconds(60)))
                try await reader.pair()
                let (chat, running) = try await device.startTurn()
                try await device.pair(grant: PairingGrant(lifetime: .seconds(3600)))
                let sent = try await device.execute(
                    .chatSend(chatID: chat, prompt: "later", model: "command", allowedTools: nil)
                )
                let waiting = try #require(sent.result["turnId"]?.string)
                _ = try await host.event { if case .turnStarted = $0 { true } else { nil } }
                clock.advance(by: 61)
                let early = try await reader.open("/companion/chats/\(chat)/turns/\(running)/events")
                var body = early.makeAsyncIterator()
                var text = ""
                while !text.contains("first"), let bytes = try await body.next() { text += String(buffer: bytes) }
                clock.advance(by: 3600)
                while let bytes = try await body.next() { text += String(buffer: bytes) }
                #expect(text.contains(TurnRunner.deviceGoneText) && text.hasSuffix("data: [DONE]\n\n"))
                let other = try await reader.events(chat: chat, turn: waiting)
                #expect(other.body.contains(TurnRunner.deviceGoneText))
                let ok = try await host.event(\.turnEnd) == .finished
                #expect(!ok)
            }
        }
    }

    @Test(
        "A live connection ends with its session or its device's time, with a code that says which",
        arguments: [(End.sessionOver, "session.expired"), (.deviceExpired, "device.expired")]
    )
    func live(end: End, reason: String) async throws {
        let clock = TestClock()
        try await withHostAndDevice(clock: clock.hostClock) { host, device in
            try await device.pair(grant: grant(end))
            let token = device.token
            try await LiveClient.with(host, token: token) { client in
                _ = try await client.event(.hello)
                clock.advance(by: end == .sessionOver ? 86_401 : 3601)
                let close = try #require(await client.close())
                #expect(close.code == .policyViolation && close.reason == reason)
            }
        }
    }

    @Test("A client that follows a turn beyond its session has all of it once, with a session of its own asking")
    func followsOn() async throws {
        try await withTemporaryDirectory { directory in
            let gate = directory + "/gate"
            try makePipe(gate)
            let clock = TestClock()
            try await withHostAndDevice(in: directory, clock: clock.hostClock) {
                $0.agent = .command(["/bin/sh", "-c", "echo first; cat '\(gate)'"])
            } _: { host, device in
                try await device.pair()
                let (chat, turn) = try await device.startTurn()
                let address = try #require(IPAddress("127.0.0.1"))
                let credentials = Credentials(device, clock: clock)
                let answer = try await CompanionAPIClient.withClient(
                    endpoint: CompanionEndpoint(address: address, port: host.tlsPort),
                    security: .pinned(PinnedCertificate(der: try host.certificate.toDERBytes())),
                    credentials: credentials
                ) { client in
                    var answer = ""
                    for try await output in try FollowedTurn(client: client, chatID: chat, turnID: turn) {
                        switch output {
                        case .text(let text):
                            answer += text
                            if text.contains("first") { clock.advance(by: 86_401) }
                        case .recovering: try await blocking { try write("second\n", to: gate) }
                        default: break
                        }
                    }
                    return answer
                }
                #expect(answer == "first\nsecond\n")
                #expect(credentials.kept.withLockedValue { $0 } == 1)
            }
        }
    }
}

/// What a device signs with, by the host's clock.
struct Credentials: DeviceCredentials {
    let hostID: String
    let keys: SecureKeyStore
    let token: NIOLockedValueBox<String?>
    let clock: TestClock
    /// How many sessions were opened.
    let kept = NIOLockedValueBox(0)

    init(_ device: TestDevice, clock: TestClock) {
        hostID = device.host.server.identity.id
        keys = device.keys
        token = NIOLockedValueBox(device.token)
        self.clock = clock
    }

    func sessionToken() -> String? { token.withLockedValue { $0 } }

    func keep(_ grant: SessionGrant) {
        token.withLockedValue { $0 = grant.token }
        kept.withLockedValue { $0 += 1 }
    }

    func sessionRequest(now: Date) throws -> [UInt8] {
        try SessionRequest.make(audience: hostID, key: keys, now: clock.now).body
    }

    func signedCommand(_ payload: CommandPayload, id: UUID, now: Date) throws -> [UInt8] {
        throw TestFailure("no command was expected")
    }
}
