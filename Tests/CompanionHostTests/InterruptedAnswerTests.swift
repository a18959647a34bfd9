import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import GRDB
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import CompanionHost

@Suite("Answers that were cut off", .timeLimit(.minutes(15)))
struct InterruptedAnswerTests {
    private func messages(_ parts: HostParts, _ chat: String) async throws -> [CompanionMessage] {
        let page = try await parts.services.store.messagesPage(chatID: chat, offset: 0, limit: 200)
        return try CompanionJSON.decoder()
            .decode(CompanionMessagesPageResponse.self, from: Data(page.readableBytesView)).messages.elements
    }

    @Test(
        "What a next host finds of an answer goes to the history once, in its order, and nothing of a turn that waited"
    )
    func crash() async throws {
        let (said, say) = AsyncStream.makeStream(of: Void.self)
        let agent = TestAgent { _, emit in
            emit(.text("one "))
            emit(.toolStart(name: "tool", id: "1"))
            emit(.text("\"two\"\n"))
            emit(.text("e\u{301}\0🙂"))
            say.yield()
            let (never, source) = AsyncStream.makeStream(of: Void.self)
            defer { source.finish() }
            for await _ in never {}
        }
        try await HostParts.with(agent: agent) { parts in
            let chat = try await parts.newChat()
            let turn = try await parts.send("go", to: chat)
            let waiting = try await parts.send("later", to: chat)
            for await _ in said { break }
            await parts.services.turns.log.drain()
            #expect(try await messages(parts, chat).map(\.text) == ["go"])
            // Twice: the second host finds nothing to do.
            for _ in 0..<2 {
                _ = try TurnEventLog(database: parts.services.database, clock: parts.services.clock, logger: .silent)
            }
            let found = try await messages(parts, chat)
            #expect(found.map(\.text) == ["go", "one \"two\"\ne\u{301}\0🙂"])
            #expect(found.map(\.interrupted) == [nil, true])
            #expect(try await parts.services.turns.log.turn(id: turn)?.state == .interrupted)
            #expect(try await parts.services.turns.log.turn(id: waiting)?.state == .interrupted)
        }
    }

    @Test("The end of a turn and its answer are stored together, before anybody hears of either")
    func together() async throws {
        let gates = Gates()
        let agent = TestAgent { _, emit in
            emit(.text("answer"))
            // A reader that comes after the end is told how the turn ended, not that it was not stored.
            try await gates.pass("end")
        }
        try await HostParts.with(agent: agent) { parts in
            // The end cannot be stored: neither is the answer, and the readers are not told that it is done.
            try await parts.services.database.write {
                try $0.execute(
                    sql: """
                        CREATE TRIGGER fault BEFORE UPDATE OF endedAt ON turn WHEN NEW.state = 'finished'
                        BEGIN SELECT RAISE(ABORT, 'fault'); END
                        """
                )
            }
            let chat = try await parts.newChat()
            let turn = try await parts.send("go", to: chat)
            var reader = try #require(try await parts.services.turns.log.reader(turnID: turn))
            defer { reader.close() }
            gates.open("end")
            await #expect(throws: CompanionHostError.self) {
                while true { if case .end = try await reader.next() { return } }
            }
            await parts.services.turns.log.drain()
            #expect(try await messages(parts, chat).map(\.text) == ["go"])
            #expect(try await parts.services.turns.log.turn(id: turn)?.state == .failed)
        }
    }

    @Test("A turn that begins is stored with its prompt")
    func running() async throws {
        let parts = NIOLockedValueBox<HostParts?>(nil)
        let states = NIOLockedValueBox<[TurnState?]>([])
        let agent = TestAgent { turn, _ in
            guard let parts = parts.withLockedValue({ $0 }) else { return }
            let stored = try await parts.services.database.read { database in
                try String.fetchOne(database, sql: "SELECT state FROM turn WHERE chat = ?", arguments: [turn.chatID])
            }
            states.withLockedValue { $0.append(stored.flatMap(TurnState.init)) }
        }
        try await HostParts.with(agent: agent) { made in
            parts.withLockedValue { $0 = made }
            let chat = try await made.newChat()
            let turn = try await made.send("go", to: chat)
            #expect(try await made.services.turns.log.all(turn).state == .finished)
            #expect(states.withLockedValue { $0 } == [.running])
            parts.withLockedValue { $0 = nil }
        }
    }
}
