import CompanionHost
import CompanionWire
import FoundationEssentials
import Identity
import Testing

@Suite("Pairing by v2", .timeLimit(.minutes(15)))
struct PairingV2Tests {
    @Test("A device pairs with the six digits alone, and the host proves itself")
    func code() async throws {
        try await withHostAndDevice { host, device in
            let challenge = try await host.challenge()
            let answer = try await device.pair(.code(challenge.code))
            #expect(answer.connectedDevice.id == device.id)
            #expect(answer.permissions == CompanionPermission.all)
            let status = try await device.get("/companion/status").decoded(CompanionStatusResponse.self)
            #expect(status.device?.id == device.id)
            #expect(status.permissions == CompanionPermission.all)
            #expect(status.expiresAt == nil)
        }
    }

    @Test("A device pairs with the token of the QR code, which names the host, its pin and its port")
    func token() async throws {
        try await withHostAndDevice { host, device in
            let text = try await host.challenge().qrPayload
            let payload = try CompanionJSON.decoder().decode(PairingPayload.self, from: Data(text.utf8))
            #expect(payload.spki == Base64URL.encode(try host.spki()))
            let token = try #require(payload.token)
            #expect((Base64URL.decode(token)?.count ?? 0) >= 16)
            try await device.pair(.token(token))
            let health = try await device.get("/health").decoded(CompanionHealthResponse.self)
            #expect(health.hostId == payload.host)
            #expect(health.tlsPort == payload.port)
            #expect(health.protocolVersions == [1, 2])
        }
    }

    @Test("A wrong code is told with the tries left; the third burns the challenge, its right code included")
    func budgetOfChallenge() async throws {
        try await withHostAndDevice { host, device in
            let challenge = try await host.challenge()
            for triesLeft in [2, 1, 0] {
                let reply = try await device.guessWrong()
                #expect(reply.code == .pairingWrongCode)
                #expect(reply.failure?.triesLeft == triesLeft)
                #expect(!reply.body.contains("\"tag\""))
            }
            let late = try await device.guessWrong(.code(challenge.code))
            #expect(late.code == .pairingWrongCode, "the code belongs to a challenge that is gone")
            try await device.pair(.code(try await host.challenge().code))
        }
    }

    @Test("A challenge is used once")
    func singleUse() async throws {
        try await withHostAndDevice { host, device in
            let code = try await host.challenge().code
            try await device.pair(.code(code))
            #expect(try await device.guessWrong(.code(code)).code == .pairingWrongCode)
        }
    }

    @Test("An exchange is judged once, and not for another challenge")
    func exchangeOnce() async throws {
        try await withHostAndDevice { host, device in
            let code = try await host.challenge().code
            let exchange = try await device.exchange(.code(code))
            _ = await host.server.administration.startPairing(ttlSeconds: nil, grant: nil)
            #expect(try await device.confirm(exchange).code == .pairingNotActive)
            #expect(try await device.confirm(exchange).code == .pairingNotActive)
        }
    }

    @Test("Who sees another certificate than the host's ends with another key", arguments: [false, true])
    func otherCertificate(hasToken: Bool) async throws {
        try await withHostAndDevice { host, device in
            let text = try await host.challenge().qrPayload
            let payload = try CompanionJSON.decoder().decode(PairingPayload.self, from: Data(text.utf8))
            let secret: PairingSecret = hasToken ? .token(try #require(payload.token)) : .code(payload.code)
            let exchange = try await device.exchange(secret, spki: SecureRandom.bytes(32))
            let reply = try await device.confirm(exchange)
            #expect(reply.code == (hasToken ? .pairingWrongToken : .pairingWrongCode))
            #expect(reply.failure?.triesLeft == 2)
            let shown = try await host.event { event -> Int? in
                if case .wrongCode(_, let triesLeft) = event { triesLeft } else { nil }
            }
            #expect(shown == 2, "the host says it, too")
            #expect(host.server.administration.devices().isEmpty)
            // It was the certificate alone: with the host's own one the same secret is right.
            try await device.pair(secret)
        }
    }

    @Test("Guesses made at the same time are no more than the budget")
    func concurrentGuesses() async throws {
        try await withHostAndDevice { host, device in
            let challenge = try await host.challenge()
            var open: [TestDevice.Exchange] = []
            var refused = 0
            for _ in 0..<6 {
                do {
                    open.append(try await device.exchange(.code("no code")))
                } catch let refusal as Refusal {
                    #expect(refusal.reply.code == .pairingRateLimited)
                    refused += 1
                }
            }
            #expect(open.count == 3 && refused == 3)
            let codes = try await withThrowingTaskGroup(of: CompanionErrorCode?.self) { [open, device] group in
                for exchange in open { group.addTask { try await device.confirm(exchange).code } }
                return try await group.reduce(into: [CompanionErrorCode?]()) { $0.append($1) }
            }
            #expect(codes == [.pairingWrongCode, .pairingWrongCode, .pairingWrongCode])
            #expect(try await device.guessWrong(.code(challenge.code)).code == .pairingWrongCode)
        }
    }

    @Test("Who begins pairings and does not finish them does not keep others from pairing")
    func unfinished() async throws {
        let clock = TestClock()
        try await withHostAndDevice(clock: clock.hostClock) { host, device in
            let challenge = try await host.challenge()
            var held: [TestDevice.Exchange] = []
            for _ in 0..<3 { held.append(try await device.exchange(.code("no code"))) }
            #expect(try await device.guessWrong().code == .pairingRateLimited)
            clock.advance(by: 4)
            try await device.pair(.code(challenge.code))
            // Whatever gave way, or belongs to a challenge that is over, is judged no more.
            for exchange in held { #expect(try await device.confirm(exchange).code == .pairingNotActive) }
        }
    }

    @Test("A challenge has all of its guesses, whatever is left over from the one before")
    func replacedGuesses() async throws {
        try await withHostAndDevice { host, device in
            for _ in 0..<3 { _ = try await device.exchange(.code("no code")) }
            let start = await host.server.administration.startPairing(ttlSeconds: nil, grant: nil)
            try await device.pair(.code(start.code))
        }
    }

    @Test("By v1 nobody takes the place of a device that has proven its key, or its access")
    func provenKeysAreKept() async throws {
        try await withHost { host in
            try await host.withDevice { device in
                try await device.pair(grant: PairingGrant(permissions: [.chatSend]))
                let code = await host.server.administration.startPairing(ttlSeconds: nil, grant: .readOnly).code
                let reply = try await host.complete(code: code, key: device.identity.publicKeyText)
                #expect(
                    reply.status == 403
                        && reply.error
                            == "The key belongs to a device that was paired with proof: pair by protocol 2, or revoke that device at the host"
                )
                #expect(try await host.get("/companion/projects").status == 403, "nobody is connected by v1")
                try await host.pair()
                let revocation = try await host.send("DELETE", "/companion/devices/\(device.id)")
                #expect(revocation.status == 403)
                let status = try await device.get("/companion/status").decoded(CompanionStatusResponse.self)
                #expect(status.permissions == [.chatSend])
            }
        }
    }

    @Test("A device of v1 makes no chats without the permission")
    func legacyPermissions() async throws {
        try await withHost { host in
            let code = await host.server.administration.startPairing(
                ttlSeconds: nil,
                grant: PairingGrant(permissions: [.chatSend])
            ).code
            let paired = try await host.complete(code: code)
            #expect(paired.status == 200)
            #expect(try await host.ask("list").status == 403)
        }
    }

    @Test("Sixteen exchanges are in flight at most")
    func inFlight() async throws {
        try await withHostAndDevice { _, device in
            let hello = { PairingHelloRequest(clientNonce: Base64URL.encode(SecureRandom.bytes(16))) }
            for _ in 0..<16 { #expect(try await device.post("/companion/pairing/hello", hello()).status == 200) }
            let reply = try await device.post("/companion/pairing/hello", hello())
            #expect(reply.status == 429 && reply.code == .pairingRateLimited)
        }
    }

    @Test("One address asks for so many exchanges and no more; time gives it new ones")
    func rateLimit() async throws {
        let clock = TestClock()
        try await withHostAndDevice(clock: clock.hostClock) { _, device in
            let hello = { PairingHelloRequest(clientNonce: Base64URL.encode(SecureRandom.bytes(16))) }
            var answers: [Int] = []
            // With ten seconds between three, places get free, but tokens come back more slowly than they go.
            for _ in 0..<60 {
                clock.advance(by: 3)
                answers.append(try await device.post("/companion/pairing/hello", hello()).status)
            }
            #expect(answers.prefix(16).allSatisfy { $0 == 200 })
            #expect(answers.suffix(20).contains(429))
            clock.advance(by: 60)
            #expect(try await device.post("/companion/pairing/hello", hello()).status == 200)
        }
    }

    @Test("Ten failures in a row lock the digits, over challenges and restarts; the right code fails then")
    func lock() async throws {
        try await withTemporaryDirectory { directory in
            let clock = TestClock()
            for _ in 0..<3 {
                try await withHostAndDevice(in: directory, clock: clock.hostClock) { host, device in
                    _ = try await host.challenge()
                    for _ in 0..<3 { #expect(try await device.guessWrong().code == .pairingWrongCode) }
                    clock.advance(by: 300)
                }
            }
            try await withHostAndDevice(in: directory, clock: clock.hostClock) { host, device in
                let code = try await host.challenge().code
                let last = try await device.exchange(.code("no code"))
                // The tenth guess is taken already.
                #expect(try await device.guessWrong(.code(code)).code == .pairingRateLimited)
                #expect(try await device.confirm(last).code == .pairingWrongCode)
                #expect(try await device.guessWrong(.code(code)).code == .pairingLocked)
            }
            try await withHostAndDevice(in: directory, clock: clock.hostClock) { host, device in
                #expect(await host.server.administration.pairingState.isLocked)
                #expect(try await device.guessWrong().code == .pairingLocked)
                try await host.server.administration.unlockPairing()
                _ = try await host.event { if case .pairingUnlocked = $0 { true } else { nil } }
                try await device.pair(.code(try await host.challenge().code))
                let verdict = try await host.server.administration.audit.verify()
                #expect(verdict.isIntact && verdict.rows == 13)
            }
        }
    }

    @Test("Three wrong codes burn a challenge, from wherever each of them comes")
    func burntFromManyAddresses() async throws {
        try await withHostAndDevice { host, device in
            let code = try await host.challenge().code
            for (address, left) in [("127.0.0.2", 2), ("127.0.0.3", 1), ("127.0.0.4", 0)] {
                device.address = address
                #expect(try await device.guessWrong().failure?.triesLeft == left, "\(address)")
                let seen = try await host.event { if case .wrongCode(let from, _) = $0 { from } else { nil } }
                #expect(seen == address)
            }
            device.address = "127.0.0.5"
            #expect(try await device.guessWrong(.code(code)).code == .pairingWrongCode)
        }
        try await withHost { host in
            let code = try await host.challenge().code
            for address in ["127.0.0.2", "127.0.0.3", "127.0.0.4"] {
                let reply = try await host.complete(wrong: code, from: address)
                #expect(reply.error == CompanionErrorResponse.Text.invalidCode)
            }
            let late = try await host.complete(right: code, from: "127.0.0.5")
            #expect(late.error == CompanionErrorResponse.Text.noActivePairing)
        }
    }

    @Test("Ten wrong codes lock the digits, from wherever each of them comes", arguments: [1, 2])
    func lockedFromManyAddresses(version: Int) async throws {
        let clock = TestClock()
        try await withHost(clock: clock.hostClock) { host in
            try await host.withDevice { device in
                for number in 2...11 {
                    let challenge = await host.server.administration.startPairing(ttlSeconds: nil, grant: nil)
                    if version == 1 {
                        let reply = try await host.complete(wrong: challenge.code, from: "127.0.0.\(number)")
                        #expect(reply.error == CompanionErrorResponse.Text.invalidCode)
                    } else {
                        device.address = "127.0.0.\(number)"
                        #expect(try await device.guessWrong().code == .pairingWrongCode)
                    }
                    let isLocked = await host.server.administration.pairingState.isLocked
                    #expect(isLocked == (number == 11), "\(number)")
                }
                device.address = "127.0.0.12"
                #expect(try await device.guessWrong().code == .pairingLocked)
            }
        }
    }

    @Test("A success forgets the failures before it")
    func successResets() async throws {
        try await withHostAndDevice { host, device in
            for _ in 0..<2 { _ = try await device.guessWrong() }
            try await device.pair()
            #expect(await host.server.administration.pairingState.failuresInARow == 0)
        }
    }

    @Test("v1 and v2 share a challenge and its tries")
    func sharedBudget() async throws {
        try await withHost { host in
            let code = try await host.challenge().code
            let wrong = code == "000000" ? "000001" : "000000"
            try await host.withDevice { device in
                let first = try await device.guessWrong()
                let second = try await host.complete(code: wrong)
                let third = try await device.guessWrong()
                let late = try await host.complete(code: code)
                #expect(first.failure?.triesLeft == 2)
                #expect(second.error == "Invalid pairing code")
                #expect(third.failure?.triesLeft == 0)
                #expect(late.error == "No active pairing session")
            }
        }
    }

    @Test("Shares that are no points of the group are refused and cost no try", arguments: [0, 1, 31, 32, 33])
    func badShares(size: Int) async throws {
        try await withHostAndDevice { host, device in
            let code = try await host.challenge().code
            let hello = try await device.post(
                "/companion/pairing/hello",
                PairingHelloRequest(clientNonce: Base64URL.encode(SecureRandom.bytes(16)))
            ).decoded(PairingHelloResponse.self)
            let request = PairingShareRequest(
                pairingId: hello.pairingId,
                method: .code,
                share: Base64.encode([UInt8](repeating: 0, count: size)),
                deviceName: "x",
                devicePublicKey: device.identity.publicKeyText,
                permissions: []
            )
            #expect(try await device.post("/companion/pairing/share", request).code == .pairingBadShare)
            #expect(try await device.post("/companion/pairing/share", request).code == .pairingNotActive)
            try await device.pair(.code(code))
        }
    }

    @Test("An expired challenge is called so")
    func expired() async throws {
        let clock = TestClock()
        try await withHostAndDevice(clock: clock.hostClock) { host, device in
            let exchange = try await device.exchange(.code(try await host.challenge().code))
            clock.advance(by: 301)
            #expect(try await device.confirm(exchange).code == .pairingExpired)
        }
    }

    @Test("A pairing cannot be started over the network")
    func startIsLocal() async throws {
        try await withHostAndDevice { _, device in
            let reply = try await device.send("POST", "/companion/pairing/start", body: Array("{}".utf8))
            #expect(reply.status == 403 && reply.code == .requestForbidden)
        }
    }

    @Test("A challenge gives what its starter allows: less permissions, and a time", arguments: [true, false])
    func grants(isReadOnly: Bool) async throws {
        let clock = TestClock()
        try await withHostAndDevice(clock: clock.hostClock) { _, device in
            let grant = PairingGrant(permissions: isReadOnly ? [] : [.chatSend], lifetime: .seconds(3600))
            let answer = try await device.pair(permissions: [.chatSend, .projectCreate], grant: grant)
            #expect(answer.permissions == (isReadOnly ? [] : [.chatSend]))
            let status = try await device.get("/companion/status").decoded(CompanionStatusResponse.self)
            #expect(status.permissions == answer.permissions)
            #expect(abs(try #require(status.expiresAt).timeIntervalSince(clock.now) - 3600) < 0.002)
            #expect(try await device.get("/companion/projects").status == 200)
            clock.advance(by: 3601)
            #expect(try await device.get("/companion/projects").code == .deviceExpired)
            #expect(try await device.openSession(now: clock.now).code == .deviceExpired)
        }
    }
}

extension TestHost {
    /// Pairs by v1 from an address.
    fileprivate func complete(right code: String, from address: String) async throws -> Reply {
        let body = PairingCompleteRequest(pairingCode: code, pairingToken: nil, deviceName: "x", devicePublicKey: "x")
        return try await raw("POST", "/companion/pairing/complete", body: try json(body), from: address)
    }

    fileprivate func complete(wrong code: String, from address: String) async throws -> Reply {
        try await complete(right: code == "000000" ? "000001" : "000000", from: address)
    }
}
