import CompanionWire
import NIOConcurrencyHelpers

extension ACPConnection {
    /// The listener of a session while a prompt runs. Its closures are called in the order of the agent's messages.
    struct Listener: Sendable {
        var update: @Sendable (ACPUpdate, _ raw: JSONValue) -> Void
        var question: @Sendable (ACPQuestion) -> Void
        var form: @Sendable (ACPForm) -> Void
        var withdrawn: @Sendable (Int) -> Void
    }

    /// A session of the agent, as it was begun or taken up.
    struct Session: Sendable, Hashable {
        var id: String
        var directory: String
    }

    /// How long the process may take, and how much it may say.
    struct Limits: Sendable {
        /// From its start to its answer to `initialize`: some are downloaded first.
        var start = Duration.seconds(60)
        /// To begin or resume a session; each sign of life restarts it.
        var session = Duration.seconds(120)
        /// To end a prompt that was cancelled.
        var cancel = Duration.seconds(10)
        /// Updates of a turn besides text and thoughts.
        var updates = 100_000
        /// Bytes of a turn's tool calls that have not ended: their arguments and changes are kept for questions.
        var openCalls = 64 << 20
        /// Bytes that may wait to be written to an agent that goes on to ask: it does not read. Several prompts with
        /// pictures may wait.
        var queue = 128 << 20
    }

    /// A call of ours whose answer is yet to come.
    struct Waiting {
        var continuation: CheckedContinuation<JSONValue, any Error>
        var call: ACPCall
        /// Which chat goes on in the session that the call begins or takes up.
        var chat: ByteText?
        /// Takes what was said in the session that the call loads.
        var replay: ACPReplay?
        /// Whether an agent that does not answer takes no more turns.
        var isVital = true
        /// When it was begun, or gave a sign of life.
        var since = ContinuousClock.now

        var session: ByteText? { call.session.map(ByteText.init) }
        var isPrompt: Bool { if case .prompt = call { true } else { false } }
    }

    /// Guarded by the connection's lock.
    struct State {
        var client = ACPClient()
        var calls: [Int: Waiting] = [:]
        var listeners: [ByteText: Listener] = [:]
        var modes: [ByteText: ACPModes] = [:]
        /// The agent's words about each session beside its prompts.
        var facts: [ByteText: ACPSessionFacts] = [:]
        var sessions: [ByteText: Session] = [:]
        /// The agent's answer to `initialize`; nil until it has come.
        var introduction: JSONValue?
        var readers: [Int: CheckedContinuation<ACPAgentInfo, any Error>] = [:]
        var nextReader = 0
        var end: (any Error)?
        /// Turns that need the process.
        var users = 0
        var isRetired = false
        /// Whether the agent has closed its output: then its process tells why the conversation ends.
        var hasEndedOutput = false
        /// Bytes that are to be written to the agent.
        var queued = 0

        /// The agent's abilities; nil until it has named them.
        var info: ACPAgentInfo? { introduction.map(ACPAgentInfo.init) }
    }
}

/// The agent has changed a session's mode since it was looked at.
struct ACPModeChanged: Error {}

extension ACPConnection {
    /// Sessions whose modes are kept without a chat, while the agent begins one: it may name the mode first.
    fileprivate static let maximumStrangers = 64

    func session(ofChat chat: String) -> Session? {
        state.withLockedValue { $0.sessions[ByteText(chat)] }
    }

    /// The ids of the sessions in which chats go on here.
    var sessionIDs: [ByteText] { state.withLockedValue { $0.sessions.values.map { ByteText($0.id) } } }

    /// Whether it takes no more turns.
    var takesNoMore: Bool { state.withLockedValue { $0.end != nil || $0.isRetired || $0.hasEndedOutput } }

    /// Whether no turn uses it.
    var isIdle: Bool { state.withLockedValue { $0.users == 0 } }

    /// The agent's abilities; nil until it has named them.
    var info: ACPAgentInfo? { state.withLockedValue { $0.info } }

    /// Whether prompts may have pictures; nil until the agent has said so.
    var takesImages: Bool? { state.withLockedValue { $0.info?.takesImages } }

    /// Whether another process can take up its sessions.
    var canMoveSessions: Bool { state.withLockedValue { $0.info?.resumes == true || $0.info?.loads == true } }

    /// Whether a question of another chat is open.
    func waitsForPeople(besides chat: String) -> Bool {
        state.withLockedValue { state in
            state.client.hasOpenQuestion(besides: state.sessions[ByteText(chat)].map { ByteText($0.id) })
        }
    }

    /// Returns when it has waited for people of another chat for a second, or the task is cancelled.
    func waitingForPeople(besides chat: String) async throws {
        while true {
            try await Task.sleep(for: .milliseconds(500))
            guard waitsForPeople(besides: chat) else { continue }
            try await Task.sleep(for: .milliseconds(500))
            if waitsForPeople(besides: chat) { return }
        }
    }

    /// The chat's next turn begins another session.
    func forget(chat: String) {
        state.withLockedValue { state in
            guard let session = state.sessions.removeValue(forKey: ByteText(chat)) else { return }
            state.modes[ByteText(session.id)] = nil
            state.facts[ByteText(session.id)] = nil
        }
    }

    func modes(ofSession session: String) -> ACPModes? {
        state.withLockedValue { $0.modes[ByteText(session)] }
    }
}

extension ACPConnection.State {
    mutating func remove(_ number: Int) -> ACPConnection.Waiting? {
        let call = calls.removeValue(forKey: number)
        if let call, call.isPrompt, let session = call.session { listeners[session] = nil }
        return call
    }

    /// Notes the changes that an answer makes to sessions and modes.
    mutating func note(_ answer: JSONValue, to waiting: ACPConnection.Waiting) {
        if case .setMode(let mode, let id, let setter) = waiting.call {
            if let modes = ACPModes(answer) {
                self.modes[ByteText(id)] = modes
            } else if setter == .mode {
                // This answer says nothing else. The other request is answered with what holds from now on.
                self.modes[ByteText(id)]?.current = mode
            }
        }
        noteSettings(answer, to: waiting.call)
        guard let chat = waiting.chat, let session = waiting.call.opened(by: answer) else { return }
        if let old = sessions.updateValue(session, forKey: chat), !old.id.isSame(as: session.id) {
            modes[ByteText(old.id)] = nil
            facts[ByteText(old.id)] = nil
        }
        facts[ByteText(session.id), default: ACPSessionFacts()].opened = answer
        if let modes = ACPModes(answer) { self.modes[ByteText(session.id)] = modes }
        guard !calls.values.contains(where: \.beginsSession) else { return }
        modes = modes.filter { isKnown($0.key) }
        facts = facts.filter { isKnown($0.key) }
    }

    /// Notes what an update says of a session beside its prompt.
    mutating func note(_ update: JSONValue, of session: ByteText) {
        // As with modes, some come before the answer that begins the session.
        guard isKnown(session) || calls.values.contains(where: \.beginsSession),
            facts[session] != nil || facts.count < sessions.count + ACPConnection.maximumStrangers
        else { return }
        var known = facts[session] ?? ACPSessionFacts()
        known.note(update)
        if known != ACPSessionFacts() { facts[session] = known }
    }

    /// Notes the settings of a session that a change of them has made.
    private mutating func noteSettings(_ answer: JSONValue, to call: ACPCall) {
        let mode: String?
        switch call {
        case .setMode(let id, _, .mode): mode = id
        case .configure(let method, let parameters, let session):
            mode = method.isSame(as: ACPMessage.setModeMethod) ? parameters["modeId"]?.string : nil
            if let new = ACPModes(answer) {
                modes[ByteText(session)] = new
            } else if let mode {
                modes[ByteText(session)]?.current = mode
            }
        case .setMode: mode = nil
        default: return
        }
        guard let session = call.session.map(ByteText.init) else { return }
        // An agent need not tell what it was told.
        if answer["configOptions"] != nil { facts[session]?.forget("config_option_update") }
        if mode != nil { facts[session]?.forget("current_mode_update") }
        guard var members = facts[session]?.opened.object else { return }
        if let options = answer["configOptions"] { members["configOptions"] = options }
        if let mode, var modes = members["modes"]?.object {
            modes["currentModeId"] = .string(mode)
            members["modes"] = .object(modes)
        }
        facts[session]?.opened = .object(members)
    }

    /// Notes the changes that an update makes to a session's modes.
    mutating func note(_ update: ACPUpdate, of session: ByteText) {
        switch update {
        case .mode, .modes: break
        default: return
        }
        guard isKnown(session) || calls.values.contains(where: \.beginsSession),
            modes[session] != nil || modes.count < sessions.count + ACPConnection.maximumStrangers
        else { return }
        switch update {
        case .mode(let id):
            let bounded = ACPModes(current: id).bounded
            modes[session, default: bounded].current = bounded.current
        case .modes(let modes): self.modes[session] = modes.bounded
        default: break
        }
    }

    /// Whether a session is a chat's, or becomes one.
    private func isKnown(_ session: ByteText) -> Bool {
        listeners[session] != nil || calls.values.contains { $0.session == session }
            || sessions.values.contains { ByteText($0.id) == session }
    }
}

extension ACPConnection.Waiting {
    /// Whether it begins a session, whose id is not known yet.
    fileprivate var beginsSession: Bool { if case .newSession = call { true } else { false } }
}

extension ACPCall {
    /// Bytes of a session's id.
    static let idSizes = 1...1024

    /// The session that is begun or taken up with this answer; nil for other calls, and without an id that can be used.
    func opened(by answer: JSONValue) -> ACPConnection.Session? {
        switch self {
        case .newSession(let directory):
            guard let id = answer["sessionId"]?.string, Self.idSizes.contains(id.utf8.count) else { return nil }
            return ACPConnection.Session(id: id, directory: directory)
        case .loadSession(let id, let directory), .resumeSession(let id, let directory):
            return ACPConnection.Session(id: id, directory: directory)
        default: return nil
        }
    }
}

extension ACPConnection {
    /// Bytes of what an agent says of itself, in each of the members.
    private static let mostOfMember = 64 << 10

    /// The agent's words about itself and about a session, as members of the Agent Client Protocol; `updates` are the
    /// last ones that hold.
    func facts(ofSession session: String) -> JSONValue {
        state.withLockedValue { state in
            let facts = state.facts[ByteText(session)]
            var members: [String: JSONValue] = [:]
            for name in ["agentInfo", "agentCapabilities", "authMethods"] {
                members[name] = state.introduction?[name].flatMap { $0.size <= Self.mostOfMember ? $0 : nil }
            }
            for name in ["modes", "models", "configOptions", "_meta"] { members[name] = facts?.opened[name] }
            members["updates"] = .array((facts?.updates ?? [:]).sorted { $0.key < $1.key }.map(\.value))
            return .object(members.filter { $0.value != .null })
        }
    }
}
