import CompanionClient
import CompanionWire
import FoundationEssentials
import Testing

/// A turn by itself, without clock, socket or file, and what it did so far.
struct AICLIBench {
    static let start = Date(timeIntervalSince1970: 1_795_253_400)

    var turn: AICLITurn
    var connection = 0
    var sent: [AICLIRequest] = []
    var shown: [TurnEvent] = []
    var waits: [Duration] = []
    var said: [String] = []
    var asked: [AICLIPermissionRequest] = []
    var prompts = 0
    var summary: FinishedTurn?
    var error: CompanionClientError?
    var timers: [(Int, Duration)] = []
    var verified: [String] = []
    var saw: [String] = []

    init(session: AICLISession? = nil, tools: [String]? = [], tries: Int = 12) {
        var configuration = AICLITurn.Configuration()
        configuration.random = { 0 }
        configuration.tries = tries
        turn = AICLITurn(
            prompt: "why?",
            workingDirectory: "/web",
            session: session,
            allowedTools: tools,
            configuration: configuration
        )
        feed(.begin)
    }

    mutating func feed(_ input: AICLITurn.Input, at seconds: Int = 0) {
        let moment = AICLITurn.Moment(date: Self.start + Double(seconds), elapsed: .seconds(seconds))
        for action in turn.handle(input, at: moment) {
            switch action {
            case .connect(let number, let wait):
                connection = number
                waits.append(wait)
            case .send(let request):
                sent.append(request)
                if request.type == "claudeCommand" { prompts += 1 }
            case .verify(let id): verified.append(id)
            case .timer(let number, let wait): timers.append((number, wait))
            case .ask(let request): asked.append(request)
            case .output(let output): shown.append(output)
            case .said(let role, let text, _): said.append("\(role.rawValue): \(text)")
            case .finish(let summary): self.summary = summary
            case .fail(let error): self.error = error
            case .saw(let identities, _): saw += identities
            case .started, .verdict, .prompting: break
            }
        }
    }

    mutating func frame(_ text: String, at seconds: Int = 0) {
        guard let frame = AICLIFrame(json: Array(text.utf8)) else {
            Issue.record("no frame: \(text)")
            return
        }
        feed(.frame(frame, connection: connection), at: seconds)
    }

    mutating func welcome() { frame(#"{"type":"welcome","data":{"clientId":"c","maxSessions":10}}"#) }

    /// - Parameter time: What the server's clock says; nil: nothing.
    mutating func reply(
        to type: String,
        as other: String? = nil,
        _ data: String,
        at seconds: Int = 0,
        time: Int? = nil
    ) {
        let id = sent.last { $0.type == type }?.requestID ?? ""
        let stamp = time.map { #""timestamp":\#($0),"# } ?? ""
        frame(#"{"type":"\#(other ?? type)","requestId":"\#(id)",\#(stamp)"data":\#(data)}"#, at: seconds)
    }

    /// To where the prompt is out.
    mutating func run() {
        welcome()
        reply(to: "streamStart", #"{"sessionId":"s1"}"#)
        reply(to: "ping", as: "pong", "{}")
    }

    /// The last timer goes off.
    mutating func expire(at seconds: Int = 0) { feed(.timer(timers.last?.0 ?? 0), at: seconds) }

    mutating func lose(_ code: Int? = nil) { feed(.closed(AICLIClosure(code: code), connection: connection)) }

    var text: String { shown.compactMap { if case .text(let text) = $0 { text } else { nil } }.joined() }

    var notices: [String] {
        shown.compactMap {
            switch $0 {
            case .status(let text), .recovering(let text): text
            default: nil
            }
        }
    }

    static let session: AICLISession = {
        AICLISession(id: "s0", workingDirectory: "/web", createdAt: start, lastActivityAt: start)
    }()

    static func kept(_ text: String, secondsAgo: Int, session: String = "s1") -> String {
        let chunk = #""chunk":{"id":"chunk-0","type":"text","content":"\#(text)"}"#
        return kept("streamChunk", data: chunk, secondsAgo: secondsAgo, session: session)
    }

    /// - Parameter data: Members besides the session's id.
    static func kept(
        _ type: String,
        data: String,
        secondsAgo: Int,
        session: String = "s1",
        requestID: String? = nil
    ) -> String {
        let origin = Int((start.timeIntervalSince1970 - Double(secondsAgo)) * 1000)
        let id = requestID.map { "\"\($0)\"" } ?? "null"
        return #"{"type":"\#(type)","requestId":\#(id),"timestamp":"2026-11-21T09:30:00.000Z","_queued":true,"#
            + #""_queuedAt":\#(origin),"_originalTimestamp":\#(origin),"data":{"sessionId":"\#(session)",\#(data)}}"#
    }
}
