package import CompanionWire
package import FoundationEssentials

/// One turn at an AICLI server as a state machine: takes events and returns actions. Has no clock, socket or file.
///
/// After a break, the connection is opened again and the session is subscribed to again. A prompt is sent only once: if
/// its connection breaks, the answer is lost (aicli, "WebSocket"), but later messages of the session still arrive.
package struct AICLITurn: Sendable {
    /// The time limits and retries of a turn.
    package struct Configuration: Sendable {
        /// How long to wait for a connection. Default: 10 s.
        package var welcome = Duration.seconds(10)
        /// How long to wait for the first frame of an open WebSocket. Some builds send none; after this time the turn
        /// begins anyway. Default: 3 s.
        package var greeting = Duration.seconds(3)
        /// How long to wait for the reply to a request. Default: 30 s.
        package var reply = Duration.seconds(30)
        /// How long to wait for the server's stored messages after a subscription. Default: 3 s.
        package var drain = Duration.seconds(3)
        /// How long to wait for the next stored message after a break, before what has arrived is put in order. Default:
        /// 1 s.
        package var settling = Duration.seconds(1)
        /// How long a connection may be silent. Servers ping every 15 s, even while the agent works. Default: 45 s.
        package var deadAfter = Duration.seconds(45)
        /// How long the agent may be silent. Default: 30 min.
        package var silence = Duration.seconds(30 * 60)
        /// How long the agent may be silent after the connection broke, because the answer may never arrive then.
        /// Default: 150 s.
        package var recovery = Duration.seconds(150)
        /// How long the server may be silent after a question was answered, before it is treated as one that waits for
        /// the answer within the turn. Other servers reply to the prompt at once. Default: 5 s.
        package var question = Duration.seconds(5)
        /// How many connections in a row may fail. Default: 12, which takes about 18 minutes.
        package var tries = 12
        /// How many times the connection may break in total. Default: 50.
        package var mostBreaks = 50
        /// Returns a number in 0..<1, for the waits.
        package var random: @Sendable () -> Double = { Double.random(in: 0..<1) }

        package init() {}
    }

    /// A moment of the turn: the date, and the time since the turn began.
    package struct Moment: Sendable, Hashable {
        var date: Date
        /// The time since the turn began.
        package var elapsed: Duration

        package init(date: Date, elapsed: Duration) {
            self.date = date
            self.elapsed = elapsed
        }
    }

    /// An event for the turn to handle.
    package enum Input: Sendable {
        case begin
        /// The WebSocket is open; its first frame has not arrived.
        case opened(connection: Int)
        case frame(AICLIFrame, connection: Int)
        case closed(AICLIClosure, connection: Int)
        case verified(AICLISessionTable.Verdict, sessionID: String)
        /// The request about the session failed.
        case verificationFailed(CompanionClientError)
        case timer(Int)
        /// A nil answer denies.
        case permission(AICLIPermissionRequest, answer: String?)
    }

    /// An action for the driver to perform.
    package enum Action: Sendable {
        /// Open the connection with this number after a wait.
        case connect(Int, after: Duration)
        case send(AICLIRequest)
        /// Ask the server whether the session with this id can be continued.
        case verify(String)
        /// Report the timer with this number after the duration. It replaces the timer before it.
        case timer(Int, Duration)
        case ask(AICLIPermissionRequest)
        case output(TurnEvent)
        case started(sessionID: String)
        case verdict(AICLISessionTable.Verdict, sessionID: String)
        /// Stored messages that were handled now.
        case saw([String], sessionID: String)
        /// To be added to the transcript.
        case said(CompanionMessage.Role, String, Date)
        /// One of the next actions sends the prompt. Store now what prevents it from being sent twice.
        case prompting
        case finish(FinishedTurn)
        case fail(CompanionClientError)
    }

    enum Phase: Sendable, Hashable {
        case idle, connecting, verifying, starting, draining, answering, ended
    }

    let prompt: String
    let workingDirectory: String
    let allowedTools: [String]?
    let configuration: Configuration

    var phase = Phase.idle
    var connection = 0
    var isOpen = false
    /// The server has greeted, or the greeting timed out.
    var isWelcome = false
    /// The session, and which of its stored messages were shown earlier.
    var sessionID: String?
    var seen: Set<ByteText>
    var recent = RecentIdentifiers(capacity: 4096)
    /// Frames that arrive while the stored messages are awaited, and stored ones that arrive before.
    var kept: [AICLIFrame] = []
    /// The prompt was sent on a connection.
    var isPrompted = false
    /// Something of its answer has arrived, so the host has received it.
    var isBegun = false
    /// The connection on which it was sent is gone.
    var isFollowing = false
    /// A connection broke while a reply was awaited.
    var wasRecovered = false
    var hasRenewed = false
    /// The server does not reply to prompts: the conversation's result ends the turn.
    var endsWithResult = false
    var answer = AICLIAnswer()
    /// The complete text of the agent before each answered question.
    var earlier: [String] = []
    var usage: TurnUsage?
    /// The open question, until its answer is sent.
    var question: AICLIOpenQuestion?
    /// An answer was sent as a prompt.
    var hasAnswered = false
    /// The last question whose answer was sent; copies of it may still arrive.
    var answered: AICLIAnsweredQuestion?
    /// When the current frame was sent, by the server's clock.
    var frameDate: Date?
    /// When the last frame that was not stored was sent, and the one before the prompt.
    var serverTime: Date?
    var promptedAt: Date?
    var breaks = 0
    var backoff: AICLIBackoff
    var timer = 0
    /// When the last frame arrived.
    var lastSign = Duration.zero
    private var number = 0
    /// The requests that await a reply, by their id.
    var pending: [String: Pending] = [:]

    enum Pending: Sendable, Hashable {
        case start, ping, prompt, permission, other
    }

    /// - Parameters:
    ///   - session: This machine's existing session for the directory.
    ///   - allowedTools: The tools that need no permission; nil allows all.
    package init(
        prompt: String,
        workingDirectory: String,
        session: AICLISession?,
        allowedTools: [String]?,
        configuration: Configuration = Configuration()
    ) {
        self.prompt = prompt
        self.workingDirectory = workingDirectory
        self.allowedTools = allowedTools
        self.configuration = configuration
        sessionID = session?.id
        seen = Set((session?.seen ?? []).map(ByteText.init))
        backoff = AICLIBackoff(tries: configuration.tries, random: configuration.random)
    }

    /// Handles an event. Ignores events of earlier connections and timers, and all events after the end of the turn.
    ///
    /// - Returns: The actions to perform, in this order.
    package mutating func handle(_ input: Input, at moment: Moment) -> [Action] {
        guard phase != .ended else { return [] }
        switch input {
        case .begin: return connect(after: .zero)
        case .opened(connection):
            guard phase == .connecting, !isWelcome else { return [] }
            isOpen = true
            return wake(after: configuration.greeting)
        case .opened: return []
        case .frame(let frame, connection):
            lastSign = moment.elapsed
            return take(frame, at: moment)
        case .closed(let closure, connection): return closed(closure)
        case .frame, .closed: return []
        case .verified(let verdict, let id): return verified(verdict, of: id)
        case .verificationFailed(let error): return unverified(error)
        case .timer(timer): return timedOut(at: moment)
        case .timer: return []
        case .permission(let request, let answer): return answered(request, with: answer, at: moment)
        }
    }

    // MARK: Used by the extensions in other files

    mutating func connect(after wait: Duration) -> [Action] {
        phase = .connecting
        isWelcome = false
        isOpen = false
        connection += 1
        pending = [:]
        kept.removeAll { !$0.isQueued }
        return [.connect(connection, after: wait)] + wake(after: wait + configuration.welcome)
    }

    /// Sets the only timer.
    mutating func wake(after wait: Duration) -> [Action] {
        timer += 1
        return [.timer(timer, wait)]
    }

    mutating func request(_ type: String, as kind: Pending, data: JSONValue = .object([:])) -> AICLIRequest {
        number += 1
        let id = "\(type)-\(connection)-\(number)"
        pending[id] = kind
        return AICLIRequest(type, id: id, data: data)
    }

    mutating func end(_ action: Action) -> [Action] {
        phase = .ended
        return [action]
    }
}
