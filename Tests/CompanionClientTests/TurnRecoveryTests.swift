import CompanionWire
import Testing

@testable import CompanionClient

@Suite struct TurnRecoveryTests {
    private let broken = CompanionClientError(.streamInterrupted, message: "broke")
    private let unsure = CompanionClientError(.unreachable, message: "broke early", delivery: .unknown)

    private func message(_ role: CompanionMessage.Role, _ text: String) -> CompanionMessage {
        CompanionMessage(id: text, role: role, text: text, createdAt: nil)
    }

    private func isPoll(_ step: TurnRecovery.Step) -> Duration? {
        if case .poll(let wait) = step { wait } else { nil }
    }

    private func failure(_ step: TurnRecovery.Step) -> CompanionClientError? {
        if case .fail(let error) = step { error } else { nil }
    }

    private func hasFinished(_ step: TurnRecovery.Step) -> Bool? {
        if case .finish(let recovered) = step { recovered } else { nil }
    }

    @Test(arguments: [
        ("Hello world", "Hello", " world"), ("Hello", "Hello", ""), ("Hello", "", "Hello"),
        ("Hello", "  \nHel", "lo"), ("Hello", "Hello \n", ""), (" Hello", "Hel", "lo"), ("Hello", "Bye", nil),
        ("e\u{301}", "e", "\u{301}"), ("Hel", "Hello", nil),
    ])
    func `what is missing is what was not shown`(_ stored: String, _ shown: String, _ missing: String?) {
        let result = TurnRecovery.missing(from: stored, shown: shown)
        #expect(result.map { Array($0.utf8) } == missing.map { Array($0.utf8) })
    }

    @Test func `a stream that ends well finishes, text after done included`() {
        var turn = TurnRecovery(prompt: "p")
        #expect(turn.handle(.event(.text("a"))).outputs == [.text("a")])
        #expect(turn.handle(.event(.done(files: nil))).outputs.isEmpty)
        #expect(turn.handle(.event(.text("b"))).outputs == [.text("b")])
        #expect(hasFinished(turn.handle(.ended).next) == false)
        #expect(turn.answer == "ab")
    }

    @Test func `waits double up to the longest`() {
        var turn = TurnRecovery(prompt: "p", configuration: .init(firstWait: .seconds(1), longestWait: .seconds(5)))
        var waits = [isPoll(turn.handle(.failed(broken)).next)]
        for _ in 0..<4 { waits.append(isPoll(turn.handle(.history([], elapsed: .seconds(1))).next)) }
        #expect(waits == [.seconds(1), .seconds(2), .seconds(4), .seconds(5), .seconds(5)])
    }

    @Test func `the answer behind our own prompt completes what was shown`() {
        var turn = TurnRecovery(prompt: " question ")
        _ = turn.handle(.event(.text("Hel")))
        _ = turn.handle(.failed(broken))
        let foreign = [message(.user, "other"), message(.assistant, "Help")]
        #expect(isPoll(turn.handle(.history(foreign, elapsed: .zero)).next) != nil)
        let own = foreign + [message(.user, "question")]
        #expect(isPoll(turn.handle(.history(own, elapsed: .zero)).next) != nil)
        let result = turn.handle(.history(own + [message(.assistant, "Hello")], elapsed: .zero))
        #expect(result.outputs == [.text("lo")])
        #expect(hasFinished(result.next) == true)
        #expect(turn.answer == "Hello")
    }

    @Test func `the answer to a later prompt is not ours`() {
        var turn = TurnRecovery(prompt: "p")
        _ = turn.handle(.failed(broken))
        let messages = [message(.user, "p"), message(.user, "q"), message(.assistant, "to q")]
        #expect(isPoll(turn.handle(.history(messages, elapsed: .zero)).next) != nil)
    }

    @Test func `an answer that differs is shown whole after a notice`() {
        var turn = TurnRecovery(prompt: "p")
        _ = turn.handle(.event(.text("Draft")))
        _ = turn.handle(.failed(broken))
        let result = turn.handle(.history([message(.user, "p"), message(.assistant, "Final")], elapsed: .zero))
        #expect(result.outputs.last == .text("Final"))
        #expect(result.outputs.count == 2)
        #expect(turn.answer == "Final")
    }

    @Test func `a prompt that was not sent fails at once`() {
        var turn = TurnRecovery(prompt: "p")
        let error = CompanionClientError(.unreachable, message: "refused", delivery: .notSent)
        #expect(failure(turn.handle(.failed(error)).next)?.code == .unreachable)
    }

    @Test func `a prompt that the history does not have was not taken, if no answer began`() {
        var turn = TurnRecovery(prompt: "p", configuration: .init(readsUntilNotTaken: 2))
        _ = turn.handle(.failed(unsure))
        #expect(isPoll(turn.handle(.historyFailed(unsure, elapsed: .zero)).next) != nil)
        #expect(isPoll(turn.handle(.history([], elapsed: .zero)).next) != nil)
        let error = failure(turn.handle(.history([], elapsed: .zero)).next)
        #expect(error?.code == .unreachable)
        #expect(error?.delivery == .notSent)
    }

    @Test func `a prompt without an answer yet is waited for as long as the longest turn`() {
        var turn = TurnRecovery(
            prompt: "p",
            configuration: .init(limit: .seconds(10), longestTurn: .seconds(100), readsUntilNotTaken: 1)
        )
        _ = turn.handle(.failed(unsure))
        let own = [message(.user, "p")]
        for time in stride(from: 1, to: 100, by: 9) {
            #expect(isPoll(turn.handle(.history(own, elapsed: .seconds(time))).next) != nil)
        }
        #expect(isPoll(turn.handle(.history(own, elapsed: .milliseconds(99_900))).next) == .milliseconds(100))
        let error = failure(turn.handle(.history(own, elapsed: .seconds(100))).next)
        #expect(error?.code == .streamInterrupted)
        #expect(error?.delivery == .answered)
    }

    @Test func `by default an answer may take half an hour`() {
        var turn = TurnRecovery(prompt: "p")
        _ = turn.handle(.failed(broken))
        let own = [message(.user, "p")]
        #expect(isPoll(turn.handle(.history(own, elapsed: .seconds(1799))).next) == .milliseconds(500))
        #expect(failure(turn.handle(.history(own, elapsed: .seconds(1800))).next)?.code == .streamInterrupted)
    }

    @Test(arguments: [true, false])
    func `a host that goes silent, or whose history loses the prompt, is given the short limit`(_ isSilent: Bool) {
        var turn = TurnRecovery(prompt: "p", configuration: .init(limit: .seconds(10), longestTurn: .seconds(100)))
        _ = turn.handle(.failed(broken))
        _ = turn.handle(.history([message(.user, "p")], elapsed: .seconds(50)))
        func ask(_ elapsed: Duration) -> TurnRecovery.Step {
            turn.handle(isSilent ? .historyFailed(unsure, elapsed: elapsed) : .history([], elapsed: elapsed)).next
        }
        #expect(isPoll(ask(.seconds(58))) != nil)
        #expect(isPoll(ask(.milliseconds(59_900))) == .milliseconds(100))
        #expect(failure(ask(.seconds(60)))?.code == .streamInterrupted)
    }

    @Test(arguments: [true, false])
    func `a host that never shows the prompt is given the short limit from the break on`(_ isSilent: Bool) {
        var turn = TurnRecovery(prompt: "p")
        _ = turn.handle(.failed(broken))
        func ask(_ elapsed: Duration) -> TurnRecovery.Step {
            turn.handle(isSilent ? .historyFailed(unsure, elapsed: elapsed) : .history([], elapsed: elapsed)).next
        }
        #expect(isPoll(ask(.seconds(149))) != nil)
        #expect(failure(ask(.seconds(150)))?.code == .streamInterrupted)
    }

    @Test func `a host that signs in again is waited for, one that let go of us is not`() {
        var turn = TurnRecovery(prompt: "p")
        _ = turn.handle(.failed(broken))
        let signedOut = CompanionClientError(.hostSignedOut, message: "later")
        #expect(isPoll(turn.handle(.historyFailed(signedOut, elapsed: .zero)).next) != nil)
        let gone = CompanionClientError(.notPaired, message: "gone")
        #expect(failure(turn.handle(.historyFailed(gone, elapsed: .zero)).next)?.code == .notPaired)
    }

    @Test(arguments: [true, false])
    func `an error frame is the host's error, whatever follows`(_ endsWell: Bool) {
        var turn = TurnRecovery(prompt: "p")
        #expect(turn.handle(.event(.failed(TurnFailure("boom")))).outputs.isEmpty)
        let step = turn.handle(endsWell ? .ended : .failed(broken)).next
        #expect(failure(step)?.code == .hostError)
        #expect(failure(step)?.hostText == "boom")
    }

    @Test(arguments: [
        CompanionClientError.Code.notPaired, .hostSignedOut, .badRequest, .redirected, .tooLarge, .server,
    ])
    func `a refusal is final`(_ code: CompanionClientError.Code) {
        var turn = TurnRecovery(prompt: "p")
        #expect(failure(turn.handle(.failed(CompanionClientError(code, message: "no"))).next)?.code == code)
    }
}
