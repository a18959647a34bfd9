import CompanionHost
import CompanionWire
import FoundationEssentials
import NIOConcurrencyHelpers
import Testing

@Suite("Pairing over the network", .timeLimit(.minutes(15)))
struct PairingRoutesTests {
    @Test("A host begins with a challenge that a device can pair with, by code and token")
    func firstChallenge() async throws {
        try await withHost { host in
            let challenge = try await host.challenge()
            let payload = try CompanionJSON.decoder()
                .decode(PairingPayload.self, from: Data(challenge.qrPayload.utf8))
            #expect(PairingPayload.isCode(challenge.code))
            #expect(payload.code == challenge.code)
            #expect(payload.text == challenge.qrPayload)
            // Version 11 at level L holds 321 bytes.
            #expect(challenge.qrPayload.utf8.count <= 321)
            #expect(payload.version == 2)
            #expect(payload.port == host.tlsPort)
            #expect(payload.addr == "127.0.0.1")
            let reply = try await host.complete(code: challenge.code, token: payload.token, key: " key \n", name: "  ")
            let status = try reply.decoded(CompanionStatusResponse.self)
            #expect(reply.status == 200)
            #expect(status.connected)
            // printf key | sha256sum
            #expect(status.connectedDevice?.id == "2c70e12b7a0646f9")
            #expect(status.connectedDevice?.name == "iPhone")
        }
    }

    @Test("Each code names the addresses that the machine has when the code is made")
    func addresses() async throws {
        let addresses = NIOLockedValueBox<[String]>([])
        try await withHost(configure: { $0.addresses = { addresses.withLockedValue(\.self) } }) { host in
            var named: [[String]] = []
            for current in [[], ["10.0.0.7"], ["192.168.1.5", "10.0.0.7"]] {
                addresses.withLockedValue { $0 = current }
                let start = await host.server.administration.startPairing(ttlSeconds: nil, grant: nil)
                let payload = try CompanionJSON.decoder().decode(PairingPayload.self, from: Data(start.qrPayload.utf8))
                named.append([payload.addr].compactMap(\.self) + payload.otherAddrs)
            }
            #expect(named == [[], ["10.0.0.7"], ["192.168.1.5", "10.0.0.7"]])
        }
    }

    @Test(
        "A start's lifetime is clamped, whatever the field holds",
        arguments: [
            ("{}", 300), (#"{"ttlSeconds":null}"#, 300), (#"{"ttlSeconds":"x"}"#, 300), (#"{"ttlSeconds":10}"#, 60),
            (#"{"ttlSeconds":90.9}"#, 90), (#"{"ttlSeconds":99999}"#, 900), ("[]", 300), ("", 300),
        ]
    )
    func startClamps(body: String, seconds: Double) async throws {
        let clock = TestClock()
        try await withHost(clock: clock.hostClock) { host in
            let start = try await host.post("/companion/pairing/start", body).decoded(PairingStartResponse.self)
            #expect(abs(start.expiresAt.timeIntervalSince(clock.now) - seconds) < 0.002)
        }
    }

    @Test("A body without a JSON content type counts as {}")
    func contentType() async throws {
        let clock = TestClock()
        try await withHost(clock: clock.hostClock) { host in
            let reply = try await host.send(
                "POST",
                "/companion/pairing/start",
                body: #"{"ttlSeconds":60}"#,
                type: "application/octet-stream"
            )
            let start = try reply.decoded(PairingStartResponse.self)
            #expect(abs(start.expiresAt.timeIntervalSince(clock.now) - 300) < 0.002)
        }
    }

    @Test("Errors of complete have the texts and the order of deployed hosts")
    func completeErrors() async throws {
        try await withHost { host in
            let start = try await host.post("/companion/pairing/start", "{}").decoded(PairingStartResponse.self)
            let wrong = start.code == "000000" ? "000001" : "000000"
            let code = try await host.complete(code: wrong, key: "")
            #expect(code.status == 400 && code.error == "Invalid pairing code")
            let token = try await host.complete(code: start.code, token: "x", key: "")
            #expect(token.status == 400 && token.error == "Invalid pairing token")
            let key = try await host.complete(code: start.code, key: " ")
            #expect(key.status == 400 && key.error == "Missing device public key")
            #expect(try await host.complete(code: start.code).status == 200)
            let again = try await host.complete(code: start.code)
            #expect(again.status == 400 && again.error == "No active pairing session")
        }
    }

    @Test("Three wrong tries burn a challenge, tell so, and a new one follows")
    func burnt() async throws {
        try await withHost { host in
            let first = try await host.challenge()
            let wrong = first.code == "000000" ? "000001" : "000000"
            for _ in 0..<3 { #expect(try await host.complete(code: wrong).error == "Invalid pairing code") }
            #expect(try await host.complete(code: first.code).error == "No active pairing session")
            let ended = try await host.event { if case .challengeEnded(let reason) = $0 { reason } else { nil } }
            #expect(ended == .burnt)
            let second = try await host.challenge()
            #expect(try await host.complete(code: second.code).status == 200)
        }
    }

    @Test("New challenges are held back from someone who burns one after the other")
    func heldBack() async throws {
        let clock = TestClock()
        try await withHost(clock: clock.hostClock) { host in
            for _ in 0..<2 {
                let code = try await host.challenge().code
                let wrong = code == "000000" ? "000001" : "000000"
                for _ in 0..<3 { _ = try await host.complete(code: wrong) }
            }
            #expect(try await host.complete(code: "abc").error == "No active pairing session")
            clock.advance(by: 5)
            let next = try await host.challenge()
            #expect(try await host.complete(code: next.code).status == 200)
        }
    }

    @Test("An expired challenge is renewed, and its code is called expired")
    func expiry() async throws {
        let clock = TestClock()
        try await withHost(clock: clock.hostClock) { host in
            let first = try await host.challenge()
            clock.advance(by: 301)
            let second = try await host.challenge()
            #expect(second.expiresAt > first.expiresAt)
            let late = try await host.complete(code: first.code)
            #expect(late.status == 400 && late.error == "Pairing session expired")
            #expect(try await host.complete(code: second.code).status == 200)
        }
    }

    @Test("A second device supersedes the first, which stays listed; both can be revoked")
    func supersede() async throws {
        try await withHost { host in
            let first = try await host.pair(key: "one", name: "One")
            let second = try await host.pair(key: "two", name: "Two")
            #expect(second.connectedDevice?.name == "Two")
            let devices = try await host.get("/companion/devices").decoded(DevicesListResponse.self).devices.elements
            #expect(Set(devices.map(\.name)) == ["One", "Two"])
            let firstID = try #require(first.connectedDevice?.id)
            let secondID = try #require(second.connectedDevice?.id)
            let kept = try await host.send("DELETE", "/companion/devices/\(firstID)")
            #expect(try kept.decoded(CompanionStatusResponse.self).connectedDevice?.id == secondID)
            let gone = try await host.send("DELETE", "/companion/devices/\(secondID)")
            #expect(gone.status == 200)
            #expect(gone.body.contains(#""connectedDevice":null"#))
            #expect(try await host.get("/companion/devices").decoded(DevicesListResponse.self).devices.elements.isEmpty)
        }
    }

    @Test("Disconnecting twice and revoking an unknown device are no errors; a blank id is one")
    func idempotent() async throws {
        try await withHost { host in
            try await host.pair()
            for _ in 0..<2 {
                let reply = try await host.post("/companion/disconnect", "{}")
                #expect(reply.status == 200)
                #expect(try reply.decoded(CompanionStatusResponse.self).connected == false)
            }
            #expect(try await host.send("DELETE", "/companion/devices/unknown").status == 200)
            let blank = try await host.send("DELETE", "/companion/devices/%20")
            #expect(blank.status == 400 && blank.error == "Missing device id")
        }
    }
}
