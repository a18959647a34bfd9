import CompanionWire
import NIOConcurrencyHelpers
import Testing

@testable import CompanionHost

/// How much an agent may say in one turn.
@Suite("Bounds of an agent's turn")
struct ACPBoundTests {
    /// A turn, and how often it was ended.
    private struct Bench {
        let turn: ACPTurn
        let stops: NIOLockedValueBox<Int>

        init(maximumUpdates: Int = 100_000) {
            var limits = ACPConnection.Limits()
            limits.updates = maximumUpdates
            limits.openCalls = 1 << 20
            let stops = NIOLockedValueBox(0)
            turn = ACPTurn(
                limits: limits,
                directory: nil,
                reader: AgentConversation(emit: { _ in }, notice: { _ in }, keepAlive: {}, ask: { $0.rejection }),
                checkMode: {},
                stop: { stops.withLockedValue { $0 += 1 } }
            )
            self.stops = stops
        }

        func update(_ value: JSONValue) { turn.listener.update(ACPUpdate(value), value) }

        /// What the turn fails with.
        func failure() async -> String? {
            do {
                try await turn.run(prompt: { ["stopReason": "end_turn"] }, ask: { $0.rejection }, decide: { _, _ in })
                return nil
            } catch {
                return "\(error)"
            }
        }
    }

    private static func call(_ id: Int, _ members: [String: JSONValue]) -> JSONValue {
        let own: [String: JSONValue] = ["sessionUpdate": "tool_call", "toolCallId": .string("t\(id)")]
        return .object(own.merging(members) { $1 })
    }

    private static let words = JSONValue.string(String(repeating: "x", count: 1 << 14))
    private static let large: [[String: JSONValue]] = [
        ["rawInput": ["command": words]],
        ["content": [["type": "diff", "path": "a", "oldText": "", "newText": words]]],
        // Each of its numbers takes more memory than a byte.
        ["rawInput": .array([JSONValue](repeating: 1, count: 1 << 9))],
    ]

    @Test("Calls that do not end are not kept without limit", arguments: large)
    func open(_ members: [String: JSONValue]) async {
        let bench = Bench()
        for id in 0..<70 { bench.update(Self.call(id, members)) }
        #expect(bench.stops.withLockedValue { $0 } == 1)
        #expect(await bench.failure() == "The agent's open tool calls are over 1 MiB: the turn was ended")
    }

    @Test("Neither calls that end nor changes of the same call add up", arguments: large)
    func ended(_ members: [String: JSONValue]) async {
        let bench = Bench()
        for id in 0..<70 {
            bench.update(Self.call(id, members))
            bench.update(Self.call(id, members.merging(["status": "completed"]) { $1 }))
            bench.update(Self.call(1000, members))
        }
        #expect(await bench.failure() == nil)
    }

    @Test(
        "Messages and thoughts without a word count as updates",
        arguments: ["agent_message_chunk", "agent_thought_chunk"]
    )
    func empty(_ kind: String) async {
        for (text, isEnded) in [("", true), ("word", false)] {
            let bench = Bench(maximumUpdates: 10)
            for _ in 0..<11 {
                bench.update(["sessionUpdate": .string(kind), "content": ["type": "text", "text": .string(text)]])
            }
            let failure = await bench.failure()
            #expect(failure == (isEnded ? "The agent sent updates without end: the turn was ended" : nil))
        }
    }

    @Test("Of what an agent tells beside its answer, one line says that more is left out, and the answer goes on")
    func activities() {
        let frames = NIOLockedValueBox<[TurnEvent]>([])
        let sink = AnswerSink(publish: { frame in frames.withLockedValue { $0.append(frame) } }, overflow: {})
        let media = AgentMedia(mimeType: "image/png", size: 1, data: String(repeating: "A", count: 1 << 20))
        for _ in 0..<10 { sink.emit(.media(media)) }
        sink.emit(.text("Done."))
        let published = frames.withLockedValue { $0 }
        let cut = published.filter { $0 == .status("Thoughts and tools over 8 MiB are left out") }
        #expect(cut.count == 1)
        #expect(published.last == .text("Done."))
        let pictures = published.count { if case .media = $0 { true } else { false } }
        #expect(pictures == 7, "with its other members, each is a little larger than a MiB")
    }

    @Test(
        "What an agent sends without an end is ended, however small its pieces are",
        arguments: [.text("a"), .thought("a"), .status("a"), nil] as [TurnEvent?]
    )
    func endless(_ event: TurnEvent?) {
        let overflows = NIOLockedValueBox(0)
        let sink = AnswerSink(
            maximumEvents: 100,
            publish: { _ in },
            overflow: { overflows.withLockedValue { $0 += 1 } }
        )
        func send() {
            if let event { sink.emit(event) } else { sink.keepAlive() }
        }
        for _ in 0..<100 { send() }
        #expect(overflows.withLockedValue { $0 } == 0)
        for _ in 0..<10 { send() }
        #expect(overflows.withLockedValue { $0 } == 1)
    }
}
