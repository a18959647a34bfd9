import CompanionWire
import Discovery
import Testing

/// The real embedded engine: publisher and browser are separate engines that speak mDNS over `lo`.
@Suite("The embedded engine on the loopback interface", .timeLimit(.minutes(15)))
struct EmbeddedEngineTests {
    /// Publishes, waits until that is done, and runs `body` with the name.
    private func publishing<Result: Sendable>(
        _ name: String,
        _ type: ServiceType,
        port: Int = 7878,
        txt: [(String, String)] = [],
        _ body: (String) async throws -> Result
    ) async throws -> Result {
        let advertisement = Advertisement(name: name, services: [(type: type, port: port, txt: txt)])
        return try await loopbackClient().withAdvertisement(advertisement) { events in
            for await event in events {
                if case .published(let name, let engine) = event {
                    #expect(engine == .embedded)
                    return try await body(name)
                }
            }
            throw DiscoveryError(.publishFailed, message: "the stream ended")
        }
    }

    /// Browses until all is settled and returns what is there.
    private func settledHosts(_ types: ServiceType...) async throws -> [DiscoveredHost] {
        try await hosts(types) { event, _ in event == .settled }
    }

    /// Browses until so many hosts are resolved. Not until all is settled: for a second after it has announced a
    /// record, a responder must not send it again (RFC 6762, section 6), so a browser that comes in that second has to
    /// wait for the announcement to be repeated, which may be after the engine has said that nothing more is likely to
    /// come.
    private func resolvedHosts(_ count: Int, _ types: ServiceType...) async throws -> [DiscoveredHost] {
        try await hosts(types) { _, hosts in hosts.filter { !$0.unresolved }.count == count }
    }

    private func hosts(
        _ types: [ServiceType],
        until isEnough: (DiscoveryEvent, [DiscoveredHost]) -> Bool
    ) async throws -> [DiscoveredHost] {
        try await loopbackClient().withBrowse(types: types) { kind, events in
            #expect(kind == .embedded)
            var hosts: [String: DiscoveredHost] = [:]
            for await event in events {
                switch event {
                case .added(let host), .changed(let host): hosts[host.id] = host
                case .removed(let host): hosts[host.id] = nil
                case .settled, .incomplete: break
                case .interrupted, .resumed: Issue.record("unexpected \(event)")
                }
                if isEnough(event, Array(hosts.values)) { return Array(hosts.values) }
            }
            throw DiscoveryError(.browseFailed, message: "the stream ended")
        }
    }

    @Test("A published service is found with address, port and TXT record")
    func finds() async throws {
        let type = uniqueType()
        let txt = [("id", "0123456789abcdef"), ("name", "Atelier"), ("esc", "\u{1B}[31m\u{7}"), ("empty", "")]
        let hosts = try await publishing("Studio", type, txt: txt) { _ in try await resolvedHosts(1, type) }
        let host = try #require(hosts.first)
        #expect(hosts.count == 1)
        #expect(host.id == "0123456789abcdef")
        #expect(host.name == "Atelier")
        #expect(host.instanceName == "Studio")
        #expect(host.txt == Dictionary(uniqueKeysWithValues: txt))
        #expect(host.endpoints.contains { $0.endpoint.description == "127.0.0.1:7878" && $0.interface == "lo" })
        #expect(host.endpoints.allSatisfy { $0.endpoint.address.scope == .loopback && $0.hostName.hasSuffix(".local") })
    }

    @Test(
        "Names of every kind arrive as they were published",
        arguments: [
            String(repeating: "x", count: 63), "Ateliér 工作室 🎨", "Dots. and \\slashes\\ \"quoted\"",
            "esc\u{1B}[2Jape\u{7}",
        ]
    )
    func names(name: String) async throws {
        let type = uniqueType()
        let hosts = try await publishing(name, type) { published in
            #expect(published == name)
            return try await resolvedHosts(1, type)
        }
        #expect(hosts.map(\.instanceName) == [name])
        #expect(hosts.allSatisfy { !$0.unresolved })
    }

    @Test("A name over 63 bytes is cut at a character")
    func longName() async throws {
        let type = uniqueType()
        let hosts = try await publishing(String(repeating: "é", count: 40), type) { _ in
            try await resolvedHosts(1, type)
        }
        #expect(hosts.map(\.instanceName) == [String(repeating: "é", count: 31)])
    }

    @Test("Several types under one name are one host")
    func severalTypes() async throws {
        let (first, second) = (uniqueType(), uniqueType())
        let advertisement = Advertisement(
            name: "Both",
            services: [(type: first, port: 1, txt: []), (type: second, port: 2, txt: [])]
        )
        let hosts = try await loopbackClient().withAdvertisement(advertisement) { events in
            _ = await events.first { if case .published = $0 { true } else { false } }
            return try await self.hosts([first, second]) { _, hosts in hosts.first?.types.count == 2 }
        }
        #expect(hosts.count == 1)
        #expect(hosts.first?.types == [first, second])
        #expect(Set(hosts.first?.endpoints.map(\.endpoint.port) ?? []) == [1, 2])
    }

    @Test("With nothing published, browsing settles and finds nothing")
    func nothing() async throws {
        #expect(try await settledHosts(uniqueType()).isEmpty)
    }

    @Test("A name that is taken is changed, and both are found")
    func collision() async throws {
        let type = uniqueType()
        let hosts = try await publishing("Twin", type) { first in
            // Another port: records that are the same to the byte are no conflict (RFC 6762, section 8.1).
            try await publishing("Twin", type, port: 7879) { second in
                #expect(first == "Twin")
                #expect(second == "Twin #2")
                return try await resolvedHosts(2, type)
            }
        }
        #expect(hosts.map(\.instanceName).sorted() == ["Twin", "Twin #2"])
    }

    @Test("A publisher that ends says goodbye: the host is removed long before its records expire")
    func goodbye() async throws {
        let type = uniqueType()
        let clock = ContinuousClock()
        try await loopbackClient().withBrowse(types: [type]) { _, events in
            var events = events.makeAsyncIterator()
            let found = try await publishing("Leaving", type) { _ in
                while let event = await events.next() {
                    if let host = event.added { return host }
                }
                throw DiscoveryError(.resolveFailed, message: "the stream ended")
            }
            let left = clock.now
            while let event = await events.next() {
                guard let host = event.removed else { continue }
                #expect(host.id == found.id)
                break
            }
            // A goodbye takes effect after one second (RFC 6762, section 10.1); records live for 120.
            #expect(left.duration(to: clock.now) < .seconds(60))
        }
    }

    @Test("A host that comes while browsing goes on is added after all has settled")
    func comesLater() async throws {
        let type = uniqueType()
        try await loopbackClient().withBrowse(types: [type]) { _, events in
            var events = events.makeAsyncIterator()
            #expect(await events.next() == .settled)
            try await publishing("Late", type) { _ in
                #expect(await events.next()?.added?.instanceName == "Late")
            }
        }
    }

    @Test("TXT strings of a foreign responder: the first of a repeated key counts, what is not UTF-8 is repaired")
    func foreignTXT() async throws {
        let type = uniqueType()
        let txt: [[UInt8]] = [
            Array("k=first".utf8), Array("K=second".utf8), Array("bin=".utf8) + [0xff, 0xfe, 0x61], Array("=x".utf8),
        ]
        let answer = RawResponder.Answer(
            instance: Array("Raw".utf8),
            target: "raw-\(type.rawValue.dropFirst(4).prefix(9))",
            txt: txt
        )
        let hosts = try await RawResponder.run(type, answer) { try await settledHosts(type) }
        #expect(hosts.map(\.txt) == [["k": "first", "bin": "\u{FFFD}\u{FFFD}a"]])
    }

    @Test("A host whose SRV target has no address has that of the sender, and does not keep browsing from settling")
    func deadTarget() async throws {
        let type = uniqueType()
        let answer = RawResponder.Answer(
            instance: Array("Dead".utf8),
            target: "dead-\(type.rawValue.dropFirst(4).prefix(9))",
            hasAddress: false
        )
        let hosts = try await RawResponder.run(type, answer) {
            var hosts: [DiscoveredHost] = []
            // A machine that is busy for seconds loses the answer: a person looks again.
            for _ in 0..<5 where hosts.first?.unresolved != false { hosts = try await settledHosts(type) }
            return hosts
        }
        #expect(hosts.map(\.name) == ["Dead"])
        #expect(hosts.map(\.unresolved) == [false])
        #expect(hosts.first?.flaws == [.senderAddress])
        #expect(hosts.first?.endpoints.map(\.endpoint.description) == ["127.0.0.1:7878"])
    }

    @Test("Port 0 is no place to connect to: the host is unresolved")
    func portZero() async throws {
        let type = uniqueType()
        let answer = RawResponder.Answer(
            instance: Array("Zero".utf8),
            target: "zero-\(type.rawValue.dropFirst(4).prefix(9))",
            port: 0
        )
        let hosts = try await RawResponder.run(type, answer) { try await settledHosts(type) }
        #expect(hosts.map(\.unresolved) == [true])
    }

    @Test("An instance name that is not UTF-8 does no harm")
    func invalidInstanceName() async throws {
        let type = uniqueType()
        let answer = RawResponder.Answer(instance: [0x42, 0xff, 0xc3])
        let hosts = try await RawResponder.run(type, answer) {
            try await publishing("Good", type) { _ in try await resolvedHosts(1, type) }
        }
        #expect(hosts.filter { !$0.unresolved }.map(\.instanceName) == ["Good"])
    }

    @Test("An interface that does not exist is refused before anything starts")
    func unknownInterface() async throws {
        let client = loopbackClient(interface: "nosuchif0")
        let error = await #expect(throws: DiscoveryError.self) {
            try await client.withBrowse { _, _ in Issue.record("it browsed") }
        }
        #expect(error?.code == .invalidInterface)
    }

    @Test("An error of the body ends browsing and comes through")
    func bodyThrows() async {
        struct Stop: Error {}
        await #expect(throws: Stop.self) {
            try await loopbackClient().withBrowse(types: [uniqueType()]) { _, _ in throw Stop() }
        }
    }

    @Test("Cancelling the task ends the stream")
    func cancellation() async throws {
        let (started, signal) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            try await loopbackClient().withBrowse(types: [uniqueType()]) { _, events in
                signal.finish()
                for await _ in events {}
                return Task.isCancelled
            }
        }
        for await _ in started {}
        task.cancel()
        #expect(try await task.value)
    }
}
