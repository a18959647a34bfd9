import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import NIOConcurrencyHelpers
import NIOCore
import Providers
import ServiceLifecycle
import Testing

@testable import CompanionHost

/// What a host tells when an agent waits, over real sockets.
@Suite(.timeLimit(.minutes(15))) struct HostNotifierTests {
    private struct Tested {
        let notifier: HostNotifier
        let revocations: RevocationCenter
        /// The failures that the owner was told of.
        let failures = NIOLockedValueBox<[String]>([])

        init(_ settings: NotifySettings) {
            revocations = RevocationCenter(clock: .system)
            let sink = HostEventSink(live: LiveEventBroadcaster(clock: .system)).observed { [failures] event in
                guard case .notifyFailed(let target, let reason) = event else { return }
                failures.withLockedValue { $0.append("\(target): \(reason)") }
            }
            notifier = HostNotifier(settings, host: "Shed", clock: .system, revocations: revocations, events: sink)
        }

        func ask(_ id: String) {
            notifier.take(.questionAsked(HostNotifierTests.question(id, state: .open)))
        }

        func end(_ id: String, _ state: Approval.State = .approved) {
            notifier.take(.questionEnded(HostNotifierTests.question(id, state: state)))
        }

        /// A turn that counts as a long one.
        func finishTurn() {
            notifier.take(.turnStarted(TurnStart(chatID: "c", title: nil, turnID: "t", device: "d", mode: nil)))
            notifier.take(.turnFinished(chatID: "c", turnID: "t", state: .finished))
        }
    }

    private static func question(_ id: String, state: Approval.State) -> Approval {
        Approval(id: id, chatId: "c", turnId: "t", title: "Write secret.txt", kind: "edit", state: state)
    }

    /// Runs a notifier for a topic of a stand-in server.
    private func withNotifier(
        _ url: String = "ntfy://127.0.0.1:PORT/garden?secure=false",
        change: (inout NotifySettings) -> Void = { _ in },
        _ body: (FakeNotify, Tested) async throws -> Void
    ) async throws {
        try await withFakeNotify { server in
            var settings = NotifySettings(targets: [try NotifyTarget(url.replacing("PORT", with: "\(server.port)"))])
            (settings.longTurn, settings.pauses) = (.zero, [.milliseconds(1), .milliseconds(1)])
            change(&settings)
            let tested = Tested(settings)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await tested.notifier.run() }
                defer { group.cancelAll() }
                try await body(server, tested)
            }
        }
    }

    private struct Body: Decodable {
        var message: String
    }

    /// The sentences that the server was sent, once there are as many.
    private func texts(_ server: FakeNotify, _ count: Int) async throws -> [String] {
        try await server.requests(atLeast: count).map {
            try JSONDecoder().decode(Body.self, from: Data($0.body)).message
        }
    }

    @Test("ntfy gets JSON at its root: that an agent asks, that it does no longer, that a turn is done; no content")
    func ntfy() async throws {
        try await withNotifier { (server: FakeNotify, tested: Tested) async throws in
            tested.ask("q1")
            _ = try await server.requests(atLeast: 1)
            tested.end("q1")
            tested.finishTurn()
            let requests = try await server.requests(atLeast: 3)
            #expect(requests.allSatisfy { $0.method == "POST" && $0.target == "/" })
            #expect(
                requests.map(\.text) == [
                    #"{"message":"An agent at Shed asks","priority":4,"tags":["question"],"title":"pairtool","topic":"garden"}"#,
                    #"{"message":"The question of an agent at Shed was approved","priority":2,"tags":["heavy_check_mark"],"title":"pairtool","topic":"garden"}"#,
                    #"{"message":"A turn at Shed is done","priority":3,"tags":["checkered_flag"],"title":"pairtool","topic":"garden"}"#,
                ]
            )
            #expect(tested.notifier.targets == [AdminNotification(target: "ntfy://127.0.0.1:\(server.port)")])
        }
    }

    @Test("A webhook gets what happened in words of its own; the title only where the owner wants that; the token")
    func webhook() async throws {
        try await withNotifier("http://127.0.0.1:PORT/hook?a=1") {
            ($0.detail, $0.token) = (.title, ProviderKey("tk_1"))
        } _: { (server: FakeNotify, tested: Tested) async throws in
            tested.ask("q1")
            let request = try #require(try await server.requests(atLeast: 1).first)
            #expect(request.target == "/hook?a=1" && request.header("Authorization") == "Bearer tk_1")
            #expect(request.header("Content-Type") == "application/json")
            #expect(request.text.hasPrefix(#"{"at":""#), "\(request.text)")
            let rest =
                #""event":"asked","host":"Shed","message":"An agent at Shed asks: Write secret.txt","questionId":"q1","title":"Write secret.txt"}"#
            #expect(request.text.hasSuffix(rest), "\(request.text)")
        }
    }

    @Test("A question that is answered while a device follows what happens is told to nobody else")
    func answeredInTime() async throws {
        try await withNotifier(change: { $0.patience = .seconds(3600) }) {
            (server: FakeNotify, tested: Tested) async throws in
            let paired = PairedDevice(
                id: "d",
                name: "Lap",
                publicKey: "k",
                permissions: nil,
                expiresAt: nil,
                protocolVersion: 2,
                pairedAt: Date(),
                lastSeenAt: Date()
            )
            let device = AuthenticatedDevice(paired, protocolVersion: 2, epoch: 0)
            // Ends with the test.
            async let _ = tested.revocations.wait(for: device)
            while !tested.revocations.hasStreams { await Task.yield() }
            tested.ask("q1")
            tested.end("q1")
            tested.finishTurn()
            #expect(try await texts(server, 1) == ["A turn at Shed is done"])
        }
    }

    @Test("A busy server gets the message again, once it takes it; the owner is told once that it fails")
    func busy() async throws {
        try await withNotifier { (server: FakeNotify, tested: Tested) async throws in
            server.reply(.status(429, headers: ["Retry-After: 0"]), .status(503))
            tested.ask("q1")
            #expect(try await texts(server, 3) == Array(repeating: "An agent at Shed asks", count: 3))
            tested.finishTurn()
            #expect(try await texts(server, 4).last == "A turn at Shed is done")
            let place = "ntfy://127.0.0.1:\(server.port)"
            #expect(tested.failures.withLockedValue(\.self) == ["\(place): it is busy (429)"])
            #expect(tested.notifier.targets == [AdminNotification(target: place)])
        }
    }

    @Test(
        "What a server refuses is not sent again, no redirect is followed, and the reason is kept",
        arguments: [
            (301, "it redirects to another address: use that address"),
            (401, "it refuses the token, or wants one (401)"),
            (404, "it answered with 404"), (500, "it answered with 500"),
        ]
    )
    func refused(status: Int, reason: String) async throws {
        try await withNotifier { (server: FakeNotify, tested: Tested) async throws in
            server.reply(.status(status, headers: ["Location: http://127.0.0.1:\(server.port)/other"]))
            let outcomes = try await tested.notifier.test()
            #expect(outcomes.map(\.failure) == [reason])
            server.reply(.status(status))
            tested.ask("q1")
            _ = try await server.requests(atLeast: 2)
            tested.finishTurn()
            #expect(try await texts(server, 3).last == "A turn at Shed is done")
            #expect(server.requests.allSatisfy { $0.target == "/" })
            #expect(tested.failures.withLockedValue(\.count) == 1)
        }
    }

    @Test("A message that may have arrived is not sent again, and that the wait is over is told")
    func silent() async throws {
        try await withNotifier(change: { $0.limit = .seconds(10) }) {
            (server: FakeNotify, tested: Tested) async throws in
            server.reply(.silence)
            tested.ask("q1")
            _ = try await server.requests(atLeast: 1)
            tested.end("q1", .expired)
            let texts = try await texts(server, 2)
            #expect(texts == ["An agent at Shed asks", "The question of an agent at Shed was not answered in time"])
        }
    }

    @Test("A question that is over by then is not told again, nor that it is over")
    func overMeanwhile() async throws {
        try await withNotifier { (server: FakeNotify, tested: Tested) async throws in
            server.reply(.held("go", status: 429))
            tested.ask("q1")
            _ = try await server.requests(atLeast: 1)
            tested.end("q1")
            server.open("go")
            tested.finishTurn()
            #expect(try await texts(server, 2) == ["An agent at Shed asks", "A turn at Shed is done"])
        }
    }

    @Test("A server that is not there is said to be missing")
    func missing() async throws {
        try await withClosedPort { (place: CompanionEndpoint) async throws in
            let tested = Tested(NotifySettings(targets: [try NotifyTarget("http://\(place)/")]))
            #expect(try await tested.notifier.test().first?.failure == "no connection to it")
            #expect(tested.failures.withLockedValue(\.self) == ["http://\(place): no connection to it"])
        }
    }

    @Test("A host ends while a server keeps it waiting for a connection")
    func hangingConnection() async throws {
        let gates = Gates()
        try await withListener(accept: { $0 }, serve: { (_: any Channel) in gates.open("connected") }) { port in
            var settings = NotifySettings(targets: [try NotifyTarget("https://127.0.0.1:\(port)/")])
            settings.limit = .seconds(3600)
            let tested = Tested(settings)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await tested.notifier.run() }
                tested.ask("q1")
                try await gates.pass("connected")
                group.cancelAll()
                try await group.waitForAll()
            }
        }
    }

    private struct Running: Service {
        let notifier: HostNotifier

        func run() async throws { await notifier.run() }
    }

    @Test("When the host ends, whoever was told of a question is told that it is over")
    func end() async throws {
        try await withFakeNotify { (server: FakeNotify) async throws in
            var settings = NotifySettings(targets: [try NotifyTarget("http://127.0.0.1:\(server.port)/")])
            settings.shutdown = .seconds(60)
            let tested = Tested(settings)
            let host = ServiceGroup(services: [Running(notifier: tested.notifier)], logger: .silent)
            async let ended: Void = host.run()
            tested.ask("q1")
            _ = try await server.requests(atLeast: 1)
            await host.triggerGracefulShutdown()
            tested.end("q1", .cancelled)
            #expect(try await texts(server, 2).last == "The question of an agent at Shed needs no answer any more")
            try await ended
        }
    }

    @Test("A short turn is told to nobody")
    func shortTurn() async throws {
        try await withNotifier(change: { $0.longTurn = .seconds(3600) }) {
            (server: FakeNotify, tested: Tested) async throws in
            tested.finishTurn()
            tested.ask("q1")
            #expect(try await texts(server, 1) == ["An agent at Shed asks"])
        }
    }
}
