import NIOConcurrencyHelpers
import Testing

@testable import CompanionHost

@Suite("Work for several who need it", .timeLimit(.minutes(15)))
struct SharedWorkTests {
    @Test("It is done once for all who wait, goes on without them, and begins anew once it is done")
    func once() async throws {
        let work = SharedWork<Int>()
        let count = NIOLockedValueBox(0)
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let body: @Sendable () async -> Int = {
            let number = count.withLockedValue { count in
                count += 1
                return count
            }
            if number == 1 { for await _ in gate {} }
            return number
        }
        // Whoever is in a hurry gets nothing, and keeps nobody from the rest.
        #expect(await work.value("a", within: { _ in .zero }, body) == nil)
        async let first = work.value("a", within: { _ in .seconds(600) }, body)
        async let second = work.value("a", within: { _ in .seconds(600) }, body)
        let hasLasted = NIOLockedValueBox(Duration.zero)
        let late = await work.value(
            "a",
            within: { lasted in
                hasLasted.withLockedValue { $0 = lasted }
                return .zero
            },
            body
        )
        #expect(late == nil && hasLasted.withLockedValue { $0 } > .zero)
        #expect(await work.value("b", within: { _ in .seconds(600) }, body) == 2, "another key is other work")
        open.finish()
        let results = await [first, second]
        #expect(results == [1, 1])
        #expect(await work.value("a", within: { _ in .seconds(600) }, body) == 3)
    }

    @Test("Who is cancelled waits no more")
    func cancelled() async {
        let work = SharedWork<Int>()
        let waiting = Task {
            await work.value("a", within: { _ in .seconds(600) }) {
                await waitUntilCancelled()
                return 1
            }
        }
        waiting.cancel()
        #expect(await waiting.value == nil)
        work.stop()
    }
}
