import CompanionWire
import Testing

@testable import Discovery

@Suite(.timeLimit(.minutes(5))) struct EngineEventsTests {
    @Test("What an instance resolves to goes ahead of what else waits; otherwise they come in order, and all of them")
    func order() async {
        let events = EngineEvents()
        for name in ["A", "B"] { events.send(.found(.fixture(name))) }
        events.send(.resolved(.fixture("A"), .fixture()))
        events.send(.left(.fixture("B")))
        events.send(.resolveFailed(.fixture("B")))
        events.finish()
        var seen: [EngineEvent] = []
        for await event in events { seen.append(event) }
        #expect(
            seen == [
                .resolved(.fixture("A"), .fixture()), .resolveFailed(.fixture("B")), .found(.fixture("A")),
                .found(.fixture("B")), .left(.fixture("B")),
            ]
        )
    }

    @Test("In a crowd all come in order, and no answer overtakes another")
    func crowd() async {
        let events = EngineEvents()
        let found = (0..<40).map { EngineEvent.found(.fixture("\($0)")) }
        found.forEach(events.send)
        let (early, late) = (EngineEvent.resolveFailed(.fixture("0")), EngineEvent.resolved(.fixture("0"), .fixture()))
        events.send(early)
        var reader = events.makeAsyncIterator()
        var seen: [EngineEvent] = []
        for _ in 0..<20 { if let event = await reader.next() { seen.append(event) } }
        // Few wait by now, an answer among them.
        events.send(late)
        for _ in 0..<22 { if let event = await reader.next() { seen.append(event) } }
        #expect(seen == found + [early, late])
        events.send(found[0])
        events.send(late)
        #expect(await [reader.next(), reader.next()] == [late, found[0]])
    }

    @Test("A reader that waits gets each of many thousand events once")
    func many() async {
        let events = EngineEvents()
        let count = 20_000
        let sender = Task {
            for index in 0..<count {
                events.send(.found(.fixture("\(index)")))
                if index % 100 == 0 { await Task.yield() }
            }
            events.finish()
        }
        var next = 0
        for await event in events {
            guard event == .found(.fixture("\(next)")) else {
                Issue.record("\(event) instead of \(next)")
                break
            }
            next += 1
        }
        #expect(next == count)
        await sender.value
    }

    @Test("A reader that is cancelled ends, whatever waits", arguments: [0, 3])
    func cancelled(waiting: Int) async {
        let events = EngineEvents()
        for index in 0..<waiting { events.send(.found(.fixture("\(index)"))) }
        let reader = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            var count = 0
            for await _ in events { count += 1 }
            return count
        }
        #expect(await reader.value == 0)
    }

    @Test("What a host has answered itself stays ahead of the engine's giving up")
    func answered() async {
        let events = EngineEvents()
        events.send(.answered(.fixture("A"), .fixture()))
        events.send(.resolveFailed(.fixture("A")))
        events.finish()
        var seen: [EngineEvent] = []
        for await event in events { seen.append(event) }
        #expect(seen == [.answered(.fixture("A"), .fixture()), .resolveFailed(.fixture("A"))])
    }
}
