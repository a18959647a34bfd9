import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Identity
import NIOConcurrencyHelpers
import Terminal
import Testing

@testable import CompanionApp
@testable import pairtool

/// What waits for hosts in sight, and what events name.
@Suite(.timeLimit(.minutes(15))) struct HostDeliveriesTests {
    private func host(_ id: String) throws -> PairedHost {
        PairedHost(
            id: id,
            name: id,
            family: .lumi,
            trust: .legacy,
            endpoint: try #require(CompanionEndpoint("127.0.0.1:1")),
            deviceID: "d",
            pairedAt: .distantPast
        )
    }

    @Test("A host that is advertised many times is sent to one at a time, and once more at the end")
    func flapping() async throws {
        let (sights, sight) = AsyncStream.makeStream(of: String.self)
        let gates = Gates()
        let sent = NIOLockedValueBox<[String]>([])
        let hosts = ["a": try host("a"), "b": try host("b")]
        async let deliveries: Void = HostDeliveries().run(sights) { name in
            if name == "last" { gates.open("all seen") }
            return hosts[name]
        } send: { host in
            let count = sent.withLockedValue { sent in
                sent.append(host.id)
                return sent.count { $0 == host.id }
            }
            gates.open("\(host.id) \(count)")
            try? await gates.pass("go on")
        }
        sight.yield("a")
        try await gates.pass("a 1")
        for _ in 1...50 { sight.yield("a") }
        for name in ["b", "none", "last"] { sight.yield(name) }
        try await gates.pass("all seen")
        try await gates.pass("b 1")
        #expect(sent.withLockedValue(\.self) == ["a", "b"])
        gates.open("go on")
        try await gates.pass("a 2")
        sight.finish()
        await deliveries
        #expect(sent.withLockedValue { $0.sorted() } == ["a", "a", "b"])
    }

    @Test("An event about a chat reads the chats of its project, and nothing of others")
    func names() async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                let context = TerminalContext.process
                let paired = try #require(try PairedHostStore(directory: user.data).load().defaultHost)
                let (sink, before) = (MemorySink(), mac.requests.count)
                var own = context
                (own.stdout, own.stderr, own.environment) = (sink, sink, user.environment)
                let environment = Output(context: own, format: .text).environment()
                try await HostSession.with(paired, environment: environment) { session in
                    let names = WatchedNames(session)
                    #expect(await names.chat("c-login", in: "p-web", isChanged: true) == "“Fix the login” in web")
                    #expect(await names.chat("c-cors", in: "p-web-2", isChanged: false) == "“CORS” in web")
                    let paths = mac.requests.dropFirst(before).map(\.path)
                    #expect(!paths.contains { $0.hasPrefix("/companion/projects/p-api") }, "\(paths)")
                    #expect(!paths.contains { $0.hasSuffix("/devices") }, "\(paths)")
                    #expect(await names.chat("c-api", in: nil, isChanged: false) == "“Pagination” in api")
                }
            }
        }
    }
}
