import CompanionClient
import CompanionWire
import Identity
import LocalState
import PairingAgent

/// The agent of a paired host as an editor's own: speaks the Agent Client Protocol with the editor as an agent, and the
/// companion protocol with the host.
///
/// It asks the editor for nothing but leave for tools and values of forms, and never passes on a method of the host's
/// choice: a host cannot reach the editor's files.
package actor EditorBridge {
    /// The choices of the user.
    package struct Choices: Sendable {
        /// The project, as the user names it; nil finds it by the editor's directory.
        package var project: String?
        /// The id of the agent for new sessions; nil lets the host choose.
        package var agent: String?
        /// pairtool's version, for the editor.
        package var version: String

        package init(project: String? = nil, agent: String? = nil, version: String) {
            (self.project, self.agent, self.version) = (project, agent, version)
        }
    }

    /// A session of the editor, which is a chat of the host.
    struct Session {
        var project: EditorProject
        /// The agent that its first prompt is for; nil lets the host choose.
        var model: String?
        /// Whether the host takes prompts as blocks.
        var sendsContent = false
        /// Whether it tells the agent's own words. A host that makes working trees opens no session before the first prompt,
        /// so that this is not known there.
        var hasWords = false
        /// Whether the editor has prompted in it.
        var isPrompted = false
        /// Whether the editor has changed its settings.
        var isChanged = false

        /// Takes over where the agent works, and how it is spoken with.
        mutating func take(_ agent: OpenedAgent) {
            (sendsContent, hasWords) = (true, agent.facts != nil)
            // A working tree of its own is the project in another place.
            if let directory = agent.directory, hasWords,
                EditorPaths.rest(of: directory, in: project.paths.remote) == nil
            {
                project.paths.remote = EditorPaths.normal(directory)
            }
        }
    }

    let host: HostSelector
    let environment: AppEnvironment
    let choices: Choices
    private let write: @Sendable ([UInt8]) -> Void
    /// The editor's abilities, as it named them.
    private(set) var editor: JSONValue = .null
    var sessions: [ByteText: Session] = [:]
    /// Prompts that run, by their numbers.
    var prompts: [Int: RunningPrompt] = [:]
    private var nextPrompt = 0
    private typealias Reply = CheckedContinuation<Result<JSONValue, ACPRefusal>?, Never>
    private var calls: [Int: Reply] = [:]
    private var nextCall = 0

    /// - Parameter write: Takes the lines for the editor, each with its end.
    package init(
        host: HostSelector,
        environment: AppEnvironment,
        choices: Choices,
        write: @escaping @Sendable ([UInt8]) -> Void
    ) {
        self.host = host
        // The editor's user has no terminal here.
        self.environment = environment.muted()
        self.choices = choices
        self.write = write
    }

    /// Takes the editor's lines until they end. Turns that run then go on at the host.
    package func run(_ lines: AsyncStream<[UInt8]>) async {
        await withDiscardingTaskGroup { group in
            for await line in lines {
                let messages = ACPMessage.all(in: line)
                if messages.isEmpty, let fault = Self.fault(of: line) { send(.answer(.null, .failure(fault))) }
                for message in messages {
                    if let work = take(message) { group.addTask { await work() } }
                }
            }
            group.cancelAll()
        }
    }

    /// - Returns: The refusal of a line that is no message; nil for an answer to nothing, which gets none.
    private static func fault(of line: [UInt8]) -> ACPRefusal? {
        guard let value = JSONValue(lenient: line) else {
            return ACPRefusal(code: ACPRefusal.noMessage, message: "Parse error")
        }
        guard value["result"] == nil, value["error"] == nil else { return nil }
        return ACPRefusal(code: ACPRefusal.noRequest, message: "Invalid request")
    }

    /// - Returns: The work that the message asks for.
    private func take(_ message: ACPMessage) -> (@Sendable () async -> Void)? {
        switch message {
        case .answer(let id, let result):
            id.number.flatMap { calls.removeValue(forKey: $0) }?.resume(returning: result)
            return nil
        case .notification("session/cancel", let parameters):
            let cancelled = cancelAll(in: parameters)
            return { [weak self] in for prompt in cancelled { await self?.cancel(prompt) } }
        case .notification: return nil
        case .request(let id, let method, let parameters):
            // In the order of the requests: a cancellation may come right behind a prompt.
            let prompt = method.isSame(as: "session/prompt") ? begin(parameters) : nil
            return { [weak self] in await self?.answer(id, method, parameters, prompt) }
        }
    }

    /// Marks all prompts of the editor in a session as cancelled.
    ///
    /// - Returns: Their numbers.
    private func cancelAll(in parameters: JSONValue) -> [Int] {
        guard let session = parameters["sessionId"]?.string else { return [] }
        let running = prompts.filter { $0.value.session.isSame(as: session) && !$0.value.blocks.isEmpty }.map(\.key)
        for number in running { prompts[number]?.isCancelled = true }
        return running
    }

    /// - Returns: The number of a prompt; nil for one that lacks something.
    private func begin(_ parameters: JSONValue) -> Int? {
        guard let prompt = RunningPrompt(of: parameters) else { return nil }
        sessions[ByteText(prompt.session)]?.isPrompted = true
        return keep(prompt)
    }

    func keep(_ prompt: RunningPrompt) -> Int {
        nextPrompt += 1
        prompts[nextPrompt] = prompt
        return nextPrompt
    }

    /// Forgets a prompt, and takes its questions back.
    func forget(_ number: Int) {
        let prompt = prompts.removeValue(forKey: number)
        prompt?.watching?.cancel()
        prompt?.questions.values.forEach { $0.cancel() }
    }

    private func answer(_ id: ACPID, _ method: String, _ parameters: JSONValue, _ prompt: Int?) async {
        let answer: Answer
        do {
            answer = try await self.answer(to: method, parameters, prompt)
        } catch  where Task.isCancelled {
            // The editor is gone.
            return
        } catch {
            return send(.answer(id, .failure(Self.refusal(for: error))))
        }
        send(.answer(id, .success(answer.result)))
        guard let session = answer.session else { return }
        // Editors miss what comes together with the answer that names the session, and agents tell more behind theirs.
        try? await environment.clock.sleep(for: .milliseconds(200))
        guard !Task.isCancelled else { return }
        for update in await current(answer.state, of: session) + answer.updates {
            tell(session, sessions[ByteText(session)]?.project.paths.forEditor(update) ?? update)
        }
        if let turn = answer.turn { await watch(turn, in: session) }
    }

    /// An answer to the editor, and what is told behind it.
    struct Answer {
        var result: JSONValue
        var session: String?
        /// The agent's words about the session until then.
        var state: [JSONValue] = []
        /// The updates that pairtool adds.
        var updates: [JSONValue] = []
        /// A turn that runs in the session, and is told behind it.
        var turn: String?
    }

    private func answer(to method: String, _ parameters: JSONValue, _ prompt: Int?) async throws -> Answer {
        switch method {
        case "initialize":
            editor = parameters
            return Answer(result: introduction)
        case "authenticate": return Answer(result: [:])
        case "session/new": return try await withHost { try await self.newSession(parameters, at: $0) }
        case "session/load", "session/resume":
            let tellsMessages = method.isSame(as: "session/load")
            return try await withHost { try await self.openSession(parameters, tellsMessages: tellsMessages, at: $0) }
        case "session/list": return Answer(result: try await withHost { try await self.list(parameters, at: $0) })
        case "session/close":
            _ = try session(parameters)
            for running in cancelAll(in: parameters) { await cancel(running) }
            let id = parameters["sessionId"]?.string ?? ""
            for (number, prompt) in prompts where prompt.blocks.isEmpty && prompt.session.isSame(as: id) {
                forget(number)
            }
            sessions[ByteText(id)] = nil
            return Answer(result: [:])
        case ACPMessage.setModeMethod, ACPMessage.setOptionMethod:
            return Answer(result: try await configure(method, parameters))
        case "session/prompt":
            guard let prompt else {
                throw ACPRefusal(code: ACPRefusal.invalidParameters, message: "sessionId or prompt is missing")
            }
            return Answer(result: try await answer(prompt))
        default: throw ACPRefusal(code: ACPRefusal.unknownMethod, message: "Method not found: \(method)")
        }
    }

    private var introduction: JSONValue {
        [
            "protocolVersion": 1,
            "agentInfo": ["name": "pairtool", "title": "pairtool", "version": .string(choices.version)],
            "agentCapabilities": [
                "loadSession": true,
                "promptCapabilities": ["image": true, "audio": false, "embeddedContext": true],
                "mcpCapabilities": ["http": false, "sse": false],
                "sessionCapabilities": ["list": [:], "resume": [:], "close": [:]],
            ],
            "authMethods": [
                [
                    "id": "pairtool-host", "name": "At the host",
                    "description":
                        "Pair with the host in a terminal (pairtool pair), and sign in with the agent at the host itself.",
                ]
            ],
        ]
    }

    // MARK: The editor

    /// Whether the editor can show a kind of elicitation.
    func editorShows(_ mode: String) -> Bool {
        editor["clientCapabilities"]?["elicitation"]?[mode]?.isObject == true
    }

    private func send(_ message: ACPMessage) { write(message.line) }

    /// Tells the editor an update of a session.
    func tell(_ session: String, _ update: JSONValue) {
        send(.notification(method: "session/update", parameters: ["sessionId": .string(session), "update": update]))
    }

    /// Tells the user of the editor something of pairtool's own, as a thought.
    func say(_ session: String, _ text: String) {
        tell(session, EditorFrames.chunk("agent_thought_chunk", TerminalText.line(text) + "\n"))
    }

    /// Asks the editor.
    ///
    /// - Parameter parameters: A JSON object as text without white space, to which the session is added: its order may
    ///   count.
    /// - Returns: nil when the task is cancelled; the editor is told that its answer is not needed.
    func ask(_ session: String, _ method: String, _ parameters: String) async -> Result<JSONValue, ACPRefusal>? {
        let number = nextCall
        nextCall += 1
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: Reply) in
                guard !Task.isCancelled else { return continuation.resume(returning: nil) }
                calls[number] = continuation
                let start = #"{"jsonrpc":"2.0","id":\#(number),"method":"\#(method)","params":{"sessionId":"#
                let comma = parameters.isSame(as: "{}") ? "" : ","
                let line = Array(start.utf8) + JSONValue.string(session).json + Array(comma.utf8)
                write(line + Array(parameters.utf8.dropFirst()) + Array("}\n".utf8))
            }
        } onCancel: {
            Task { await self.giveUp(number) }
        }
        if result == nil {
            send(.notification(method: "$/cancel_request", parameters: ["requestId": .integer(Int64(number))]))
        }
        return result
    }

    private func giveUp(_ number: Int) { calls.removeValue(forKey: number)?.resume(returning: nil) }

    // MARK: The host

    /// Runs a body with the host.
    func withHost<R: Sendable>(_ body: @escaping @Sendable (HostSession) async throws -> R) async throws -> R {
        try await host.withSession(environment, saysWaiting: false, body)
    }

    func session(_ parameters: JSONValue) throws -> (id: String, session: Session) {
        guard let id = parameters["sessionId"]?.string, let session = sessions[ByteText(id)] else {
            throw ACPRefusal(code: ACPRefusal.notFound, message: "Unknown session")
        }
        return (id, session)
    }

    /// An error for the editor.
    private static func refusal(for error: any Error) -> ACPRefusal {
        if let refusal = error as? ACPRefusal { return refusal }
        let needsSignIn = (error as? CompanionClientError)?.hostCode == .hostAgentSignIn
        let error = AppError(describing: error)
        var parts = [error.message] + error.details
        if let next = error.next { parts.append("To go on: \(next)") }
        let code: Int64
        switch error.kind {
        case .notPaired: code = ACPRefusal.signInRequired
        case _ where needsSignIn: code = ACPRefusal.signInRequired
        case .nothingFound: code = ACPRefusal.notFound
        case .usage: code = ACPRefusal.invalidParameters
        default: code = ACPRefusal.failed
        }
        return ACPRefusal(code: code, message: parts.map { TerminalText.line($0) }.joined(separator: ". "))
    }
}

/// A prompt of the editor that runs, or a turn that somebody else has begun.
struct RunningPrompt: Sendable {
    var session: String
    /// Empty for a turn that somebody else has begun.
    var blocks: [JSONValue] = []
    /// Whether the editor has cancelled it.
    var isCancelled = false
    /// The host's id of its turn.
    var turn: String?
    /// The task that tells of a turn which somebody else has begun.
    var watching: Task<Void, Never>?
    /// Questions of the agent that the editor is asked, by their ids at the host.
    var questions: [ByteText: Task<Void, Never>] = [:]
    /// Those that the editor has answered, and the host is told so.
    var answered: Set<ByteText> = []

    init(session: String, turn: String) { (self.session, self.turn) = (session, turn) }

    init?(of parameters: JSONValue) {
        guard let session = parameters["sessionId"]?.string, let blocks = parameters["prompt"]?.array, !blocks.isEmpty
        else { return nil }
        (self.session, self.blocks) = (session, blocks)
    }
}
