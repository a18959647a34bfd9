import Discovery
import Testing

@Suite("The browsing state machine")
struct BrowseProgramTests {
    private let lost = DiscoveryError(.engineLost, message: "gone")

    @Test("It browses every type once, all at the start")
    func start() {
        var program = BrowseProgram(types: [.lumi, .companion, .lumi])
        #expect(program.connected(to: .embedded) == [.browse(.lumi), .browse(.companion)])
    }

    @Test("It settles when every browser has reported and everything found is resolved or has failed")
    func settles() {
        var program = BrowseProgram(types: [.companion, .lumi])
        _ = program.connected(to: .embedded)
        let (first, second) = (ServiceInstance.fixture(), ServiceInstance.fixture("Dead"))
        #expect(program.handle(.found(first)) == [.resolve(first), .tick])
        #expect(program.handle(.found(second)) == [.resolve(second)])
        #expect(program.handle(.allForNow(.companion)) == [])
        let resolved = program.handle(.resolved(first, .fixture()))
        #expect(resolved.count == 1 && !resolved.contains(.emit(.settled)))
        #expect(program.handle(.allForNow(.lumi)) == [])
        let end = program.handle(.resolveFailed(second))
        #expect(end.last == .emit(.settled))
    }

    @Test("Resolvers are released a while after it has settled: whoever wants to know no more does not wait for it")
    func releasesAfterwards() {
        var program = BrowseProgram(types: [.companion])
        _ = program.connected(to: .embedded)
        #expect(program.handle(.found(.fixture())) == [.resolve(.fixture()), .tick])
        _ = program.handle(.resolved(.fixture(), .fixture()))
        #expect(program.handle(.allForNow(.companion)) == [.emit(.settled)])
        #expect(program.handle(.woke) == [.release(.fixture())])

        // Also where no tick was on its way.
        program = BrowseProgram(types: [.companion])
        _ = program.connected(to: .embedded)
        _ = program.handle(.found(.fixture()))
        _ = program.handle(.resolved(.fixture(), .fixture()))
        #expect(program.handle(.woke) == [])
        #expect(program.handle(.allForNow(.companion)) == [.emit(.settled), .tick])
        #expect(program.handle(.woke) == [.release(.fixture())])
    }

    @Test("It settles at once where there is nothing")
    func settlesEmpty() {
        var program = BrowseProgram(types: [.lumi])
        _ = program.connected(to: .embedded)
        #expect(program.handle(.allForNow(.lumi)) == [.emit(.settled)])
        #expect(program.handle(.allForNow(.lumi)) == [])
        var nothing = BrowseProgram(types: [])
        #expect(nothing.connected(to: .embedded) == [.emit(.settled)])
    }

    @Test("It does not wait for an instance that left while it was being resolved")
    func leftWhileResolving() {
        var program = BrowseProgram(types: [.companion])
        _ = program.connected(to: .embedded)
        _ = program.handle(.found(.fixture()))
        _ = program.handle(.allForNow(.companion))
        #expect(program.handle(.left(.fixture())) == [.release(.fixture()), .emit(.settled)])
        #expect(program.handle(.resolved(.fixture(), .fixture())) == [])
    }

    @Test("An instance that is reported twice is resolved once")
    func foundTwice() {
        var program = BrowseProgram(types: [.companion])
        _ = program.connected(to: .embedded)
        #expect(program.handle(.found(.fixture())) == [.resolve(.fixture()), .tick])
        #expect(program.handle(.found(.fixture())) == [])
    }

    @Test("After it has settled, resolvers are released as soon as they have answered")
    func releasesLater() {
        var program = BrowseProgram(types: [.companion])
        _ = program.connected(to: .embedded)
        _ = program.handle(.allForNow(.companion))
        _ = program.handle(.found(.fixture()))
        let commands = program.handle(.resolved(.fixture(), .fixture()))
        #expect(commands.last == .release(.fixture()))
        #expect(!commands.contains(.emit(.settled)))
    }

    @Test("Of a thousand instances, no more than the limit have a resolver, and all get one")
    func limit() {
        var program = BrowseProgram(types: [.companion], limits: { _ in BrowseLimits(resolvers: 10) })
        var open: Set<ServiceInstance> = []
        var resolved = 0
        var most = 0
        var isSettled = false
        func carryOut(_ commands: [EngineCommand<DiscoveryEvent>]) {
            for command in commands {
                switch command {
                case .resolve(let instance): open.insert(instance)
                case .release(let instance): #expect(open.remove(instance) != nil)
                case .emit(.added): resolved += 1
                case .emit(.settled): isSettled = true
                default: break
                }
                most = max(most, open.count)
            }
        }
        carryOut(program.connected(to: .embedded))
        var waiting: [ServiceInstance] = []
        for index in 0..<1000 {
            let instance = ServiceInstance.fixture("Host \(index)")
            waiting.append(instance)
            carryOut(program.handle(.found(instance)))
        }
        carryOut(program.handle(.allForNow(.companion)))
        while let next = waiting.first(where: open.contains) {
            waiting.removeAll { $0 == next }
            carryOut(program.handle(.resolved(next, .fixture())))
        }
        // So many are not believed to be all before it has been quiet for a while.
        #expect(!isSettled)
        for _ in 0..<2 { carryOut(program.handle(.woke)) }
        #expect(resolved == 1000)
        #expect(most == 10)
        #expect(isSettled)
        carryOut(program.handle(.woke))
        #expect(open.isEmpty)
    }

    @Test("After an interruption it browses anew; what has not come back is removed when it settles")
    func reconnects() {
        var program = BrowseProgram(types: [.companion])
        _ = program.connected(to: .embedded)
        for name in ["Stays", "Goes"] {
            _ = program.handle(.found(.fixture(name)))
            _ = program.handle(.resolved(.fixture(name), .fixture()))
        }
        _ = program.handle(.allForNow(.companion))
        #expect(program.disconnected(lost) == [.emit(.interrupted(lost, .embedded))])
        #expect(program.connected(to: .embedded) == [.browse(.companion), .emit(.resumed(.embedded))])
        #expect(program.handle(.found(.fixture("Stays"))) == [.resolve(.fixture("Stays")), .tick])
        #expect(program.handle(.resolved(.fixture("Stays"), .fixture())) == [])
        let end = program.handle(.allForNow(.companion))
        guard case .emit(.removed(let host)) = end.first else {
            Issue.record("no removal in \(end)")
            return
        }
        #expect(host.name == "Goes")
        #expect(end.dropFirst().first == .emit(.settled))
    }
}
