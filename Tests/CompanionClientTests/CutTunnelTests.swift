import CompanionClient
import CompanionTestSupport
import CompanionWire
import NIOConcurrencyHelpers
import Testing

/// A tunnel between client and host that is cut at every byte or record of what the host sends, and accepts and closes for
/// a while.
@Suite(.timeLimit(.minutes(15))) struct CutTunnelTests {
    private static let slices = 8

    private func text(_ outputs: [TurnEvent]) -> String {
        outputs.map { if case .text(let text) = $0 { text } else { "" } }.joined()
    }

    private func endpoint(_ relay: CutRelay) throws -> CompanionEndpoint {
        try #require(CompanionEndpoint("127.0.0.1:\(relay.port)"))
    }

    // MARK: Version 1

    /// Sends a prompt by v1.
    private func send(_ prompt: String, through relay: CutRelay) async throws -> [TurnEvent] {
        try await CompanionAPIClient.withClient(endpoint: endpoint(relay), configuration: .quick) { client in
            var outputs: [TurnEvent] = []
            let turn = ChatTurn(client: client, chatID: "c-login", request: .prompt(prompt), clock: ImmediateClock())
            for try await output in turn.run() { outputs.append(output) }
            return outputs
        }
    }

    @Test("By v1 the answer is whole wherever its connection is cut, and the prompt runs once", arguments: 0..<slices)
    func everyByteOfVersion1(slice: Int) async throws {
        try await withFakeMac { mac in
            try await withCutRelay(before: mac.port) { relay in
                var offset = slice
                var sent = 0
                while true {
                    mac.change { $0.messages["c-login"] = [] }
                    relay.cut(after: offset, of: "/companion/chats/c-login/continue", then: .away(connections: 2))
                    let outputs = try await send("Hi \(offset)", through: relay)
                    sent += 1
                    #expect(text(outputs) == "You said: Hi \(offset)", "cut after \(offset) bytes")
                    #expect(mac.prompts == sent, "cut after \(offset) bytes")
                    #expect(mac.messages(of: "c-login").count == 2, "cut after \(offset) bytes")
                    guard relay.wasCut else { break }
                    offset += Self.slices
                }
                #expect(offset > 200, "the head of an answer alone has more bytes")
            }
        }
    }

    @Test(
        "By v1 a tunnel that never comes back is an interruption that says that the prompt may have run",
        arguments: [0, 1, 9, 17, 28, 100]
    )
    func goneByVersion1(offset: Int) async throws {
        try await withFakeMac { mac in
            try await withCutRelay(before: mac.port) { relay in
                relay.cut(after: offset, of: "/companion/chats/c-login/continue", then: .gone)
                let error = try await clientError { try await send("Hi", through: relay) }
                #expect(error.code == .streamInterrupted, "\(error.debugDescription)")
                #expect(error.message.contains("The prompt may have run"), "\(error.message)")
                #expect(mac.prompts == 1)
            }
        }
    }

    // MARK: Version 2

    /// A host of v2 with one turn a command, and the ids of the commands that it has executed.
    private func withHost<R>(
        _ body: (TLSTestHost, _ executed: NIOLockedValueBox<Set<String>>) async throws -> R
    ) async throws -> R {
        let executed = NIOLockedValueBox<Set<String>>([])
        return try await withTLSTestHost { request, _ in
            if request.path == "/companion/command" {
                let id = try request.member("commandId")?.string ?? ""
                let isNew = executed.withLockedValue { $0.insert(id).inserted }
                return [
                    .json(
                        200,
                        #"{"ok":true,"commandId":"\#(id)","replayed":\#(!isNew),"#
                            + #""serverTime":"2026-11-21T09:30:00.000Z","result":{"turnId":"t-\#(id)"}}"#
                    )
                ]
            }
            let frames = [#"{"type":"text","text":"one "}"#, #"{"type":"text","text":"two"}"#, #"{"type":"done"}"#]
            let last = request.header("Last-Event-ID").flatMap(Int.init) ?? 0
            return [.eventsHead] + frames.indices.dropFirst(last).map { .frame($0 + 1, frames[$0]) }
                + [.send("data: [DONE]\n\n"), .close]
        } _: {
            try await body($0, executed)
        }
    }

    /// Sends a prompt by v2.
    private func send(through relay: CutRelay, to host: TLSTestHost) async throws -> [TurnEvent] {
        try await CompanionAPIClient.withClient(
            endpoint: endpoint(relay),
            security: .pinned(PinnedCertificate(der: host.certificate.der)),
            credentials: StubCredentials(token: "t"),
            configuration: .quick,
            clock: ImmediateClock()
        ) { client in
            let turn = try await client.startTurn(chatID: "c1", request: .prompt("Hi"))
            var outputs: [TurnEvent] = []
            let followed = try FollowedTurn(client: client, chatID: "c1", turnID: turn, clock: ImmediateClock())
            for try await output in followed { outputs.append(output) }
            return outputs
        }
    }

    // The bytes of a TLS record are alike to who lacks its end: every 12th is enough, and takes a twelfth of the time.
    @Test(
        "By v2 the answer is whole wherever its connection is cut, the handshake included, and the prompt runs once",
        arguments: 0..<slices
    )
    func anyRecordOfVersion2(slice: Int) async throws {
        try await withHost { host, executed in
            try await withCutRelay(before: host.port) { relay in
                var offset = slice * 12
                while true {
                    executed.withLockedValue { $0 = [] }
                    relay.cut(after: offset, then: .away(connections: 2))
                    let outputs = try await send(through: relay, to: host)
                    #expect(text(outputs) == "one two", "cut after \(offset) bytes")
                    #expect(executed.withLockedValue(\.count) == 1, "cut after \(offset) bytes")
                    guard relay.wasCut else { break }
                    offset += Self.slices * 12
                }
                #expect(offset > 600, "a handshake alone has more bytes")
            }
        }
    }

    @Test("By v2 a tunnel that goes in the handshake is a break, not a stranger", arguments: [0, 1, 5, 130, 300])
    func handshake(offset: Int) async throws {
        try await withHost { host, executed in
            try await withCutRelay(before: host.port) { relay in
                relay.cut(after: offset, then: .gone)
                let error = try await clientError { try await send(through: relay, to: host) }
                // Whether the handshake had ended cannot always be told, so that the prompt may have run.
                #expect([.unreachable, .streamInterrupted].contains(error.code), "\(error.debugDescription)")
                #expect(executed.withLockedValue { $0.isEmpty })
            }
        }
    }

    @Test("By v2 a tunnel that goes after the command is an interruption: the prompt may have run, or has")
    func goneByVersion2() async throws {
        try await withHost { host, executed in
            try await withCutRelay(before: host.port) { relay in
                var interruptions = 0
                for offset in stride(from: 0, through: 2400, by: 40) {
                    executed.withLockedValue { $0 = [] }
                    relay.cut(after: offset, then: .gone)
                    do {
                        _ = try await send(through: relay, to: host)
                    } catch let error as CompanionClientError {
                        guard executed.withLockedValue(\.count) == 1 else {
                            #expect(error.code == .unreachable || error.code == .streamInterrupted)
                            continue
                        }
                        #expect(error.code == .streamInterrupted, "\(offset): \(error.debugDescription)")
                        #expect(error.message.contains("prompt"), "\(error.message)")
                        interruptions += 1
                    }
                }
                #expect(interruptions > 3)
            }
        }
    }

    @Test("A GET whose connection is cut is sent again, wherever it was cut", arguments: 0..<slices)
    func get(slice: Int) async throws {
        try await withFakeMac { mac in
            try await withCutRelay(before: mac.port) { relay in
                var offset = slice
                while true {
                    relay.cut(after: offset, then: .away(connections: 2))
                    let projects = try await CompanionAPIClient.withClient(
                        endpoint: endpoint(relay),
                        configuration: .quick,
                        clock: ImmediateClock()
                    ) { try await $0.projects() }
                    #expect(projects.count == 4, "cut after \(offset) bytes")
                    guard relay.wasCut else { break }
                    offset += Self.slices
                }
                #expect(offset > 300)
            }
        }
    }
}
