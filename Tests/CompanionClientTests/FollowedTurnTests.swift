import CompanionClient
import CompanionTestSupport
import CompanionWire
import Testing

@Suite struct FollowedTurnTests {
    private static let frames = [
        #"{"type":"status","label":"thinking"}"#, #"{"type":"text","text":"one "}"#, #"{"type":"text","text":"two "}"#,
        #"{"type":"tool_start","toolName":"read_file"}"#, #"{"type":"text","text":"three"}"#, #"{"type":"done"}"#,
    ]
    private static let path = "/companion/chats/c1/turns/t1/events"

    /// The frames behind a number, up to another, and the end of the stream behind the last.
    private static func stream(after last: Int, upTo end: Int = frames.count) -> [FakeMacAction] {
        let frames = (last..<max(last, end)).map { FakeMacAction.frame($0 + 1, Self.frames[$0]) }
        return [.eventsHead] + frames + (end == Self.frames.count ? [.send("data: [DONE]\n\n")] : []) + [.close]
    }

    private func follow(_ client: CompanionAPIClient) async throws -> [TurnEvent] {
        var outputs: [TurnEvent] = []
        let turn = try FollowedTurn(client: client, chatID: "c1", turnID: "t1", clock: ImmediateClock())
        for try await output in turn { outputs.append(output) }
        return outputs
    }

    private func text(_ outputs: [TurnEvent]) -> String {
        outputs.map { if case .text(let text) = $0 { text } else { "" } }.joined()
    }

    private func summary(_ outputs: [TurnEvent]) throws -> FinishedTurn {
        guard case .finished(let summary)? = outputs.last else { throw CancellationError() }
        return summary
    }

    @Test("A turn is shown as it comes, to its end")
    func whole() async throws {
        try await withTLSTestHost { _, _ in
            Self.stream(after: 0)
        } _: { host in
            let outputs = try await host.withClient(StubCredentials(token: "t")) { try await follow($0) }
            #expect(text(outputs) == "one two three")
            #expect(try summary(outputs).answer == "one two three")
            #expect(try !summary(outputs).wasRecovered)
            #expect(host.requests.map(\.path) == [Self.path])
        }
    }

    @Test(
        "A stream that breaks behind any frame is taken up there: nothing is lost, nothing comes twice",
        arguments: 0...5
    )
    func resumed(at number: Int) async throws {
        try await withTLSTestHost { request, count in
            let last = request.header("Last-Event-ID").flatMap(Int.init) ?? 0
            return Self.stream(after: last, upTo: count == 1 ? number : Self.frames.count)
        } _: { host in
            let outputs = try await host.withClient(StubCredentials(token: "t")) { try await follow($0) }
            #expect(text(outputs) == "one two three")
            #expect(outputs.count { $0 == .status("thinking") } == 1)
            #expect(outputs.contains { if case .recovering = $0 { true } else { false } })
            let resumed = try #require(host.requests.last)
            #expect(resumed.header("Last-Event-ID") == (number == 0 ? nil : "\(number)"))
        }
    }

    @Test("Frames that a host repeats are shown once")
    func repeated() async throws {
        try await withTLSTestHost { _, count in
            Self.stream(after: 0, upTo: count == 1 ? 3 : Self.frames.count)
        } _: { host in
            let outputs = try await host.withClient(StubCredentials(token: "t")) { try await follow($0) }
            #expect(text(outputs) == "one two three")
        }
    }

    @Test("A connection that does not come back ends the wait after a bounded number of tries")
    func bounded() async throws {
        try await withTLSTestHost { _, _ in
            Self.stream(after: 0, upTo: 0)
        } _: { host in
            let error = try await clientError {
                try await host.withClient(StubCredentials(token: "t")) { try await follow($0) }
            }
            #expect(error.code == .streamInterrupted)
            #expect(host.requests.count == 4)
        }
    }

    /// The part of an answer without an end that is limited.
    enum Flood: String, CaseIterable, Sendable { case text, frames, bytes, connections }

    @Test("An answer without an end is given up, over however many connections it comes", arguments: Flood.allCases)
    func flood(_ flood: Flood) async throws {
        var configuration = CompanionClientConfiguration.quick
        switch flood {
        case .text: configuration.limits.text = 100
        case .frames: configuration.limits.frames = 50
        case .bytes: configuration.limits.answer = 10_000
        case .connections: configuration.limits.answer = 400
        }
        try await withTLSTestHost { request, _ in
            let last = request.header("Last-Event-ID").flatMap(Int.init) ?? 0
            let piece = #"{"type":"text","text":"a piece"}"#
            switch flood {
            case .text: return [.eventsHead] + (1...200).map { FakeMacAction.frame($0, piece) }
            case .frames:
                let status = #"{"type":"status","label":"thinking"}"#
                return [.eventsHead] + (1...200).map { FakeMacAction.frame($0, status) }
            // A frame that was there already is no news: nothing of it is shown, and it is read all the same.
            case .bytes: return [.eventsHead, .frame(1, piece), .endless(Array("id: 1\ndata: \(piece)\n\n".utf8))]
            case .connections: return [.eventsHead, .frame(last + 1, piece), .close]
            }
        } _: { host in
            let error = try await clientError {
                try await host.withClient(StubCredentials(token: "t"), configuration) { try await follow($0) }
            }
            #expect(error.code == .tooLarge)
            #expect(flood == .connections ? host.requests.count > 3 : host.requests.count == 1)
        }
    }

    @Test("An error of the turn is told at its end, and is not tried again")
    func failed() async throws {
        try await withTLSTestHost { _, _ in
            [
                .eventsHead, .frame(1, #"{"type":"text","text":"half"}"#),
                .frame(2, #"{"type":"error","error":"broke"}"#),
                .send("data: [DONE]\n\n"), .close,
            ]
        } _: { host in
            let error = try await clientError {
                try await host.withClient(StubCredentials(token: "t")) { try await follow($0) }
            }
            #expect(error.code == .hostError)
            #expect(error.hostText == "broke")
            #expect(host.requests.count == 1)
        }
    }

    @Test(
        "What a new try cannot mend ends the wait at once",
        arguments: [
            (404, CompanionErrorCode.turnUnknown, CompanionClientError.Code.notFound), (403, .deviceRevoked, .revoked),
        ]
    )
    func final(status: Int, code: CompanionErrorCode, expected: CompanionClientError.Code) async throws {
        try await withTLSTestHost { _, count in
            count == 1 ? Self.stream(after: 0, upTo: 2) : [refused(status, code)]
        } _: { host in
            let error = try await clientError {
                try await host.withClient(StubCredentials(token: "t")) { try await follow($0) }
            }
            #expect(error.code == expected)
            #expect(host.requests.count == 2)
        }
    }
}
