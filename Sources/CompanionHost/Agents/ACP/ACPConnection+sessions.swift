import CompanionWire
import NIOConcurrencyHelpers

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
