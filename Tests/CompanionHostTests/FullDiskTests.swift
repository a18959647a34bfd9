import CompanionWire
import FoundationEssentials
import GRDB
import Identity
import NIOWebSocket
import Testing

@testable import CompanionHost

@Suite(
    "A host whose disk is full",
    .timeLimit(.minutes(15)),
    .enabled(if: SmallDisk.isPossible, "needs root, to mount a small disk")
)
struct FullDiskTests {
    /// The answer to what cannot be stored, without the time.
    private func refusal(_ reply: Reply) throws -> [String?] {
        let failure = try #require(reply.failure)
        return ["\(reply.status)", failure.code?.rawValue, failure.error, failure.triesLeft.map { "\($0)" }]
    }

    @Test("A device that is revoked is out at once and stays out; the owner hears that it is not stored, until it is")
    func revocation() async throws {
        let clock = TestClock()
        try await SmallDisk.with { disk in
            try await withHostAndDevice(in: disk.directory, clock: clock.hostClock) { host, device in
                try await device.pair()
                let (id, administration) = (device.id, host.server.administration)
                try await LiveClient.with(host, token: device.token) { [device] client in
                    _ = try await client.event(.hello)
                    try disk.fill()
                    let error = try await #require(throws: HostError.self) {
                        try await administration.revoke(id)
                    }
                    #expect(
                        error.code == .hostStorageFailed
                            && error.text
                                == "The device is shut out, but that could not be stored: the host's disk may be full. The host keeps trying; "
                                + "if it restarts first, the device is let in again"
                    )
                    let close = try #require(await client.close())
                    #expect(close.code == .policyViolation && close.reason == "device.revoked")
                    #expect(try await device.get("/companion/projects").code == .deviceRevoked)
                    #expect(try await device.openSession(now: clock.now).code == .deviceRevoked)
                    #expect(administration.devices().isEmpty)
                    // The owner finds it, to try again.
                    let listed = try #require(await administration.answer(AdminRequest(.devices)).devices?.first)
                    #expect(listed.id == id && listed.isRevoked == true)
                    try disk.free()
                    clock.advance(by: DeviceControl.retryInterval)
                    _ = try await host.event { if case .revoked(id) = $0 { true } else { nil } }
                    #expect(await administration.answer(AdminRequest(.devices)).devices?.isEmpty == true)
                }
            }
            try await withHostAndDevice(in: disk.directory, clock: clock.hostClock) { host, _ in
                #expect(host.server.administration.devices().isEmpty)
                let kinds = try await host.server.administration.audit.rows().map(\.kind)
                #expect(kinds == ["pairing.paired", "device.revoked"])
            }
        }
    }

    @Test("The owner's second try stores the revocation, and says so")
    func secondTry() async throws {
        try await SmallDisk.with { disk in
            try await withHostAndDevice(in: disk.directory) { host, device in
                try await device.pair()
                try disk.fill()
                var request = AdminRequest(.revoke)
                request.device = device.id
                let administration = host.server.administration
                #expect(await administration.answer(request).error?.code == .hostStorageFailed)
                #expect(await administration.answer(request).error?.code == .hostStorageFailed)
                try disk.free()
                #expect(await administration.answer(request).devices?.map(\.id) == [device.id])
                #expect(await administration.answer(request).error?.code == .deviceUnknown)
            }
        }
    }

    @Test("What a device may do is taken away at once, and nothing is added")
    func permissions() async throws {
        try await SmallDisk.with { disk in
            try await withHostAndDevice(in: disk.directory) { host, device in
                try await device.pair(permissions: [.chatCreate, .chatSend])
                try disk.fill()
                let id = device.id
                let error = try await #require(throws: HostError.self) {
                    try await host.server.administration.setPermissions([.chatSend, .projectCreate], of: id)
                }
                #expect(error.code == .hostStorageFailed)
                let status = try await device.get("/companion/status").decoded(CompanionStatusResponse.self)
                #expect(status.permissions == [.chatSend])
                try disk.free()
                let project = try await device.firstProject()
                let reply = try await device.command(.chatCreate(projectID: project, title: nil))
                #expect(reply.code == .permissionDenied)
            }
        }
    }

    @Test("A device that disconnects has no session any more")
    func disconnection() async throws {
        try await SmallDisk.with { disk in
            try await withHostAndDevice(in: disk.directory) { _, device in
                try await device.pair()
                try disk.fill()
                #expect(try await device.send("POST", "/companion/disconnect").code == .hostStorageFailed)
                #expect(try await device.get("/companion/projects").code == .sessionExpired)
            }
            try disk.free()
            try await withHost(in: disk.directory + "/legacy") { host in
                try await host.pair()
                try disk.fill()
                #expect(try await host.post("/companion/disconnect", "{}").status == 503)
                #expect(try await host.get("/companion/projects").status == 403)
            }
        }
    }

    @Test("A guess that cannot be counted is not judged: right or wrong, the answer is the same, and costs nothing")
    func guesses() async throws {
        try await SmallDisk.with { disk in
            try await withHostAndDevice(in: disk.directory) { host, device in
                let code = try await host.challenge().code
                let right = try await device.exchange(.code(code))
                let wrong = try await device.exchange(.code("no code"))
                try disk.fill()
                let answers = [try await device.confirm(wrong), try await device.confirm(right)]
                #expect(try refusal(answers[0]) == refusal(answers[1]))
                #expect(
                    try refusal(answers[0]) == [
                        "503", "host.storage_failed",
                        "The host could not store this, so it was not done: its disk may be full. Try again later", nil,
                    ]
                )
                for _ in 0..<12 { #expect(try await device.guessWrong().code == .hostStorageFailed) }
                let pairing = await host.server.administration.pairingState
                #expect(pairing.triesLeft == 3 && pairing.failuresInARow == 0 && !pairing.isLocked)
                try disk.free()
                #expect(try await device.guessWrong().failure?.triesLeft == 2)
                try await device.pair(.code(code))
            }
        }
    }

    @Test("By v1, too, a guess that cannot be counted is not judged")
    func legacyGuesses() async throws {
        try await SmallDisk.with { disk in
            try await withHost(in: disk.directory) { host in
                let code = try await host.challenge().code
                try disk.fill()
                let wrong = try await host.complete(code: code == "000000" ? "000001" : "000000")
                let right = try await host.complete(code: code)
                #expect(try refusal(wrong) == refusal(right))
                #expect(wrong.status == 503)
                try disk.free()
                #expect(try await host.complete(code: code).status == 200)
            }
        }
    }

    @Test("A right guess whose device cannot be stored ends as a wrong one that cannot be noted")
    func unstoredOutcomes() async throws {
        for isRight in [false, true] {
            try await withHostAndDevice { host, device in
                let code = try await host.challenge().code
                let exchange = try await device.exchange(.code(isRight ? code : "no code"))
                let other = try await device.exchange(.code("no code"))
                let database = host.server.administration.audit.database
                // The count is taken; what comes of the guess is not.
                try await database.write {
                    try $0.execute(
                        sql: """
                            CREATE TRIGGER fault BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'fault'); END
                            """
                    )
                }
                let answer = try await device.confirm(exchange)
                #expect(
                    try refusal(answer) == [
                        "503", "host.storage_failed",
                        "The host could not store this, so it was not done: its disk may be full. Try again later", nil,
                    ]
                )
                #expect(try await device.confirm(other).code == .pairingNotActive, "right: \(isRight)")
                #expect(host.server.administration.devices().isEmpty)
                #expect(try await device.guessWrong(.code(code)).code != .pairingExpired)
                let failures = try await database.read {
                    try Int.fetchOne($0, sql: "SELECT failuresInARow FROM pairingGuard")
                }
                #expect(failures ?? 0 >= 1)
                // Its challenge has ended with it: the code is no code any more.
                try await database.write { try $0.execute(sql: "DROP TRIGGER fault") }
                #expect(try await device.guessWrong(.code(code)).code == .pairingWrongCode, "right: \(isRight)")
            }
        }
    }

    @Test("A command and a prompt are refused, and executed when there is space again")
    func commands() async throws {
        try await SmallDisk.with { disk in
            try await withHostAndDevice(in: disk.directory) { host, device in
                try await device.pair()
                let chat = try await device.newChat()
                let command = try await device.sign(
                    .chatSend(chatID: chat.id, prompt: "list", model: nil, allowedTools: nil)
                )
                try disk.fill()
                let refused = try await device.send(command)
                #expect(refused.status == 503 && refused.code == .hostStorageFailed)
                #expect(refused.failure?.retryable == true)
                try disk.free()
                let reply = try await device.send(command)
                #expect(try reply.outcome().replayed == false)
                #expect(try await device.waitForTurn(reply, chat: chat.id).body.contains("done"))
            }
        }
    }
}
