import CompanionWire

/// The reason for which the host stops reading an agent's output.
enum ACPFault: Error, Sendable, Hashable {
    /// Too many lines that are no messages.
    case garbage
    /// A line beyond ``ACPClient/maximumLine``.
    case flood
    /// It writes requests, and does not read the answers.
    case unread
    /// It speaks another version of the protocol.
    case version(Int64)
}

/// A request of ours.
enum ACPCall: Sendable, Hashable {
    case initialize(version: String)
    case authenticate(method: String)
    case newSession(directory: String)
    case loadSession(String, directory: String)
    case resumeSession(String, directory: String)
    /// `cursor`: of the page; nil for the first.
    case listSessions(cursor: String?)
    case setMode(String, session: String, setter: ACPModes.Setter)
    /// Any other change of a session, with parameters that somebody else has chosen.
    case configure(method: String, parameters: JSONValue, session: String)
    /// `content`: the blocks of the prompt; nil for its text and images.
    case prompt(String, images: [TurnImage] = [], content: [JSONValue]? = nil, session: String)
}

/// The client's side of the Agent Client Protocol, version 1: no input, no output, no time.
///
/// Messages of the agent go in by ``take(_:)``, which returns their meaning as events. Bytes for the agent collect
/// until ``takeOutput()`` returns them. It offers neither files nor terminals to the agent.
struct ACPClient: Sendable {
    static let protocolVersion: Int64 = 1
    /// Bytes of a line: agents send whole files as diffs.
    static let maximumLine = 32 << 20
    /// Lines in a row that may be no messages: a program may print a greeting, or a warning.
    static let maximumGarbage = 200
    /// Questions of one session that may be open.
    static let maximumQuestions = 64

    enum Event: Sendable {
        case answer(Int, Result<JSONValue, ACPRefusal>)
        /// `raw`: the update in the agent's words.
        case update(session: String, ACPUpdate, raw: JSONValue)
        /// Something of a session that is being loaded came: a sign of life. `message`: the id of the message that it is
        /// a piece of.
        case replay(session: String, ACPUpdate, message: String?)
        case question(ACPQuestion)
        case form(ACPForm)
        /// The agent is done with a page that was opened.
        case linkDone(session: String)
        /// A question needs no answer any more.
        case withdrawn(Int)
        case fault(ACPFault)
    }

    private struct OpenQuestion {
        var id: ACPID
        var session: ByteText
        var asked: Asked
    }

    private enum Asked {
        case permission([ApprovalOption])
        /// `link`: the agent's id of the page that is to be opened.
        case form(link: String?)
    }

    private struct Prompt {
        var call: Int
        var isCancelled = false
    }

    private var output: [UInt8] = []
    private var calls: [Int: ACPCall] = [:]
    private var nextCall = 0
    private var questions: [Int: OpenQuestion] = [:]
    private var nextQuestion = 0
    private var prompts: [ByteText: Prompt] = [:]
    /// The sessions of pages that somebody has said to open, by the agent's ids of the pages.
    private var links: [ByteText: String] = [:]
    /// Lines in a row that were no messages.
    private var garbage = 0
    private(set) var hasFailed = false

    /// Returns the bytes that are to be written to the agent, and forgets them.
    mutating func takeOutput() -> [UInt8] {
        defer { output = [] }
        return output
    }

    /// Whether a question of another session is open.
    func hasOpenQuestion(besides session: ByteText?) -> Bool {
        questions.values.contains { $0.session != session }
    }

    // MARK: To the agent

    /// Asks the agent.
    ///
    /// - Returns: The number under which it is answered.
    mutating func call(_ call: ACPCall) -> Int {
        let number = nextCall
        nextCall += 1
        calls[number] = call
        if case .prompt(_, _, _, let session) = call { prompts[ByteText(session)] = Prompt(call: number) }
        let (method, parameters) = call.message
        write(.request(.integer(Int64(number)), method: method, parameters: parameters))
        return number
    }

    /// Ends the prompt of a session: its open questions are answered `cancelled`, as are those that still come. The
    /// prompt's answer is yet to come, and updates until then. Twice is no error.
    ///
    /// - Returns: The questions that need no answer any more.
    mutating func cancel(session: String) -> [Int] {
        let session = ByteText(session)
        guard prompts[session]?.isCancelled == false else { return [] }
        prompts[session]?.isCancelled = true
        write(.notification(method: "session/cancel", parameters: ["sessionId": .string(session.text)]))
        return withdraw(session)
    }

    /// Answers a question.
    ///
    /// - Returns: Whether it was open, and has such an option.
    mutating func decide(_ key: Int, with answer: ApprovalAnswer) -> Bool {
        guard let question = questions[key] else { return false }
        switch question.asked {
        case .permission(let options):
            let option: ApprovalOption?
            do {
                option = try answer.option(of: options, mayAlways: true)
            } catch {
                return false
            }
            send(option, to: question.id)
        case .form(let link):
            send(answer, to: question.id)
            let isOpened = answer == .option(ApprovalOption.accept.id) && links.count < Self.maximumQuestions
            if isOpened, let link { links[ByteText(link)] = question.session.text }
        }
        questions[key] = nil
        return true
    }

    private mutating func withdraw(_ session: ByteText) -> [Int] {
        let open = questions.filter { $0.value.session == session }.sorted { $0.key < $1.key }
        for (key, question) in open {
            questions[key] = nil
            switch question.asked {
            case .permission: send(nil, to: question.id)
            case .form: send(.cancelled, to: question.id)
            }
        }
        return open.map(\.key)
    }

    /// Answers a form. What is neither filled in nor declined is dismissed: the agent never gets values that nobody gave.
    private mutating func send(_ answer: ApprovalAnswer, to form: ACPID) {
        var result: JSONValue = ["action": "cancel"]
        switch answer {
        case .filled(let values): result = ["action": "accept", "content": .object(values)]
        case .option(ApprovalOption.accept.id): result = ["action": "accept"]
        case .option(ApprovalOption.decline.id), .reject: result = ["action": "decline"]
        default: break
        }
        write(.answer(form, .success(result)))
    }

    /// - Parameter option: nil ends the turn.
    private mutating func send(_ option: ApprovalOption?, to question: ACPID) {
        var outcome: JSONValue = ["outcome": "cancelled"]
        if let option { outcome = ["outcome": "selected", "optionId": .string(option.id)] }
        write(.answer(question, .success(["outcome": outcome])))
    }

    private mutating func write(_ message: ACPMessage) {
        output += message.line
    }

    // MARK: From the agent

    private mutating func fail(_ fault: ACPFault) -> Event {
        hasFailed = true
        return .fault(fault)
    }

    /// Takes a line of the agent; nil for one that is no message.
    mutating func take(_ message: ACPMessage?) -> [Event] {
        guard !hasFailed else { return [] }
        guard let message else {
            garbage += 1
            return garbage > Self.maximumGarbage ? [fail(.garbage)] : []
        }
        garbage = 0
        switch message {
        case .answer(let id, let result): return answered(id, with: result)
        case .notification("session/update", let parameters): return updated(parameters)
        case .notification("elicitation/complete", let parameters):
            let link = parameters["elicitationId"]?.string.map { ByteText($0) }
            return link.flatMap { links.removeValue(forKey: $0) }.map { [.linkDone(session: $0)] } ?? []
        case .notification: return []
        case .request(let id, ACPMessage.permissionMethod, let parameters): return asked(id, with: parameters)
        case .request(let id, ACPMessage.formMethod, let parameters): return askedForm(id, with: parameters)
        case .request(let id, _, _):
            let refusal = ACPRefusal(code: ACPRefusal.unknownMethod, message: "Method not found")
            write(.answer(id, .failure(refusal)))
            return []
        }
    }

    private mutating func answered(_ id: ACPID, with result: Result<JSONValue, ACPRefusal>) -> [Event] {
        // An answer to nothing, or a second one, is left alone.
        guard let number = id.number, let call = calls.removeValue(forKey: number) else { return [] }
        var events: [Event] = []
        switch call {
        case .initialize:
            if case .success(let value) = result, let version = value["protocolVersion"]?.integer,
                version != Self.protocolVersion
            {
                events.append(fail(.version(version)))
            }
        case .prompt(_, _, _, let session):
            prompts[ByteText(session)] = nil
            links = links.filter { !$0.value.isSame(as: session) }
            events += withdraw(ByteText(session)).map(Event.withdrawn)
        default: break
        }
        return events + [.answer(number, result)]
    }

    private func updated(_ parameters: JSONValue) -> [Event] {
        guard let session = parameters["sessionId"]?.string, let update = parameters["update"] else { return [] }
        let isLoading = calls.values.contains { call in
            if case .loadSession(let loaded, _) = call { loaded.isSame(as: session) } else { false }
        }
        let meaning = ACPUpdate(update)
        guard isLoading else { return [.update(session: session, meaning, raw: update)] }
        let replay = Event.replay(session: session, meaning, message: update["messageId"]?.string)
        // The state of the session counts, also while it repeats what was said before.
        let isState = update["sessionUpdate"]?.string.map(ACPMessage.stateUpdates.contains) == true
        return isState ? [replay, .update(session: session, meaning, raw: update)] : [replay]
    }

    private mutating func asked(_ id: ACPID, with parameters: JSONValue) -> [Event] {
        guard let question = ACPQuestion(key: nextQuestion, value: parameters) else {
            let refusal = ACPRefusal(
                code: ACPRefusal.invalidParameters,
                message: "sessionId or toolCall is missing, or there are too many options, "
                    + "or an option's id is empty, too long or used twice"
            )
            write(.answer(id, .failure(refusal)))
            return []
        }
        let session = ByteText(question.session)
        guard mayAsk(in: session), !question.options.isEmpty else {
            send(nil, to: id)
            return []
        }
        nextQuestion += 1
        questions[question.key] = OpenQuestion(id: id, session: session, asked: .permission(question.options))
        return [.question(question)]
    }

    /// Whether there is somebody to answer: not outside of a prompt, and not after its cancellation.
    private func mayAsk(in session: ByteText) -> Bool {
        prompts[session]?.isCancelled == false
            && questions.values.count { $0.session == session } < Self.maximumQuestions
    }

    private mutating func askedForm(_ id: ACPID, with parameters: JSONValue) -> [Event] {
        // A form may belong to a request instead: the prompt is the only one that people follow.
        let prompt = ACPID(parameters["requestId"])?.number.flatMap { number in
            prompts.first { $0.value.call == number }?.key.text
        }
        guard let session = parameters["sessionId"]?.string ?? prompt, mayAsk(in: ByteText(session)) else {
            send(.cancelled, to: id)
            return []
        }
        do throws(ACPRefusal) {
            let form = try ACPForm(key: nextQuestion, value: parameters, session: session)
            nextQuestion += 1
            questions[form.key] = OpenQuestion(id: id, session: ByteText(session), asked: .form(link: form.linkID))
            return [.form(form)]
        } catch {
            write(.answer(id, .failure(error)))
            return []
        }
    }
}

extension ACPCall {
    /// The session that it is about.
    var session: String? {
        switch self {
        case .initialize, .authenticate, .newSession, .listSessions: nil
        case .loadSession(let session, _), .resumeSession(let session, _), .setMode(_, let session, _),
            .prompt(_, _, _, let session), .configure(_, _, let session):
            session
        }
    }

    fileprivate var message: (method: String, parameters: JSONValue) {
        switch self {
        case .initialize(let version):
            return (
                "initialize",
                [
                    "protocolVersion": .integer(ACPClient.protocolVersion),
                    "clientCapabilities": ["elicitation": ["form": [:], "url": [:]]],
                    "clientInfo": ["name": "pairtool", "title": "pairtool", "version": .string(version)],
                ]
            )
        case .authenticate(let method): return ("authenticate", ["methodId": .string(method)])
        case .newSession(let directory):
            return ("session/new", ["cwd": .string(directory), "mcpServers": []])
        case .loadSession(let session, let directory):
            return ("session/load", ["sessionId": .string(session), "cwd": .string(directory), "mcpServers": []])
        case .resumeSession(let session, let directory):
            return ("session/resume", ["sessionId": .string(session), "cwd": .string(directory), "mcpServers": []])
        case .listSessions(let cursor):
            return ("session/list", .object(cursor.map { ["cursor": .string($0)] } ?? [:]))
        case .setMode(let mode, let session, .mode):
            return (ACPMessage.setModeMethod, ["sessionId": .string(session), "modeId": .string(mode)])
        case .setMode(let mode, let session, .option(let option)):
            return (
                ACPMessage.setOptionMethod,
                ["sessionId": .string(session), "configId": .string(option), "value": .string(mode)]
            )
        case .configure(let method, let parameters, let session):
            var members = parameters.object ?? [:]
            members["sessionId"] = .string(session)
            return (method, .object(members))
        case .prompt(_, _, let content?, let session):
            return ("session/prompt", ["sessionId": .string(session), "prompt": .array(content)])
        case .prompt(let text, let images, nil, let session):
            let pictures = images.map { image -> JSONValue in
                ["type": "image", "mimeType": .string(image.mediaType), "data": .string(Base64.encode(image.bytes))]
            }
            let blocks: [JSONValue] = [["type": "text", "text": .string(text)]] + pictures
            return ("session/prompt", ["sessionId": .string(session), "prompt": .array(blocks)])
        }
    }
}
