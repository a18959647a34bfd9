import CompanionWire

/// How a connection comes to be accepted by a Lumi host (lumi, Approval): each event gives the next act.
///
/// Nothing but `ping` is sent before the host has said `pong`, and there is no way back to a new connection: every one
/// of them is a question on the Mac's screen.
package struct LumiApproval: Sendable, Hashable {
    /// An event of the connection or of the user.
    package enum Event: Sendable, Hashable {
        /// The host answered the last ping.
        case answered(LumiAnswer)
        /// The host did not answer the last ping in time.
        case silence
        /// The host closed the connection.
        case closed
        /// The pause is over.
        case paused
        /// The six digits were typed. Nil: there will be none.
        case code(String?)
    }

    /// The next action of the client.
    package enum Action: Sendable, Hashable {
        /// Send a ping; with digits on hosts that want some.
        case ping(code: String?)
        /// Wait a second; that many questions are left, a second each.
        case pause(asksLeft: Int)
        /// Ask the user for the six digits that the Mac shows.
        case askForCode(isRepeated: Bool)
        /// The host takes commands now.
        case ready(LumiGeneration)
        case fail(Failure)
    }

    /// The reason why the connection is not accepted.
    package enum Failure: Sendable, Hashable {
        /// The Mac's user said no.
        case rejected
        /// The Mac's user said nothing for as long as was asked.
        case unanswered
        /// The host does not answer at all: an undecodable frame gets no answer either.
        case silent
        /// The host closed the connection before it answered anything.
        case closed
        /// There was no code to send, or none of those that were sent was right.
        case noCode
        case wrongCode
        /// An answer that no known generation gives. The host's text.
        case unknownAnswer(String)
    }

    /// How often is asked while the Mac's user makes up their mind, a second apart.
    package static let mostAsks = 60
    /// How many codes are tried.
    package static let mostCodes = 3
    /// Between two questions.
    package static let pause = Duration.seconds(1)

    private var pings = 0
    private var codes = 0
    /// The generation that the answers so far indicate.
    private var generation: LumiGeneration?

    init() {}

    /// Begins with a ping without digits.
    package mutating func start() -> Action { ping(code: nil) }

    /// Handles an event and returns the next action.
    package mutating func handle(_ event: Event) -> Action {
        switch event {
        case .answered(let answer): handle(answer)
        case .silence: generation == .approval ? pauseOrGiveUp() : .fail(.silent)
        case .closed: .fail(generation == nil ? .closed : .rejected)
        case .paused: ping(code: nil)
        case .code(nil): .fail(.noCode)
        case .code(let digits): ping(code: digits)
        }
    }

    private mutating func ping(code: String?) -> Action {
        pings += 1
        if code != nil { codes += 1 }
        return .ping(code: code)
    }

    private mutating func handle(_ answer: LumiAnswer) -> Action {
        if answer.success {
            return answer.result == "pong" ? .ready(generation ?? .open) : .fail(.unknownAnswer(answer.result))
        }
        let reason = answer.error ?? answer.result
        if reason.begins(with: "Awaiting approval") {
            generation = .approval
            return pauseOrGiveUp()
        }
        if reason.begins(with: "Pairing required") {
            generation = .code
            return codes < Self.mostCodes ? .askForCode(isRepeated: codes > 0) : .fail(.wrongCode)
        }
        return .fail(reason.lowercased().has("rejected") ? .rejected : .unknownAnswer(reason))
    }

    private func pauseOrGiveUp() -> Action {
        pings < Self.mostAsks ? .pause(asksLeft: Self.mostAsks - pings) : .fail(.unanswered)
    }
}
