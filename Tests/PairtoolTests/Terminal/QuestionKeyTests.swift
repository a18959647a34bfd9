import CompanionClient
import CompanionTestSupport
import CompanionWire
import NIOConcurrencyHelpers
import Terminal
import Testing

@testable import pairtool

@Suite("Keys that answer a question") struct QuestionKeyTests {
    /// Keys that are typed one after the other, and the time that passes before each of them.
    private struct TypedKeys: InputSource {
        let clock: ImmediateClock
        let keys: NIOLockedValueBox<[(wait: Duration, key: UInt8)]>

        func readAll(limit: Int) -> [UInt8]? { nil }
        func readSome() -> [UInt8]? { nil }
        func readLine() -> String? { nil }

        func readKey(ready: () -> Void) -> UInt8? {
            ready()
            guard let next = keys.withLockedValue({ $0.isEmpty ? nil : $0.removeFirst() }) else { return nil }
            clock.advance(by: next.wait)
            return next.key
        }
    }

    /// The key that counts, and what was written.
    private func typed(_ keys: [(Duration, UInt8)]) async throws -> (key: UInt8?, text: String) {
        let clock = ImmediateClock()
        let sink = MemorySink()
        var context = TerminalContext.process
        context.stdin = TypedKeys(clock: clock, keys: NIOLockedValueBox(keys.map { (wait: $0.0, key: $0.1) }))
        context.stderr = sink
        context.clock = clock
        let key = try await context.key("[y] Yes: ")
        return (key, sink.text)
    }

    @Test("A key that comes sooner than the question can have been read is not the answer")
    func early() async throws {
        let (y, n) = (UInt8(ascii: "y"), UInt8(ascii: "n"))
        let early = try await typed([(.zero, y), (.milliseconds(299), y), (.milliseconds(1), n)])
        #expect(early.key == n && early.text == "[y] Yes: ", "the keys are shown once")
        #expect(try await typed([(.milliseconds(300), y)]).key == y)
        #expect(try await typed([(.zero, y)]).key == nil, "the input ended")
    }

    @Test("Beside the agent's name of each answer is what it does, and the name cannot push that away")
    func kinds() {
        let long = String(repeating: "No ", count: 60)
        let options = [
            ApprovalOption(id: "a", name: "No", kind: .allowOnce),
            ApprovalOption(id: "b", name: "Yes", kind: .rejectOnce),
            ApprovalOption(id: "c", name: long, kind: .allowAlways),
            ApprovalOption(id: "d", name: "x\ny", kind: .other),
        ]
        let keys = OptionKeys(options, mayAlways: true)
        let name = String(long.prefix(29)) + "…"
        #expect(
            keys.lines == "[y] No (allow once)  [n] Yes (reject once)  [a] \(name) (allow always)  [1] x y (unknown)  "
                + "[v] show again: "
        )
        #expect(keys.lastLine == keys.lines)
        #expect(options.offered.contains("(allow always), id c") && options.offered.contains("x y (unknown), id d"))
        let narrow = OptionKeys(options, mayAlways: true, columns: 80)
        #expect(narrow.lines.hasPrefix("[y] No (allow once)\n[n] Yes (reject once)\n[a] "))
        #expect(narrow.lines.hasSuffix("\n[v] show again: ") && narrow.lastLine == "[v] show again: ")
    }
}
