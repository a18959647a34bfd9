package import CompanionWire
package import FoundationEssentials

/// One turn at an AICLI server as a state machine: takes what comes, says what to do. Has no clock, socket or file.
///
/// A connection that breaks is made again and the session subscribed to anew. A prompt is sent once, whatever happens:
/// the answer to one that went over a broken connection is lost (aicli, "WebSocket"), but what the session does after
/// it is not.
package struct AICLITurn: Sendable {
    package struct Configuration: Sendable {
        /// For a connection to stand. Default: 10 s.
        package var welcome = Duration.seconds(10)
        /// For the first frame of a WebSocket that stands; some builds send none, and are spoken to then. Default: 3 s.
        package var greeting = Duration.seconds(3)
        /// For the reply to a request. Default: 30 s.
        package var reply = Duration.seconds(30)
        /// For messages that the server has kept, after a subscription. Default: 3 s.
        package var drain = Duration.seconds(3)
        /// How long a connection may be silent: servers ping every 15 s, whatever the agent does. Default: 45 s.
        package var deadAfter = Duration.seconds(45)
        /// How long the agent may be silent. Default: 30 min.
        package var silence = Duration.seconds(30 * 60)
        /// How long it may be after the connection broke: the answer may never come then. Default: 150 s.
        package var recovery = Duration.seconds(150)
        /// How long a server that has asked something may be silent, once the answer is there, before it counts as one that
        /// waits for the answer within the turn. All others reply to the prompt at once. Default: 5 s.
        package var question = Duration.seconds(5)
        /// How often in a row a connection may fail. Default: 12, which is about 18 minutes.
        package var tries = 12
        /// How often a connection may break in all. Default: 50.
        package var mostBreaks = 50
        /// Gives 0..<1, for the waits.
        package var random: @Sendable () -> Double = { Double.random(in: 0..<1) }

        package init() {}
    }

    package struct Moment: Sendable, Hashable {
        package var date: Date
        /// Since the turn began.
        package var elapsed: Duration

        package init(date: Date, elapsed: Duration) {
            self.date = date
            self.elapsed = elapsed
        }
    }

    package enum Input: Sendable {
        case begin
        /// The WebSocket stands; its first frame is still to come.
        case opened(connection: Int)
        case frame(AICLIFrame, connection: Int)
        case closed(AICLIClosure, connection: Int)
        case verified(AICLISessionTable.Verdict, sessionID: String)
        /// The server could not be asked about the session.
        case verificationFailed(CompanionClientError)
        case timer(Int)
        /// Nil: denied.
        case permission(AICLIPermissionRequest, answer: String?)
    }

    package enum Action: Sendable {
        case connect(Int, after: Duration)
        case send(AICLIRequest)
        case verify(String)
        case timer(Int, Duration)
        case ask(AICLIPermissionRequest)
        case output(TurnOutput)
        case started(sessionID: String)
        case verdict(AICLISessionTable.Verdict, sessionID: String)
        /// Messages of the server's memory that were taken now.
        case saw([String], sessionID: String)
        /// To be kept in the transcript.
        case said(CompanionMessage.Role, String, Date)
        /// The prompt goes out with one of the next actions: what must not happen twice is to be written down now.
        case prompting
        case finish(ChatTurnSummary)
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
    /// The server has greeted, or was given the time to.
    var isWelcome = false
    /// The session, and what was shown of its kept messages before.
    var sessionID: String?
    var seen: Set<String>
    var recent = RecentIdentifiers(capacity: 4096)
    /// Messages that come while those are awaited that the server has kept.
    var kept: [AICLIFrame] = []
    /// The prompt went out over a connection.
    var isPrompted = false
    /// The connection that it went out over is gone.
    var isFollowing = false
    /// A connection broke while something was awaited.
    var wasRecovered = false
    var hasRenewed = false
    /// The server replies to no prompt: the result of the conversation ends the turn.
    var endsWithResult = false
    var answer = AICLIAnswer()
    /// What the agent said before each question that was answered, whole.
    var earlier: [String] = []
    var usage: ContinueChatUsage?
    /// The question that is open, until its answer is out.
    var question: AICLIOpenQuestion?
    /// An answer went out as a prompt.
    var hasAnswered = false
    /// The one whose answer is out: copies of it may still be on their way.
    var answered: AICLIAnsweredQuestion?
    /// When the frame that is looked at was sent, by the server's clock.
    var frameDate: Date?
    var breaks = 0
    var backoff: AICLIBackoff
    var timer = 0
    /// When something was last heard.
    var lastSign = Duration.zero
    private var number = 0
    /// What requests are waited for, by their id.
    var pending: [String: Pending] = [:]

    enum Pending: Sendable, Hashable {
        case start, ping, prompt, permission, other
    }

    /// - Parameters:
    ///   - session: The session that this machine has had for the directory.
    ///   - allowedTools: Tools that need no question. Nil: all.
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
        seen = Set(session?.seen ?? [])
        backoff = AICLIBackoff(tries: configuration.tries, random: configuration.random)
    }

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
        case .verified(let verdict, let id): return verified(verdict, id)
        case .verificationFailed(let error): return unverified(error)
        case .timer(timer): return timedOut(at: moment)
        case .timer: return []
        case .permission(let request, let answer): return answered(request, answer, at: moment)
        }
    }

    // MARK: Parts of other files

    mutating func connect(after wait: Duration) -> [Action] {
        phase = .connecting
        isWelcome = false
        isOpen = false
        connection += 1
        pending = [:]
        kept = []
        return [.connect(connection, after: wait)] + wake(after: wait + configuration.welcome)
    }

    /// Sets the one timer.
    mutating func wake(after wait: Duration) -> [Action] {
        timer += 1
        return [.timer(timer, wait)]
    }

    mutating func request(_ type: String, _ kind: Pending, _ data: AICLIValue = .object([:])) -> AICLIRequest {
        number += 1
        let id = "\(type)-\(connection)-\(number)"
        pending[id] = kind
        return AICLIRequest(type, id: id, data)
    }

    mutating func end(_ action: Action) -> [Action] {
        phase = .ended
        return [action]
    }
}
