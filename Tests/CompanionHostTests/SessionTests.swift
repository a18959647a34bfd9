import CompanionHost
import CompanionWire
import FoundationEssentials
import Identity
import Testing

@Suite("Sessions and revocation", .timeLimit(.minutes(15)))
struct SessionTests {
    @Test("A session lasts a day, and a signature gives a new one, also after a restart")
    func renewal() async throws {
        try await withTemporaryDirectory { directory in
            let clock = TestClock()
            try await withHostAndDevice(in: directory, clock: clock.hostClock) { host, device in
                #expect(try await device.get("/companion/projects").code == .sessionRequired)
                let answer = try await device.pair()
                #expect(abs(answer.session.expiresAt.timeIntervalSince(clock.now) - 86_400) < 0.002)
                #expect(try await device.get("/companion/projects").status == 200)
                clock.advance(by: 86_401)
                #expect(try await device.get("/companion/projects").code == .sessionExpired)
                let grant = try await device.openSession(now: clock.now).decoded(SessionGrant.self)
                device.token = grant.token
                let token = grant.token
                try await host.withDevice { other in
                    other.token = token
                    let status = try await other.get("/companion/status").decoded(CompanionStatusResponse.self)
                    #expect(status.device?.id == device.id)
                }
                try write(grant.token, to: directory + "/token")
            }
            try await withHostAndDevice(in: directory, clock: clock.hostClock) { _, device in
                device.token = try contents(of: directory + "/token")
                #expect(try await device.get("/companion/projects").status == 200)
                device.token = "x"
                #expect(try await device.get("/companion/projects").code == .sessionExpired)
            }
            // The token itself is nowhere in the host's files.
            let token = try contents(of: directory + "/token")
            try removeFile(directory + "/token")
            let search = "! grep -r -a -q -e '\(token)' '\(directory)'"
            try await shell(search)
        }
    }

    @Test("A request for a session counts once, from its own time, under the device's signature")
    func sessionRequests() async throws {
        try await withHostAndDevice { host, device in
            try await device.pair()
            let request = try SessionRequest.make(audience: host.server.identity.id, key: device.keys, now: Date())
            let first = try await device.send("POST", "/companion/session", body: request.body)
            let again = try await device.send("POST", "/companion/session", body: request.body)
            let old = try await device.openSession(now: Date(timeIntervalSinceNow: -301))
            let early = try await device.openSession(now: Date(timeIntervalSinceNow: 120))
            let stranger = try await host.withDevice { try await $0.openSession() }
            let forged = try await host.withDevice { other in
                let id = device.id
                let request = try SessionRequest(
                    deviceId: id,
                    audience: nil,
                    issuedAt: Date(),
                    nonce: SecureRandom.bytes(16),
                    sign: other.keys.sign
                )
                return try await other.send("POST", "/companion/session", body: request.body)
            }
            // A host that was asked for a session passes the request on.
            let elsewhere = try SessionRequest.make(
                audience: String(repeating: "0", count: 16),
                key: device.keys,
                now: Date()
            )
            let passedOn = try await device.send("POST", "/companion/session", body: elsewhere.body)
            let unaddressed = try SessionRequest(
                deviceId: device.id,
                audience: nil,
                issuedAt: Date(),
                nonce: SecureRandom.bytes(16),
                sign: device.keys.sign
            )
            let anywhere = try await device.send("POST", "/companion/session", body: unaddressed.body)
            let shape = try await device.send("POST", "/companion/session", body: Array("{}".utf8))
            #expect(first.status == 200)
            #expect(again.status == 409 && again.code == .sessionReplayed)
            #expect(old.code == .sessionExpired && old.failure?.serverTime != nil)
            #expect(early.code == .sessionExpired)
            #expect(stranger.code == .deviceUnknown)
            #expect(forged.status == 401 && forged.code == .sessionBadSignature)
            #expect(shape.code == .requestInvalid)
            #expect(passedOn.status == 403 && passedOn.code == .sessionWrongAudience)
            #expect(anywhere.status == 200)
        }
    }

    @Test("Several devices are connected at once; disconnecting one leaves the others")
    func severalDevices() async throws {
        try await withHostAndDevice { host, device in
            try await device.pair()
            let first = device
            try await host.withDevice { other in
                other.name = "Other"
                try await other.pair()
                let devices = try await first.get("/companion/devices").decoded(DevicesListResponse.self)
                #expect(Set(devices.devices.elements.map(\.name)) == ["Test device", "Other"])
                let foreign = try await other.send("DELETE", "/companion/devices/\(first.id)")
                #expect(foreign.status == 403 && foreign.code == .requestForbidden)
                let bye = try await other.send("POST", "/companion/disconnect", body: Array("{}".utf8))
                #expect(bye.status == 200)
                #expect(try await other.get("/companion/projects").code == .sessionExpired)
                #expect(try await first.get("/companion/projects").status == 200)
                #expect(try await other.openSession().status == 200)
            }
        }
    }

    @Test("A revoked device is refused everywhere, at once and after a restart, until it pairs again")
    func revoked() async throws {
        try await withTemporaryDirectory { directory in
            try await withHostAndDevice(in: directory) { host, device in
                try await device.pair()
                let chat = try await device.newChat()
                #expect(try await host.server.administration.revoke(device.id))
                #expect(try await !host.server.administration.revoke(device.id))
                let command = try await device.command(.chatCreate(projectID: chat.projectId, title: nil))
                #expect(command.code == .deviceRevoked)
                #expect(try await device.get("/companion/projects").code == .deviceRevoked)
                #expect(try await device.openSession().code == .deviceRevoked)
                #expect(host.server.administration.devices().isEmpty)
                let old = device.token
                try await device.pair()
                #expect(try await device.get("/companion/projects").status == 200)
                device.token = old
                #expect(try await device.get("/companion/projects").code == .sessionExpired)
                device.token = try await device.openSession().decoded(SessionGrant.self).token
                // A device may revoke itself.
                #expect(try await device.send("DELETE", "/companion/devices/\(device.id)").status == 200)
                try write(device.token ?? "", to: directory + "/token")
            }
            try await withHostAndDevice(in: directory) { host, device in
                device.token = try contents(of: directory + "/token")
                #expect(try await device.get("/companion/projects").code == .sessionExpired)
                let rows = try await host.server.administration.audit.rows()
                #expect(rows.map(\.kind) == ["pairing.paired", "device.revoked", "pairing.paired", "device.revoked"])
            }
        }
    }

    @Test("A challenge's limits hold for devices of v1 too")
    func legacyGrant() async throws {
        let clock = TestClock()
        try await withHost(clock: clock.hostClock) { host in
            let grant = PairingGrant(permissions: [], lifetime: .seconds(60))
            let start = await host.server.administration.startPairing(ttlSeconds: nil, grant: grant)
            _ = try await host.complete(code: start.code)
            #expect(try await host.get("/companion/projects").status == 200)
            let refused = try await host.ask("help")
            #expect(refused.status == 403)
            clock.advance(by: 61)
            #expect(try await host.get("/companion/projects").status == 403)
        }
    }
}
