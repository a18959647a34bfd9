import CompanionHost
import CompanionWire
import FoundationEssentials
import Identity
import Testing

@Suite("The lock of the digits", .timeLimit(.minutes(15)))
struct DigitLockTests {
    private func payload(_ challenge: PairingStartResponse) throws -> PairingPayload {
        try CompanionJSON.decoder().decode(PairingPayload.self, from: Data(challenge.qrPayload.utf8))
    }

    /// Enters wrong digits until they are locked.
    private func lock(_ host: TestHost, _ device: TestDevice) async throws {
        for _ in 0..<10 {
            _ = await host.server.administration.startPairing(ttlSeconds: nil, grant: nil)
            #expect(try await device.guessWrong().code == .pairingWrongCode)
        }
        #expect(await host.server.administration.pairingState.isLocked)
    }

    @Test("Ten wrong digits lock the digits: the QR code that the host shows, and each new one, still pairs")
    func token() async throws {
        try await withTemporaryDirectory { directory in
            try await withHostAndDevice(in: directory) { host, device in
                try await lock(host, device)
                // The challenge of the tenth wrong code is still the one.
                let status = await host.server.administration.pairingState
                #expect(status.expiresAt != nil && status.triesLeft == 2)
                let next = await host.server.administration.startPairing(ttlSeconds: nil, grant: nil)
                #expect(try await device.guessWrong(.code(next.code)).code == .pairingLocked)
                let hello = try await device.post(
                    "/companion/pairing/hello",
                    PairingHelloRequest(clientNonce: Base64URL.encode(SecureRandom.bytes(16)))
                ).decoded(PairingHelloResponse.self)
                #expect(hello.methods == [.token])
            }
            // Also after a restart, with the code that comes by itself.
            try await withHostAndDevice(in: directory) { host, device in
                let shown = try await host.challenge()
                #expect(try await device.guessWrong(.code(shown.code)).code == .pairingLocked)
                try await device.pair(.token(try #require(try payload(shown).token)))
                #expect(try await device.get("/companion/projects").status == 200)
                // Who has proven to know a code ends the row of failures.
                #expect(await host.server.administration.pairingState.failuresInARow == 0)
            }
        }
    }

    @Test("Wrong tokens count neither against the digits nor against the code that is shown")
    func wrongTokens() async throws {
        let clock = TestClock()
        try await withHostAndDevice(clock: clock.hostClock) { host, device in
            let shown = try await host.challenge()
            for number in 2...40 {
                device.address = "127.0.0.\(number)"
                let reply = try await device.guessWrong(.token("AAAAAAAAAAAAAAAAAAAAAA"))
                #expect(reply.code == .pairingWrongToken && reply.failure?.triesLeft == 2)
            }
            let status = await host.server.administration.pairingState
            #expect(!status.isLocked && status.failuresInARow == 0 && status.triesLeft == 3)
            func failures() async throws -> [AuditRow] {
                try await host.server.administration.audit.rows().filter { $0.kind == "pairing.failed" }
            }
            #expect(try await failures().count == 12, "addresses cost nothing, so rows have a limit of their own")
            clock.advance(by: 5)
            device.address = "127.0.0.41"
            _ = try await device.guessWrong(.token("AAAAAAAAAAAAAAAAAAAAAA"))
            let rows = try await failures()
            #expect(rows.count == 13 && rows.last?.detail["unreportedTokens"] == 27)
            try await device.pair(.code(shown.code))
        }
    }

    @Test("An address that sends wrong tokens has to wait, the others do not")
    func wrongTokensOfAnAddress() async throws {
        let clock = TestClock()
        try await withHostAndDevice(clock: clock.hostClock) { host, device in
            let token = try #require(try payload(try await host.challenge()).token)
            device.address = "127.0.0.2"
            for left in [2, 1, 0] {
                let reply = try await device.guessWrong(.token("AAAAAAAAAAAAAAAAAAAAAA"))
                #expect(reply.code == .pairingWrongToken && reply.failure?.triesLeft == left)
            }
            let late = try await device.guessWrong(.token(token))
            #expect(late.status == 429 && late.code == .pairingRateLimited)
            var other = device
            other.address = "127.0.0.3"
            #expect(try await other.exchange(.token(token)).hello.methods == [.code, .token])
            clock.advance(by: 30)
            try await device.pair(.token(token))
        }
    }

    @Test("By v1 locked digits take a request with the token only, and tell nothing about the digits of others")
    func legacy() async throws {
        try await withHost { host in
            try await host.withDevice { device in
                try await lock(host, device)
                let shown = await host.server.administration.startPairing(ttlSeconds: nil, grant: nil)
                let wrong = shown.code == "000000" ? "000001" : "000000"
                for code in [shown.code, wrong] {
                    let without = try await host.complete(code: code)
                    #expect(without.error == CompanionErrorResponse.Text.noActivePairing)
                }
                for code in [shown.code, wrong] {
                    let reply = try await host.complete(code: code, token: "AAAAAAAAAAAAAAAAAAAAAA")
                    #expect(reply.error == CompanionErrorResponse.Text.invalidToken)
                }
                let token = try #require(try payload(shown).token)
                #expect(try await host.complete(code: shown.code, token: token).status == 200)
            }
        }
    }

    @Test("After unlocking, digits are taken again, and they are new ones")
    func unlock() async throws {
        try await withHostAndDevice { host, device in
            try await lock(host, device)
            let old = await host.server.administration.startPairing(ttlSeconds: nil, grant: nil)
            try await host.server.administration.unlockPairing()
            _ = try await host.event { if case .pairingUnlocked = $0 { true } else { nil } }
            let shown = try await host.challenge()
            #expect(try payload(shown).token != payload(old).token)
            try await device.pair(.code(shown.code))
        }
    }
}

@Suite("Codes that wait", .timeLimit(.minutes(15)))
struct DelayedCodeTests {
    @Test("While the next code waits after burnt ones, the host says when it comes")
    func pause() async throws {
        let clock = TestClock()
        try await withHostAndDevice(clock: clock.hostClock) { host, device in
            let administration = host.server.administration
            for _ in 0..<2 {
                #expect(await administration.status().nextChallengeAt == nil)
                for _ in 0..<3 { _ = try await device.guessWrong() }
            }
            let status = await administration.status()
            #expect(status.challengeExpiresAt == nil)
            #expect(status.nextChallengeAt == clock.now.addingTimeInterval(5))
        }
    }
}

@Suite("Codes on demand", .timeLimit(.minutes(15)))
struct CodesOnDemandTests {
    private func isOpen(_ host: TestHost) async -> Bool {
        await host.server.administration.pairingState.expiresAt != nil
    }

    @Test("A host that nobody looks at has no code until one is asked for, and none behind it")
    func onDemand() async throws {
        let clock = TestClock()
        try await withHostAndDevice(clock: clock.hostClock) {
            $0.challenges = .onDemand
        } _: { host, device in
            let administration = host.server.administration
            #expect(await !isOpen(host))
            let refused = try await device.guessWrong()
            #expect(refused.code == .pairingNotActive && refused.error?.contains("pairtool host pair") == true)
            #expect(await !isOpen(host))

            let used = await administration.startPairing(ttlSeconds: nil, grant: nil)
            try await device.pair(.code(used.code))
            #expect(await !isOpen(host))
            #expect(try await device.guessWrong().code == .pairingNotActive)

            _ = await administration.startPairing(ttlSeconds: nil, grant: nil)
            for left in [2, 1, 0] { #expect(try await device.guessWrong().failure?.triesLeft == left) }
            #expect(await !isOpen(host))
            #expect(try await device.guessWrong().code == .pairingNotActive)

            _ = await administration.startPairing(ttlSeconds: 60, grant: nil)
            clock.advance(by: 61)
            #expect(try await device.guessWrong().code == .pairingNotActive)
            #expect(await !isOpen(host))

            let last = await administration.startPairing(ttlSeconds: nil, grant: nil)
            try await device.pair(.code(last.code))
        }
    }

    @Test("A host whose owner sees its screen has codes until a device is paired, and then on demand")
    func untilPaired() async throws {
        let clock = TestClock()
        try await withHostAndDevice(clock: clock.hostClock) {
            $0.challenges = .untilPaired
        } _: { host, device in
            let administration = host.server.administration
            _ = try await host.challenge()
            for _ in 0..<3 { _ = try await device.guessWrong() }
            #expect(await isOpen(host), "a burnt code is followed by the next one")
            try await device.pair()
            #expect(await !isOpen(host))
            let refused = try await device.guessWrong()
            #expect(refused.code == .pairingNotActive && refused.error?.contains("pairtool host pair") == true)

            let asked = await administration.startPairing(ttlSeconds: nil, grant: nil)
            try await device.pair(.code(asked.code))
            #expect(await !isOpen(host))
        }
    }
}
