import CompanionWire
import Testing

@testable import Discovery

@Suite(.timeLimit(.minutes(15))) struct EngineEventsTests {
    @Test("A reader that waits gets each of many thousand events once, in order")
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
}
