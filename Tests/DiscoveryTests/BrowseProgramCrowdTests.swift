import Testing

@testable import Discovery

@Suite("The browsing state machine with many hosts, and with hosts that do not resolve")
struct BrowseProgramCrowdTests {
    private func browsing(_ limits: BrowseLimits = BrowseLimits(resolvers: 256)) -> BrowseProgram {
        var program = BrowseProgram(types: [.companion], limits: { _ in limits })
        _ = program.connected(to: .embedded)
        return program
    }

    private func resolveds(_ commands: [EngineCommand<DiscoveryEvent>]) -> Int {
        commands.count { if case .resolve = $0 { true } else { false } }
    }

    @Test("No more than 128 are resolved at a time, and each answer makes room for another", arguments: [128, 1000])
    func most(resolvers: Int) {
        var program = browsing(BrowseLimits(resolvers: resolvers))
        var started = 0
        for index in 0..<500 { started += resolveds(program.handle(.found(.fixture("Host \(index)")))) }
        started += resolveds(program.handle(.woke))
        #expect(started == 128)
        for index in 0..<500 {
            started += resolveds(program.handle(.resolved(.fixture("Host \(index)"), .fixture(host: "\(index).local"))))
        }
        #expect(started == 500)
    }

    @Test("One tick is asked for at a time, and none where nothing is waited for")
    func ticks() {
        var program = browsing()
        let wakes = ["A", "B"].map { name in
            program.handle(.found(.fixture(name))).count { if case .wake = $0 { true } else { false } }
        }
        #expect(wakes == [1, 0])
        for name in ["A", "B"] { _ = program.handle(.resolved(.fixture(name), .fixture())) }
        _ = program.handle(.allForNow(.companion))
        #expect(program.handle(.woke) == [.release(.fixture("A")), .release(.fixture("B"))])
        #expect(program.handle(.woke) == [])
    }

    @Test("A host that the engine does not resolve is asked, and its answer stands when the engine gives up")
    func asks() {
        var program = browsing()
        _ = program.handle(.found(.fixture("Bare")))
        _ = program.handle(.allForNow(.companion))
        var asked = 0
        for _ in 0..<5 { asked += program.handle(.woke).count { $0 == .ask(.fixture("Bare")) } }
        #expect(asked == 1)
        var answer = ServiceResolution.fixture(host: "macbook")
        answer.isSenderAddress = true
        let commands = program.handle(.answered(.fixture("Bare"), answer))
        guard case .emit(.added(let host)) = commands.first else {
            Issue.record("no host in \(commands)")
            return
        }
        #expect(host.flaws == [.senderAddress])
        #expect(commands.contains(.emit(.settled)))
        let end = program.handle(.resolveFailed(.fixture("Bare")))
        #expect(end.allSatisfy { $0 == .release(.fixture("Bare")) })
    }

    @Test("Hosts that are found late keep a crowd from settling until the next query was answered")
    func late() {
        var program = browsing(BrowseLimits(resolvers: 1000))
        for index in 0..<200 {
            let instance = ServiceInstance.fixture("Host \(index)")
            if index == 199 { _ = program.handle(.allForNow(.companion)) }
            _ = program.handle(.found(instance))
            _ = program.handle(.resolved(instance, .fixture(host: "\(index).local")))
        }
        var ticks = 0
        while ticks < 20, !program.handle(.woke).contains(.emit(.settled)) {
            ticks += 1
            for index in 0..<200 {
                _ = program.handle(.resolved(.fixture("Host \(index)"), .fixture(host: "\(index).local")))
            }
        }
        #expect(ticks == 8)
    }

    @Test("An engine that may have dropped records is not taken at its word", arguments: [(16, true), (17, false)])
    func full(limit: (entries: Int, isFull: Bool)) {
        var program = browsing(BrowseLimits(resolvers: 10, cacheEntries: limit.entries - 1))
        for name in ["A", "B"] {
            _ = program.handle(.found(.fixture(name)))
            _ = program.handle(.resolved(.fixture(name), .fixture(host: "\(name).local")))
        }
        let end = program.handle(.allForNow(.companion))
        let told = DiscoveryEvent.incomplete(.engineFull(limit: limit.entries - 1, used: 8))
        #expect(end.contains(.emit(told)) == limit.isFull)
    }
}

@Suite("What the Avahi daemon takes")
struct DaemonLimitTests {
    @Test("Its limits are read from its configuration, comments aside")
    func limits() {
        let text = "[server]\n#cache-entries-max=7\ncache-entries-max = 9000\nobjects-per-client-max=100\n"
        #expect(DaemonLimits.parse(text) == BrowseLimits(resolvers: 36, cacheEntries: 9000))
        #expect(DaemonLimits.parse("#objects-per-client-max=1\n") == BrowseLimits(resolvers: 960, cacheEntries: 4096))
    }
}
