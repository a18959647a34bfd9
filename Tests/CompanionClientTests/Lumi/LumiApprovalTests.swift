import Testing

@testable import CompanionClient

@Suite struct LumiApprovalTests {
    private static let pong = LumiApproval.Event.answered(LumiAnswer(success: true, result: "pong"))

    private static func no(_ error: String) -> LumiApproval.Event {
        .answered(LumiAnswer(success: false, result: "", error: error))
    }

    private static let awaiting = no("Awaiting approval on Mac. Please accept this connection.")
    private static let pairing = no("Pairing required. Enter the code shown on your Mac.")

    /// What is done after these events, in order.
    private func actions(_ events: [LumiApproval.Event]) -> [LumiApproval.Action] {
        var approval = LumiApproval()
        return [approval.start()] + events.map { approval.handle($0) }
    }

    @Test func `a host that says pong at once is of the first generation`() {
        #expect(actions([Self.pong]) == [.ping(code: nil), .ready(.open)])
    }

    @Test func `a host that wants approval is asked once a second`() {
        let expected: [LumiApproval.Action] = [
            .ping(code: nil), .pause(asksLeft: 59), .ping(code: nil), .pause(asksLeft: 58), .ping(code: nil),
            .ready(.approval),
        ]
        #expect(actions([Self.awaiting, .paused, Self.awaiting, .paused, Self.pong]) == expected)
    }

    @Test func `after sixty questions it is over`() {
        var approval = LumiApproval()
        var action = approval.start()
        var (pings, seconds) = (0, 0)
        loop: for _ in 0..<1000 {
            switch action {
            case .ping:
                pings += 1
                action = approval.handle(Self.awaiting)
            case .pause:
                seconds += 1
                action = approval.handle(.paused)
            default: break loop
            }
        }
        #expect(action == .fail(.unanswered))
        #expect(pings == 60)
        #expect(seconds == 59)
    }

    @Test func `digits are asked for at most three times`() {
        let wrong = [Self.pairing, .code("000000")]
        let expected: [LumiApproval.Action] = [
            .ping(code: nil), .askForCode(isRepeated: false), .ping(code: "000000"), .askForCode(isRepeated: true),
            .ping(code: "000000"), .askForCode(isRepeated: true), .ping(code: "000000"), .fail(.wrongCode),
        ]
        #expect(actions(wrong + wrong + wrong + [Self.pairing]) == expected)
        #expect(actions([Self.pairing, .code("314159"), Self.pong]).last == .ready(.code))
        #expect(actions([Self.pairing, .code(nil)]).last == .fail(.noCode))
    }

    @Test func `an end means a no where somebody was asked, and says nothing before`() {
        #expect(actions([.closed]).last == .fail(.closed))
        #expect(actions([Self.awaiting, .paused, .closed]).last == .fail(.rejected))
        #expect(actions([Self.pairing, .code("314159"), .closed]).last == .fail(.rejected))
        #expect(actions([Self.no("Connection rejected by Mac.")]).last == .fail(.rejected))
    }

    @Test func `silence ends it at the first ping, and is borne while somebody makes up their mind`() {
        #expect(actions([.silence]).last == .fail(.silent))
        #expect(actions([Self.awaiting, .paused, .silence]).last == .pause(asksLeft: 58))
    }

    @Test func `an answer that no generation gives is no approval`() {
        let ok = LumiApproval.Event.answered(LumiAnswer(success: true, result: "ok"))
        #expect(actions([ok]).last == .fail(.unknownAnswer("ok")))
        #expect(actions([Self.no("Busy")]).last == .fail(.unknownAnswer("Busy")))
        #expect(actions([Self.awaiting, .paused, ok]).last == .fail(.unknownAnswer("ok")))
    }
}
