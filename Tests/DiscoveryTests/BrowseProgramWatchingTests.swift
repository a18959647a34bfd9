import Discovery
import Testing

@Suite("The browsing state machine while it keeps watching")
struct BrowseProgramWatchingTests {
    private func watching(limit: Int = 10) -> BrowseProgram {
        var program = BrowseProgram(types: [.companion], keepsWatching: true, resolverLimit: limit)
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
        _ = program.disconnected(DiscoveryError(.engineLost, "gone"))
        #expect(program.handle(.retryDue(.fixture())) == [])
    }

    @Test("At the limit, the oldest resolver makes room, and what failed still gets another try")
    func limit() {
        var program = watching(limit: 2)
        for name in ["A", "B"] { _ = program.handle(.found(.fixture(name))) }
        _ = program.handle(.resolveFailed(.fixture("A")))
        _ = program.handle(.resolved(.fixture("B"), .fixture()))
        #expect(program.handle(.found(.fixture("C"))) == [.release(.fixture("A")), .resolve(.fixture("C"))])
        _ = program.handle(.resolved(.fixture("C"), .fixture()))
        #expect(program.handle(.retryDue(.fixture("A"))) == [.release(.fixture("B")), .resolve(.fixture("A"))])
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
