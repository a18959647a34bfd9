import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import NIOConcurrencyHelpers
import Testing

@testable import CompanionClient

/// Prompts that waited, at a host of protocol v2 whose answers are lost or late.
@Suite struct PromptJournalTests {
    private static let deviceID = String(repeating: "0123456789abcdef", count: 2)

    /// A device whose commands are whole.
    private struct Signer: DeviceCredentials {
        func sessionToken() -> String? { "t" }
        func keep(_ grant: SessionGrant) {}
        func sessionRequest(now: Date) -> [UInt8] { [] }
        func signedCommand(_ payload: CommandPayload, id: UUID, now: Date) throws -> [UInt8] {
            try PromptJournalTests.command(payload, id: id, at: now).body
        }
    }

    private static func command(_ payload: CommandPayload, id: UUID, at date: Date) throws -> SignedCommand {
        try SignedCommand(
            commandId: id,
            issuedAt: date,
            expiresAt: date.addingTimeInterval(300),
            deviceId: deviceID,
            audience: deviceID,
            nonce: (0..<16).map { _ in UInt8.random(in: 0...255) },
            payload: payload
        ) { _ in [UInt8](repeating: 0, count: 64) }
    }

    /// What came of an attempt to send a prompt that waits.
    private struct Attempt {
        var turn: String?
        var error: CompanionClientError?
        /// The commands that were sent.
        var bodies: [[UInt8]] = []
        /// The command of the attempt before.
        var earlier: [UInt8]?
        /// What is left on the disk.
        var prompts: [WaitingPrompt] = []
    }

    /// Sends a prompt that waits, once, to a host that has some messages.
    ///
    /// - Parameters:
    ///   - sent: When an earlier attempt signed the command; nil if there was none.
    ///   - messages: Those of the chat.
    ///   - hostAhead: How many seconds the host's clock is ahead of this machine's.
    ///   - before: Called before the attempt.
    private func attempt(
        sent: Date?,
        messages: [(role: String, text: String, at: Date)] = [],
        hostAhead: TimeInterval = 0,
        before: (OutboxStore, String) throws -> Void = { _, _ in }
    ) async throws -> Attempt {
        let start = Date()
        return try await withTLSTestHost { request, _ in
            let now = Date().addingTimeInterval(hostAhead)
            let time = CompanionTimestamp.string(from: now)
            if request.path == "/companion/command" {
                let issued = try #require(CompanionTimestamp.date(from: try request.member("issuedAt")?.string ?? ""))
                guard issued <= now.addingTimeInterval(60) else {
                    return [refused(400, .commandBadTime, #","serverTime":"\#(time)""#)]
                }
                guard issued.addingTimeInterval(300) > now else {
                    return [refused(400, .commandExpired, #","serverTime":"\#(time)""#)]
                }
                let id = try request.member("commandId")?.string ?? ""
                return [
                    .json(
                        200,
                        #"{"ok":true,"commandId":"\#(id)","replayed":false,"serverTime":"\#(time)","result":{"turnId":"t1"}}"#
                    )
                ]
            }
            let rows = messages.enumerated().map { index, message in
                #"{"id":"m\#(index)","role":"\#(message.role)","text":"\#(message.text)","#
                    + #""createdAt":"\#(CompanionTimestamp.string(from: message.at))"}"#
            }
            return [
                .json(200, #"{"ok":true,"chatId":"c1","messages":[\#(rows.joined(separator: ","))],"nextCursor":null}"#)
            ]
        } _: { host in
            try await withTemporaryDirectory { folder in
                let store = OutboxStore(path: folder + "/outbox.json")
                let id = try #require(try store.update { $0.add("why?", in: "", allowedTools: nil, at: start) }).id
                let request = ContinueChatRequest(prompt: "why?", projectPath: nil, model: nil, allowedTools: nil)
                let earlier = try sent.map { date in
                    let payload = CommandPayload.chatSend(chatID: "c1", prompt: "why?", model: nil, allowedTools: nil)
                    return try Self.command(payload, id: UUID(), at: date)
                }
                try store.update { outbox in
                    outbox.change(id) { prompt in
                        prompt.chatID = "c1"
                        prompt.commandID = UUID(uuidString: earlier?.commandId ?? "") ?? UUID()
                        prompt.command = earlier.map { command in
                            SentCommand(
                                body: String(decoding: command.body, as: UTF8.self),
                                issuedAt: command.issuedAt,
                                expiresAt: command.expiresAt
                            )
                        }
                    }
                }
                let waiting = try #require(try store.load().prompts.first)
                try before(store, id)
                var attempt = Attempt(earlier: earlier?.body)
                do {
                    attempt.turn = try await CompanionAPIClient.withClient(
                        endpoint: host.endpoint,
                        security: .pinned(PinnedCertificate(der: host.certificate.der)),
                        credentials: Signer(),
                        configuration: .quick
                    ) {
                        try await $0.startTurn(
                            chatID: "c1",
                            request: request,
                            journal: PromptJournal(waiting, in: store)
                        )
                    }
                } catch let error as CompanionClientError {
                    attempt.error = error
                }
                attempt.bodies = host.requests("POST", "/companion/command").map(\.body)
                attempt.prompts = try store.load().prompts
                return attempt
            }
        }
    }

    @Test("The command is on the disk before it is sent, and a later attempt sends the same bytes")
    func sameBytes() async throws {
        let first = try await attempt(sent: nil)
        #expect(first.turn == "t1" && first.error == nil)
        #expect(first.bodies == first.prompts.map { Array(($0.command?.body ?? "").utf8) })
        let second = try await attempt(sent: Date().addingTimeInterval(-60))
        #expect(second.turn == "t1" && second.error == nil)
        #expect(second.bodies == [second.earlier])
    }

    @Test("A prompt that was removed or sent meanwhile is not sent", arguments: [true, false])
    func removed(hasCommand: Bool) async throws {
        let sent = hasCommand ? Date().addingTimeInterval(-60) : nil
        for isRemoved in [true, false] {
            let result = try await attempt(sent: sent) { store, id in
                try store.update { if isRemoved { $0.finish(id) } else { _ = $0.begin(id) } }
            }
            #expect(result.error?.code == .busy)
            #expect(result.bodies.isEmpty)
        }
    }

    @Test("A command whose time is over is signed anew only if the chat has no such prompt")
    func expired() async throws {
        let sent = Date().addingTimeInterval(-1000)
        let there = try await attempt(sent: sent, messages: [("user", "why?", sent), ("assistant", "so", sent)])
        #expect(there.turn == nil && there.error == nil, "the host has it")
        #expect(there.bodies == [there.earlier])
        // The same words, said long before.
        let new = try await attempt(sent: sent, messages: [("user", "why?", sent.addingTimeInterval(-500))])
        #expect(new.turn == "t1" && new.error == nil)
        try #require(new.bodies.count == 2)
        #expect(new.bodies[0] == new.earlier && new.bodies[1] != new.earlier)
        #expect(new.prompts.map { Array(($0.command?.body ?? "").utf8) } == [new.bodies[1]])
    }

    @Test("Where the clocks differ a prompt is sent once, at the first attempt", arguments: [-7200.0, 7200])
    func otherClock(hostAhead: TimeInterval) async throws {
        // The same words were said a moment ago: they are not this prompt.
        let said = Date().addingTimeInterval(hostAhead - 60)
        let result = try await attempt(sent: nil, messages: [("user", "why?", said)], hostAhead: hostAhead)
        #expect(result.turn == "t1" && result.error == nil, "\(result)")
        #expect(result.bodies.count == 2, "one that the host refused by its clock, and one by that clock")
    }

    @Test("A command that was signed by a clock far ahead was never executed: it does not wait until its time comes")
    func fromTheFuture() async throws {
        let result = try await attempt(sent: Date().addingTimeInterval(7200))
        #expect(result.turn == "t1" && result.error == nil, "\(result)")
        try #require(result.bodies.count == 2)
        #expect(result.bodies[0] == result.earlier && result.bodies[1] != result.earlier)
    }

    @Test("Shortly after its time, a command may still be executed: nothing is sent, and the prompt waits")
    func recent() async throws {
        let result = try await attempt(sent: Date().addingTimeInterval(-310))
        #expect(result.error?.code == .busy && result.error?.delivery == .notSent)
        #expect(result.bodies.count == 1)
        #expect(result.prompts.map(\.state) == [.waiting])
    }

    @Test("A prompt that was sent by a signed command is not sent by protocol 1 too")
    func version1() async throws {
        let result = try await attempt(sent: Date().addingTimeInterval(-60)) { store, id in
            let waiting = try #require(try store.load().prompts.first)
            let error = #expect(throws: CompanionClientError.self) { try PromptJournal(waiting, in: store).begin() }
            #expect(error?.code == .streamInterrupted && error?.delivery == .unknown)
        }
        #expect(result.prompts.map(\.state) == [.uncertain])
        #expect(result.bodies.isEmpty)
    }

    @Test("The chat that is made for a prompt is that of all which wait for the same new one")
    func newChat() throws {
        var outbox = Outbox()
        let (new, other, now) = (UUID(), UUID(), Date(timeIntervalSince1970: 1_800_000_000))
        for key in [new, other, new, nil] {
            let added = outbox.add("why?", in: "", allowedTools: nil, at: .now)
            outbox.change(try #require(added).id) {
                $0.projectID = "p1"
                $0.newChatID = key
            }
        }
        outbox.setChat("c1", of: outbox.prompts[0].id, at: now)
        #expect(outbox.prompts.map(\.chatID) == ["c1", nil, "c1", nil])
        outbox.setChat("c2", of: outbox.prompts[3].id, at: now)
        #expect(outbox.prompts.map(\.chatID) == ["c1", nil, "c1", "c2"])
        // Who began the chat finds it after its prompts are sent, for a month.
        for prompt in outbox.prompts where prompt.newChatID != other { outbox.finish(prompt.id) }
        outbox = try CompanionJSON.decoder().decode(Outbox.self, from: CompanionJSON.encoder().encode(outbox))
        #expect(outbox.chat(madeFor: new) == "c1" && outbox.chat(madeFor: other) == nil)
        outbox.setChat("c3", of: outbox.prompts[0].id, at: now.addingTimeInterval(31 * 24 * 3600))
        #expect(outbox.chat(madeFor: new) == nil && outbox.chat(madeFor: other) == "c3")
    }
}
