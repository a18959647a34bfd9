import CompanionTestSupport
import CompanionWire
import NIOConcurrencyHelpers
import NIOCore
import NIOSSL
import Testing

@testable import Relay

@Suite(
    "With a real relay",
    .enabled(if: RelayServer.isInstalled, "skipped, missing: strelaysrv"),
    .timeLimit(.minutes(15))
)
struct RelayServerTests {
    @Test("A device calls a host, and bytes go both ways")
    func echo() async throws {
        try await withRelayServer { server in
            try await withHost(makeClient(server.address)) { host in
                try await host.join()
                let ends = try await host.open(to: makeClient(server.address))
                try await ends.host.use { hostEnd in
                    try await ends.device.use { deviceEnd in
                        var dice = Dice(seed: 1)
                        for size in [1, 12, 100_000] {
                            let (question, answer) = (dice.bytes(size), dice.bytes(size))
                            try await deviceEnd.write(question)
                            #expect(try await hostEnd.read(size) == question)
                            try await hostEnd.write(answer)
                            #expect(try await deviceEnd.read(size) == answer)
                        }
                    }
                    // The relay does not pass on that the device has closed its end. Whoever writes learns of it.
                    // Not without a pause: that kept the event loop for minutes, and with it all others' connections.
                    var failure: (any Error)?
                    try await eventually(every: .milliseconds(100)) {
                        do { try await hostEnd.write([1]) } catch { failure = error }
                        return failure != nil
                    }
                    #expect(!(failure is CancellationError))
                }
            }
        }
    }

    @Test("What one side sends before the other one has come is there when it comes", arguments: [true, false])
    func early(isHostFirst: Bool) async throws {
        try await withRelayServer { server in
            try await withHost(makeClient(server.address)) { host in
                try await host.join()
                let device = try makeClient(server.address)
                let calling = try await device.requestInvitation(to: host.id)
                let called = try await host.invitation()
                #expect(called.from == device.identity.id)
                let hostFirst = isHostFirst
                let first = try await (hostFirst ? host.client : device)
                    .openPipe(hostFirst ? called : calling, initializer: TestPipe.make)
                try await first.use { firstEnd in
                    try await firstEnd.write(Array("early".utf8))
                    let second = try await (hostFirst ? device : host.client)
                        .openPipe(hostFirst ? calling : called, initializer: TestPipe.make)
                    try await second.use { secondEnd in
                        #expect(try await secondEnd.read(5) == Array("early".utf8))
                        try await secondEnd.write([1])
                        #expect(try await firstEnd.read(1) == [1])
                    }
                }
            }
        }
    }

    @Test("TLS stands at once on a pipe, and its end goes through where the relay passes on none")
    func tls() async throws {
        try await withRelayServer { server in
            try await withHost(makeClient(server.address)) { host in
                try await host.join()
                let pem = Array(try RelayIdentity.make().pem.utf8)
                let serverContext = try NIOSSLContext(
                    configuration: .makeServerConfiguration(
                        certificateChain: [.certificate(NIOSSLCertificate(bytes: pem, format: .pem))],
                        privateKey: .privateKey(NIOSSLPrivateKey(bytes: pem, format: .pem))
                    )
                )
                var configuration = TLSConfiguration.makeClientConfiguration()
                configuration.certificateVerification = .none
                let clientContext = try NIOSSLContext(configuration: configuration)
                let ends = try await host.open(
                    to: makeClient(server.address),
                    hostEnd: { TestPipe.make($0) { NIOSSLServerHandler(context: serverContext) } },
                    deviceEnd: {
                        TestPipe.make($0) { try NIOSSLClientHandler(context: clientContext, serverHostname: nil) }
                    }
                )
                let bytes = Array("hello".utf8)
                try await ends.host.use { hostEnd in
                    try await ends.device.use { deviceEnd in
                        try await deviceEnd.write(bytes)
                        #expect(try await hostEnd.read(5) == bytes)
                        try await hostEnd.write(bytes)
                        #expect(try await deviceEnd.read(5) == bytes)
                    }
                    #expect(try await hostEnd.read(1).isEmpty)
                }
            }
        }
    }

    @Test("A host that has not joined is not found, and the next call works once it has")
    func notFound() async throws {
        try await withRelayServer { server in
            let (host, device) = (try makeClient(server.address), try makeClient(server.address))
            let error = await #expect(throws: RelayError.self) {
                try await device.call(host.identity.id, initializer: TestPipe.make)
            }
            #expect(error?.code == .notFound)
            #expect(error?.message == "The host is not connected to the relay \(server.address.authority).")
            try await withHost(host) { host in
                try await host.join()
                let ends = try await host.open(to: device)
                try await ends.host.use { _ in }
                try await ends.device.use { _ in }
            }
        }
    }

    @Test("A relay with another id gets nothing; without an id in the address any relay is taken")
    func wrongID() async throws {
        try await withRelayServer { server in
            let wrong = server.address.replacingID(with: RecordedRelay.id(RecordedRelay.other))
            let device = try makeClient(wrong)
            let error = await #expect(throws: RelayError.self) {
                try await device.call(device.identity.id, initializer: TestPipe.make)
            }
            #expect(error?.code == .wrongID)
            let shown = try #require(server.address.id?.description)
            #expect(error?.message.has(shown) == true && error?.message.has(RecordedRelay.otherText) == true)
            let failure = try await withHost(makeClient(wrong)) { try await $0.failure() }
            #expect(failure.code == .wrongID)
            try await withHost(makeClient(server.address.replacingID(with: nil))) { try await $0.join() }
        }
    }

    @Test("A used key, and an unknown one, opens nothing")
    func usedKey() async throws {
        try await withRelayServer { server in
            try await withHost(makeClient(server.address)) { host in
                try await host.join()
                let device = try makeClient(server.address)
                _ = try await device.requestInvitation(to: host.id)
                let invitation = try await host.invitation()
                let pipe = try await host.client.answer(invitation, initializer: TestPipe.make)
                try await pipe.use { _ in }
                for key in [invitation.key, [UInt8](repeating: 7, count: 32)] {
                    let used = RelayInvitation(from: invitation.from, key: key)
                    let error = await #expect(throws: RelayError.self) {
                        try await host.client.answer(used, initializer: TestPipe.make)
                    }
                    #expect(error?.code == .sessionLost)
                }
            }
        }
    }

    @Test("A device calls once more when the relay has lost the session, but not for ever")
    func callsAgain() async throws {
        try await withRelayServer { server in
            try await withHost(makeClient(server.address)) { host in
                try await host.join()
                let losses = NIOLockedValueBox(0)
                // Between invitation and session, the relay forgets.
                let clock = HookClock {
                    let mayLose = losses.withLockedValue { losses in
                        losses += 1
                        return losses != 2
                    }
                    guard mayLose else { return }
                    try await server.restart()
                    try await host.join()
                }
                let device = try makeClient(server.address, clock: clock)
                let pipe = try await device.call(host.id, initializer: TestPipe.make)
                try await pipe.use { _ in }
                #expect(losses.withLockedValue(\.self) == 2)
                let error = await #expect(throws: RelayError.self) {
                    try await device.call(host.id, initializer: TestPipe.make)
                }
                #expect(error?.code == .sessionLost && losses.withLockedValue(\.self) == 5)
            }
        }
    }

    @Test("A relay that is over its limit says so to its hosts")
    func full() async throws {
        // It takes 96 connections, counts them once a minute, and sends off those that have no session.
        try await withRelayServer(descriptors: 120) { server in
            let (states, report) = AsyncStream.makeStream(of: RelayJoinState.self)
            try await withThrowingTaskGroup(of: Void.self) { crowd in
                defer { crowd.cancelAll() }
                for _ in 0..<100 {
                    let member = try makeClient(server.address, clock: ContinuousClock())
                    crowd.addTask { await member.join(onState: { report.yield($0) }, onInvitation: { _ in }) }
                }
                let refusal = await states.compactMap { state -> RelayError? in
                    guard case .failed(let error, _) = state, error.code == .full else { return nil }
                    return error
                }
                .first { _ in true }
                #expect(refusal?.message.has("is over its limits and takes no more connections") == true)
            }
        }
    }

    @Test("A check says what the relay is and does")
    func check() async throws {
        try await withRelayServer { server in
            let check = try await makeClient(server.address).check(for: .milliseconds(200))
            #expect(check.shownID == server.address.id && check.isExpected)
            #expect(check.latency > .zero && check.openingTime > check.latency)
            #expect(check.bytesPerSecond > 10_000)
            let wrong = server.address.replacingID(with: RecordedRelay.id(RecordedRelay.other))
            let other = try await makeClient(wrong).check(for: .milliseconds(50))
            #expect(other.shownID == server.address.id && !other.isExpected)
        }
    }

    @Test("A check shows a relay's own limit")
    func limited() async throws {
        try await withRelayServer(["-per-session-rate", "1000000"]) { server in
            let check = try await makeClient(server.address).check(for: .seconds(2))
            // In the beginning, twice what it allows for a second goes through at once.
            #expect(check.bytesPerSecond < 3_000_000)
        }
    }
}
