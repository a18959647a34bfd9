import Discovery
import Testing

@Suite("The browsing state machine while it keeps watching")
struct BrowseProgramWatchingTests {
    private func watching(limit: Int = 10) -> BrowseProgram {
        var program = BrowseProgram(
            types: [.companion],
            keepsWatching: true,
            limits: { _ in BrowseLimits(resolvers: limit) }
        )
        _ = program.connected(to: .embedded)
        return program
    }

    @Test("Resolvers stay when all is settled, and go with their instance")
    func keeps() {
        var program = watching()
        _ = program.handle(.found(.fixture()))
        _ = program.handle(.allForNow(.companion))
        let end = program.handle(.resolved(.fixture(), .fixture()))
        #expect(end.last == .emit(.settled))
        #expect(!end.contains(.release(.fixture())))
        #expect(program.handle(.left(.fixture())).contains(.release(.fixture())))
    }

    @Test("A host that comes and one that leaves are told of by the very event, with no tick to be waited for")
    func atOnce() {
        var program = watching()
        #expect(program.handle(.allForNow(.companion)) == [.emit(.settled)])
        #expect(program.handle(.found(.fixture())).first == .resolve(.fixture()))
        let comes = program.handle(.resolved(.fixture(), .fixture()))
        guard case .emit(.added(let host)) = comes.first, comes.count == 1 else {
            Issue.record("it is not added at once: \(comes)")
            return
        }
        #expect(program.handle(.left(.fixture())) == [.emit(.removed(host)), .release(.fixture())])
    }

    @Test(
        "What a resolver reports again changes the host, and settles nothing a second time",
        arguments: [
            ServiceResolution.fixture(txt: "os=mac"), .fixture("192.168.1.5:9000"), .fixture("192.168.1.6:7878"),
        ]
    )
    func changes(news: ServiceResolution) throws {
        var program = watching()
        _ = program.handle(.found(.fixture()))
        _ = program.handle(.resolved(.fixture(), .fixture()))
        _ = program.handle(.allForNow(.companion))
        let commands = program.handle(.resolved(.fixture(), news))
        guard case .emit(.changed(let host)) = commands.first, commands.count == 1 else {
            Issue.record("no single change in \(commands)")
            return
        }
        #expect(host.endpoints.map(\.endpoint) == [news.endpoint])
        #expect(host.txt == news.txt.values)
        #expect(program.handle(.resolved(.fixture(), news)) == [])
    }

    @Test("What does not resolve is tried again after pauses that grow up to a minute")
    func retries() {
        var program = watching()
        _ = program.handle(.found(.fixture()))
        _ = program.handle(.allForNow(.companion))
        var pauses: [Duration] = []
        for _ in 0..<8 {
            for case .retry(_, let pause) in program.handle(.resolveFailed(.fixture())) {
                pauses.append(pause)
            }
            #expect(program.handle(.retryDue(.fixture())) == [.release(.fixture()), .resolve(.fixture())])
        }
        #expect(pauses == [2, 4, 8, 16, 32, 64, 64, 64].map { .seconds($0) })
    }

    @Test("A retry that is due is forgotten when the instance was resolved, has left or the engine was lost")
    func forgets() {
        var program = watching()
        _ = program.handle(.found(.fixture()))
        _ = program.handle(.resolveFailed(.fixture()))
        _ = program.handle(.resolved(.fixture(), .fixture()))
        #expect(program.handle(.retryDue(.fixture())) == [])
        // The pauses begin anew.
        #expect(program.handle(.resolveFailed(.fixture())).contains(.retry(.fixture(), after: .seconds(2))))
        _ = program.handle(.left(.fixture()))
        #expect(program.handle(.retryDue(.fixture())) == [])
        _ = program.handle(.found(.fixture()))
        _ = program.handle(.resolveFailed(.fixture()))
        _ = program.disconnected(DiscoveryError(.engineLost, message: "gone"))
        #expect(program.handle(.retryDue(.fixture())) == [])
    }

    @Test("At the limit, the oldest resolver makes room, and what failed still gets another try")
    func limit() {
        var program = watching(limit: 2)
        for name in ["A", "B"] { _ = program.handle(.found(.fixture(name))) }
        _ = program.handle(.resolveFailed(.fixture("A")))
        _ = program.handle(.resolved(.fixture("B"), .fixture()))
        let third = program.handle(.found(.fixture("C")))
        #expect(third == [.release(.fixture("A")), .emit(.incomplete(.unwatched(1))), .resolve(.fixture("C"))])
        _ = program.handle(.resolved(.fixture("C"), .fixture()))
        #expect(program.handle(.retryDue(.fixture("A"))) == [.release(.fixture("B")), .resolve(.fixture("A"))])
    }

    @Test("What had resolved and does not any more is removed, stays away while it fails, and is added when it is back")
    func expires() {
        var program = watching()
        _ = program.handle(.found(.fixture()))
        _ = program.handle(.resolved(.fixture(), .fixture()))
        let commands = program.handle(.resolveFailed(.fixture()))
        guard case .emit(.removed(let host)) = commands.first else {
            Issue.record("no removal in \(commands)")
            return
        }
        #expect(!host.unresolved)
        #expect(commands.contains(.retry(.fixture(), after: .seconds(2))))
        #expect(program.handle(.retryDue(.fixture())) == [.release(.fixture()), .resolve(.fixture())])
        #expect(program.handle(.resolveFailed(.fixture())) == [.retry(.fixture(), after: .seconds(4))])
        guard case .emit(.added) = program.handle(.resolved(.fixture(), .fixture())).first else {
            Issue.record("it is not added")
            return
        }
    }

    @Test("An interruption names the engine that is gone, and the next word the one that goes on")
    func engines() {
        var program = BrowseProgram(types: [], keepsWatching: true)
        let lost = DiscoveryError(.engineLost, message: "gone")
        _ = program.connected(to: .daemon)
        #expect(program.disconnected(lost) == [.emit(.interrupted(lost, .daemon))])
        #expect(program.connected(to: .embedded).contains(.emit(.resumed(.embedded))))
        #expect(program.disconnected(lost) == [.emit(.interrupted(lost, .embedded))])
    }

    @Test("Without watching, nothing is tried again")
    func plain() {
        var program = BrowseProgram(types: [.companion])
        _ = program.connected(to: .embedded)
        _ = program.handle(.found(.fixture()))
        let commands = program.handle(.resolveFailed(.fixture()))
        #expect(commands.count == 1)
        #expect(program.handle(.retryDue(.fixture())) == [])
    }
}
