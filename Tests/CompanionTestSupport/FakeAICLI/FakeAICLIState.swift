import CompanionWire
import FoundationEssentials
import NIOConcurrencyHelpers

/// The state of a fake server, behind a lock.
final class FakeAICLIState: Sendable {
    private struct Content {
        var script: FakeAICLIScript
        var requests: [FakeMac.Request] = []
        var frames: [FakeAICLI.Frame] = []
        var sockets: [Int: FakeAICLISocket] = [:]
        /// The sessions that each client has subscribed to.
        var joined: [Int: Set<String>] = [:]
        /// Streams that end when a client comes or leaves.
        var watchers: [AsyncStream<Never>.Continuation] = []
        /// Messages for sessions without a client.
        var kept: [String: [String]] = [:]
        /// Kept messages that each client gets behind its next pong.
        var owed: [Int: [String]] = [:]
        var number = 0
        var questions = 0
        /// The payloads of the pings that each client has not answered yet.
        var pings: [Int: Set<[UInt8]>] = [:]
        var pongs = 0
        var lastTime = Date.distantPast
        /// The questions whose answer is the next prompt, by session, and the prompts that came, by question.
        var waiting: [String: Int] = [:]
        var answers: [Int: Asker] = [:]
    }

    /// The client that a reply goes to.
    struct Asker: Sendable {
        var request: String
        var socket: FakeAICLISocket
    }

    let gates = Gates()
    private let content: NIOLockedValueBox<Content>
    private let jobs: AsyncStream<@Sendable () async -> Void>.Continuation

    init(script: FakeAICLIScript, jobs: AsyncStream<@Sendable () async -> Void>.Continuation) {
        content = NIOLockedValueBox(Content(script: script))
        self.jobs = jobs
    }

    var script: FakeAICLIScript { content.withLockedValue { $0.script } }
    var requests: [FakeMac.Request] { content.withLockedValue { $0.requests } }
    var frames: [FakeAICLI.Frame] { content.withLockedValue { $0.frames } }
    var pongs: Int { content.withLockedValue { $0.pongs } }
    var questionCount: Int { content.withLockedValue { $0.questions } }

    func change(_ body: @Sendable (inout FakeAICLIScript) -> Void) {
        content.withLockedValue { body(&$0.script) }
    }

    func record(_ request: FakeMac.Request) { content.withLockedValue { $0.requests.append(request) } }

    func record(_ frame: FakeAICLI.Frame) { content.withLockedValue { $0.frames.append(frame) } }

    func nextFault() -> FakeAICLIFault? {
        content.withLockedValue { $0.script.faults.isEmpty ? nil : $0.script.faults.removeFirst() }
    }

    func nextNumber() -> Int {
        content.withLockedValue {
            $0.number += 1
            return $0.number
        }
    }

    func allows(_ request: FakeMac.Request) -> Bool {
        guard let token = script.token else { return true }
        return request.header("Authorization") == "Bearer \(token)" || request.target.contains("token=\(token)")
    }

    // MARK: Clients

    func join(_ socket: FakeAICLISocket) {
        content.withLockedValue { $0.sockets[socket.id] = socket }
    }

    func join(_ id: Int, session: String) {
        changeClients { _ = $0.joined[id, default: []].insert(session) }
        gates.open("joined \(session) \(id)")
    }

    func leave(_ id: Int) {
        changeClients { content in
            // Sessions of the earliest builds end with their connection.
            if content.script.generation == .july {
                for session in content.joined[id] ?? [] { content.script.sessions[session] = nil }
            }
            content.sockets[id] = nil
            content.joined[id] = nil
        }
    }

    private func changeClients(_ change: (inout Content) -> Void) {
        let watchers = content.withLockedValue { content in
            change(&content)
            defer { content.watchers = [] }
            return content.watchers
        }
        for watcher in watchers { watcher.finish() }
    }

    /// Waits until a session has clients, or has none.
    func waitForClients(of session: String, present: Bool) async throws {
        while true {
            let (changed, watcher) = AsyncStream<Never>.makeStream()
            content.withLockedValue { $0.watchers.append(watcher) }
            // Looked at behind the registration, so that no change is missed.
            if clients(of: session).isEmpty != present { return watcher.finish() }
            for await _ in changed {}
            try Task.checkCancellation()
        }
    }

    /// Subscribes a client. What was kept comes later, as real servers send it from timers: behind the answer to the ping
    /// that follows (see ``takeKept(_:)``). The later builds give it at every subscription.
    func subscribe(_ id: Int, to sessions: [String]) {
        for session in sessions { join(id, session: session) }
        content.withLockedValue { content in
            content.owed[id, default: []] += sessions.flatMap { content.kept[$0] ?? [] }
            if content.script.generation == .wsEarly { for session in sessions { content.kept[session] = nil } }
        }
    }

    /// - Returns: The kept messages that a client has yet to get.
    func takeKept(_ id: Int) -> [String] { content.withLockedValue { $0.owed.removeValue(forKey: id) ?? [] } }

    func clients(of session: String) -> [FakeAICLISocket] {
        content.withLockedValue { content in
            content.sockets.values.filter { content.joined[$0.id]?.contains(session) == true }
        }
    }

    /// Breaks all connections.
    func resetAll() async {
        var sockets: [FakeAICLISocket] = []
        changeClients { content in
            sockets = Array(content.sockets.values)
            (content.sockets, content.joined) = ([:], [:])
        }
        for socket in sockets { await socket.connection.reset() }
    }

    // MARK: Sessions

    func startSession(_ data: JSONValue) throws(FakeAICLIRefusal) -> String {
        let result: Result<String, FakeAICLIRefusal> = content.withLockedValue { content in
            let isJuly = content.script.generation == .july
            if isJuly, data["prompt"]?.string == nil {
                return .failure(FakeAICLIRefusal(message: "Prompt must be a string"))
            }
            guard let asked = data["sessionId"]?.string, let directory = data["workingDirectory"]?.string,
                data[isJuly ? "prompt" : "initialPrompt"]?.string?.isEmpty == false
            else { return .failure(FakeAICLIRefusal(message: "Invalid parameters")) }
            let id = isJuly ? UUID().uuidString.lowercased() : asked
            guard content.script.projects.contains(where: { $0.path == directory }) else {
                return .failure(FakeAICLIRefusal(message: "Working directory is not accessible"))
            }
            // One session for a directory: it is the old one's id then.
            if !isJuly, content.script.hasOneSessionPerProject,
                let old = content.script.sessions.first(where: { $0.value == directory })
            {
                return .success(old.key)
            }
            guard content.script.sessions.count < content.script.mostSessions else {
                let message = "Maximum number of sessions (\(content.script.mostSessions)) reached"
                return .failure(FakeAICLIRefusal(message: message))
            }
            content.script.sessions[id] = directory
            return .success(id)
        }
        return try result.get()
    }

    // MARK: Frames

    /// The time as JSON: ISO text here, never twice the same.
    var timeText: String { JSONText.quoted(CompanionTimestamp.string(from: nextTime())) }

    private func nextTime() -> Date {
        content.withLockedValue { content in
            content.lastTime = max(content.script.now(), content.lastTime.addingTimeInterval(0.001))
            return content.lastTime
        }
    }

    func frame(_ type: String, _ data: String, requestID: String? = nil) -> String {
        #"{"type":\#(JSONText.quoted(type)),"requestId":\#(requestID.map { JSONText.quoted($0) } ?? "null"),"#
            + #""timestamp":\#(timeText),"data":{\#(data)}}"#
    }

    /// Sends a message to the clients of a session, or keeps it where there is none.
    func push(_ type: String, _ data: String, session: String, age: Duration = .zero) async {
        let data = #""sessionId":\#(JSONText.quoted(session)),"# + data
        let clients = clients(of: session)
        guard clients.isEmpty else {
            let frame = frame(type, data)
            for client in clients { await client.push(frame) }
            return
        }
        keep(type, data, sessionID: session, age: age)
    }

    func keep(_ type: String, _ data: String, sessionID: String, age: Duration) {
        let data = data.contains(#""sessionId""#) ? data : #""sessionId":\#(JSONText.quoted(sessionID)),"# + data
        let now = nextTime()
        let origin = Int64((now.timeIntervalSince1970 - Double(age.components.seconds)) * 1000 + 0.5)
        content.withLockedValue { content in
            let queued = JSONText.quoted(CompanionTimestamp.string(from: now))
            // Kept messages have their own time as a number, and another one as text.
            content.kept[sessionID, default: []].append(
                #"{"type":\#(JSONText.quoted(type)),"requestId":null,"timestamp":\#(queued),"_queued":true,"#
                    + #""_queuedAt":\#(queued),"_originalTimestamp":\#(origin),"data":{\#(data)}}"#
            )
        }
    }

    // MARK: Pulse

    /// - Returns: The payload of a new ping to a client.
    func beginPing(_ id: Int) -> [UInt8] {
        let payload = (0..<8).map { _ in UInt8.random(in: 0...255) }
        content.withLockedValue { _ = $0.pings[id, default: []].insert(payload) }
        return payload
    }

    /// - Returns: Whether the client was asked for just that.
    func takePong(_ id: Int, _ payload: [UInt8]) -> Bool {
        let isKnown = content.withLockedValue { content in
            guard content.pings[id]?.remove(payload) != nil else { return false }
            content.pongs += 1
            return true
        }
        if isKnown { gates.open(Self.pongGate(id, payload)) }
        return isKnown
    }

    /// Waits for the answer to a ping.
    ///
    /// - Returns: Whether it came within the limit.
    func waitForPong(_ id: Int, _ payload: [UInt8]) async -> Bool {
        let (gates, limit) = (gates, script.pongLimit)
        return await withTaskGroup(of: Bool.self) { group in
            defer { group.cancelAll() }
            group.addTask { (try? await gates.pass(Self.pongGate(id, payload))) != nil }
            group.addTask {
                try? await ContinuousClock().sleep(for: limit)
                return false
            }
            return await group.next() ?? false
        }
    }

    private static func pongGate(_ id: Int, _ payload: [UInt8]) -> String { "pong \(id) \(payload)" }

    // MARK: Turns

    func runTurn(_ frame: FakeAICLI.Frame, for socket: FakeAICLISocket) {
        jobs.yield { [self] in await performTurn(frame, for: socket) }
    }

    /// Has the next prompt of a session answer a question, instead of beginning a turn.
    func expectAnswer(to question: Int, in session: String) {
        content.withLockedValue { $0.waiting[session] = question }
    }

    /// Waits for the prompt that answers a question.
    func answer(to question: Int) async throws -> Asker? {
        try await gates.pass("prompted \(question)")
        return content.withLockedValue { $0.answers[question] }
    }

    /// - Returns: Whether the prompt answers a question.
    func takeAnswer(_ frame: FakeAICLI.Frame, from socket: FakeAICLISocket) -> Bool {
        let question: Int? = content.withLockedValue { content in
            guard let question = content.waiting.removeValue(forKey: frame.data["sessionId"]?.string ?? "") else {
                return nil
            }
            content.answers[question] = Asker(request: frame.requestID, socket: socket)
            return question
        }
        guard let question else { return false }
        gates.open("prompted \(question)")
        return true
    }

    func nextTurn(for prompt: String) -> FakeAICLITurn {
        content.withLockedValue { content in
            content.script.turns.isEmpty
                ? .answering(content.script.usualAnswer ?? "You said: \(prompt)") : content.script.turns.removeFirst()
        }
    }

    func nextQuestion() -> Int {
        content.withLockedValue {
            $0.questions += 1
            return $0.questions
        }
    }
}
