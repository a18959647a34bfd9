import CompanionTestSupport
import CompanionWire
import NIOConcurrencyHelpers
import Testing

@testable import CompanionClient

@Suite struct LumiConnectionTests {
    @Test func `the first generation takes anybody`() async throws {
        try await withFakeLumi(.with { $0.generation = .open }) { host in
            try await host.withConnection { client async throws in
                #expect(try await client.requestApproval(deviceName: "desk") == .open)
                #expect(try await client.volume() == 50)
            }
            #expect(host.commands.map(\.name) == ["ping", "get_volume"])
            #expect(host.commands[0].parameters == ["device_name": "desk"])
        }
    }

    @Test func `the third one is asked again, a second later each time, until its user accepts`() async throws {
        let clock = ImmediateClock()
        let left = NIOLockedValueBox<[Int]>([])
        try await withFakeLumi(.with { $0.user = .accepts(atPing: 4) }) { host in
            try await host.withConnection(clock: clock) { client async throws in
                let delegate = LumiApprovalDelegate(waiting: { seconds in left.withLockedValue { $0.append(seconds) } })
                #expect(try await client.requestApproval(deviceName: "desk", delegate: delegate) == .approval)
            }
            #expect(host.commands.map(\.name) == ["ping", "ping", "ping", "ping"])
            #expect(host.connections == 1)
        }
        #expect(left.withLockedValue(\.self) == [59, 58, 57])
        #expect(clock.now.offset == .seconds(3))
    }

    @Test func `nobody at the Mac: sixty questions on one connection, then it is over`() async throws {
        try await withFakeLumi(.with { $0.user = .isAway }) { host in
            let error = try await clientError {
                try await host.withConnection { try await $0.requestApproval(deviceName: "desk") }
            }
            #expect(error.code == .timedOut)
            #expect(host.commands.count == 60)
            #expect(host.connections == 1, "a new connection would be a new question on the Mac's screen")
        }
    }

    @Test(arguments: [1, 3])
    func `a refusal is one, and is not argued with`(_ ping: Int) async throws {
        try await withFakeLumi(.with { $0.user = .rejects(atPing: ping) }) { host in
            let error = try await clientError {
                try await host.withConnection { try await $0.requestApproval(deviceName: "desk") }
            }
            #expect(error.code == (ping == 1 ? .unreachable : .forbidden), "at first an end may mean anything")
            #expect(host.connections == 1)
            #expect(host.commands.count == ping)
        }
    }

    @Test func `the second generation gets the six digits with a ping`() async throws {
        try await withFakeLumi(.with { $0.generation = .code }) { host in
            let asked = NIOLockedValueBox<[Bool]>([])
            let codes = NIOLockedValueBox(["271828", "314159"])
            let delegate = LumiApprovalDelegate(code: { isRepeated in
                asked.withLockedValue { $0.append(isRepeated) }
                return codes.withLockedValue { $0.removeFirst() }
            })
            try await host.withConnection { client async throws in
                #expect(try await client.requestApproval(deviceName: "desk", delegate: delegate) == .code)
            }
            #expect(asked.withLockedValue(\.self) == [false, true])
            #expect(host.commands.map { $0.parameters["pair_code"] } == [nil, "271828", "314159"])
        }
    }

    @Test func `nothing but a ping is sent before the host has accepted`() async throws {
        try await withFakeLumi { host in
            try await host.withConnection { client async throws in
                let error = try await clientError { try await client.volume() }
                #expect(error.code == .notPaired)
                #expect(error.delivery == .notSent)
                _ = try await client.requestApproval(deviceName: "desk")
                #expect(try await client.volume() == 50)
            }
            #expect(host.commands.map(\.name) == ["ping", "ping", "get_volume"])
        }
    }

    @Test func `many who ask at once take turns`() async throws {
        // Two frames in one read would end the app there.
        try await withLumi(.with { $0.parsesByRead = true }) { host, client async throws in
            let levels = try await withThrowingTaskGroup(of: Int?.self) { group in
                for _ in 0..<20 { group.addTask { try await client.volume() } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(levels == [Int?](repeating: 50, count: 20))
            #expect(host.commands("get_volume").count == 20)
        }
    }

    @Test func `one who gives up while waiting for a turn leaves it to the others`() async throws {
        try await withLumi(.fault(.hold(gate: "answer"), times: 1)) { host, client async throws in
            async let first = client.volume()
            try await host.reached("answer")
            let impatient = Task { try await client.volume() }
            let third = Task { try await client.volume() }
            impatient.cancel()
            await #expect(throws: CancellationError.self) { try await impatient.value }
            host.release("answer")
            #expect(try await first == 50)
            #expect(try await third.value == 50)
        }
    }

    @Test func `nothing that listens is unreachable, and known not to have been sent`() async throws {
        let error = try await withClosedPort { endpoint in
            try await clientError { try await LumiClient.withClient(endpoint: endpoint) { _ in } }
        }
        #expect(error.code == .unreachable)
        #expect(error.delivery == .notSent)
    }

    @Test func `an address that is not local is refused before a connection is made`() async throws {
        let endpoint = try #require(CompanionEndpoint("8.8.8.8:47285"))
        let error = try await clientError { try await LumiClient.withClient(endpoint: endpoint) { _ in } }
        #expect(error.code == .refusedAddress)
    }
}
